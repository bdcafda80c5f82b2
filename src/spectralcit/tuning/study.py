"""The Optuna study in its file: opened, resumed after a kill, asked and told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError, ParameterError, StoreError
from .grids import Space
from .objective import Task

if TYPE_CHECKING:
    import optuna

__all__ = ["ask", "finished", "give_up_killed", "open_study", "tell", "written"]


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError("tuning needs Optuna: pip install 'spectralcit[tune]'") from error
    return optuna


def open_study(method: str, path: Path, space: Space, task: Task) -> optuna.Study:
    """Open the study of a test, or begin it; a file of other settings is refused."""
    optuna = _optuna()
    settings = json.loads(json.dumps({"space": {k: repr(v) for k, v in space.items()}, "task": asdict(task)}))
    try:
        study = optuna.create_study(
            storage=f"sqlite:///{path.absolute()}",
            study_name=method,
            direction="minimize",
            load_if_exists=True,
        )
    except Exception as error:  # whatever SQLAlchemy meets: no folder, no permission, not a study
        raise StoreError(f"{path}: cannot be opened as an Optuna study: {error}") from error
    known = study.user_attrs.get("settings")
    if known is None:
        with written(path):
            study.set_user_attr("settings", settings)
    elif known != settings:
        raise ParameterError(f"{path}: holds a study of {method!r} with other settings; use another file")
    return study


@contextmanager
def written(path: Path) -> Iterator[None]:
    """Turn what the storage of Optuna raises into a `StoreError`."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (_optuna().exceptions.StorageInternalError, SQLAlchemyError) as error:
        raise StoreError(
            f"{path}: cannot be written: {error}. Is the disk full? What was stored before is kept; the same "
            "command goes on from there"
        ) from error


def give_up_killed(study: optuna.Study) -> None:
    """Close the trials of a killed process. The next one gets their parameters again, see `ask`."""
    optuna = _optuna()
    for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)


def finished(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    """Return the trials with a score or a reason; those of a killed process have neither."""
    return [t for t in study.get_trials(deepcopy=False) if t.value is not None or "reason" in t.user_attrs]


def ask(study: optuna.Study, seed: int) -> optuna.Trial:
    """Ask for a trial with a sampler of its own seed.

    The parameters then depend on the finished trials and their number only: a study that was killed goes on
    exactly as one that was not.
    """
    study.sampler = _optuna().samplers.TPESampler(seed=seed)
    return study.ask()


def tell(study: optuna.Study, trial: optuna.Trial, score: float | None, reason: str) -> None:
    """Close a trial with its score, or with the reason why it has none."""
    if score is not None:
        study.tell(trial, score)
        return
    trial.set_user_attr("reason", reason)
    study.tell(trial, state=_optuna().trial.TrialState.FAIL)
