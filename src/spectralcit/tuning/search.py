"""`tune`: ask the study for a configuration, judge it, tell the study, until the budget is spent."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..files import write_atomically
from ..making import Method, make_test
from ..registry import registered_name
from .grids import Space, space_of
from .objective import Task, check_task, score
from .study import ask, finished, give_up_killed, open_study, tell, written

if TYPE_CHECKING:
    import optuna

    from ..benchmark import Runner

__all__ = ["Trial", "Tuned", "tune"]


@dataclass(frozen=True)
class Trial:
    """One configuration that was tried.

    Parameters
    ----------
    number
        Place in the order of trials, from 1.
    params
        The configuration.
    score
        S_val, between -1 (best) and 1; ``None`` when the trial failed.
    reason
        Why it failed; else empty.
    """

    number: int
    params: dict[str, Any]
    score: float | None
    reason: str = ""


@dataclass(frozen=True)
class Tuned:
    """The result of tuning.

    Parameters
    ----------
    method
        The test.
    params, score
        The best configuration and its S_val.
    trials
        All that were tried, in order.
    task
        On what.
    """

    method: str
    params: dict[str, Any]
    score: float
    trials: list[Trial] = field(repr=False)
    task: Task

    def save(self, path: str | Path) -> None:
        """Write everything to a file as JSON; ``spectralcit reproduce --tuned`` reads it."""
        write_atomically(Path(path), json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n")


def tune(
    method: Method,
    storage: str | Path,
    *,
    trials: int = 30,
    space: Space | None = None,
    task: Task | None = None,
    on_trial: Callable[[Trial], None] | None = None,
    runner: Runner | None = None,
    **options: Any,
) -> Tuned:
    """Search the grid of a test for the configuration with the least S_val = type I error - power.

    Stopped at any moment, the same call goes on: finished trials are kept, the one that was stopped is tried
    again with the same parameters, and its finished replicates are not repeated. One process per study.

    Parameters
    ----------
    method
        Name of the test, its class or an instance, of which the name counts: the grid sets parameters.
    storage
        SQLite file of the Optuna study; the replicates go to a file of the same name with ``.runs`` added.
    trials
        How many configurations, those that failed included.
    space
        Parameters and their values; ``GRIDS[method]`` when not given.
    task
        On what; the paper's when not given.
    on_trial
        Called after each trial.
    runner, **options
        Where and how the replicates of a trial run (``n_jobs``, ``backend``, ``progress``, ...), as in
        `spectralcit.benchmark.run_suite`.

    Returns
    -------
    Tuned
        The best configuration, and all trials.

    Raises
    ------
    MissingExtraError
        Without Optuna.
    ParameterError
        For an unknown test without a `space`, a storage that was made with other settings, a seed that
        reported experiments use, or a data set without one of the hypotheses.
    SuiteError
        For an unknown data set, or a parameter that the test or the data set does not have.
    StoreError
        When a file cannot be written. What was done is kept; the same call goes on from there.

    References
    ----------
    Fröhlich et al. (2026), appendix, "Hyperparameter optimization".
    """
    from ..benchmark import Runner

    called = method if isinstance(method, str) else registered_name(type(make_test(method)))
    runner = replace(runner or Runner(), **options)
    task = task or Task()
    space = space_of(called, space)
    if trials < 1:
        raise ParameterError(f"trials must be at least 1, got {trials!r}")
    check_task(called, space, task)
    path = Path(storage)
    study = open_study(called, path, space, task)
    with written(path):
        give_up_killed(study)
    while (number := len(finished(study))) < trials:
        with written(path):
            trial = ask(study, task.seed + number)
            params = {name: choice.suggest(trial, name) for name, choice in space.items()}
        value, reason = score(called, params, task, path, runner)
        with written(path):
            tell(study, trial, value, reason)
        if on_trial is not None:
            on_trial(Trial(number + 1, params, value, reason))
    return _result(called, study, task, trials)


def _result(method: str, study: optuna.Study, task: Task, number: int) -> Tuned:
    found = [
        Trial(place, dict(t.params), t.value, t.user_attrs.get("reason", ""))
        for place, t in enumerate(finished(study)[:number], start=1)
    ]
    scored = [trial for trial in found if trial.score is not None]
    if not scored:
        raise ParameterError(f"all {len(found)} trials failed; the last with {found[-1].reason}")
    best = min(scored, key=lambda trial: trial.score if trial.score is not None else 2.0)
    assert best.score is not None
    return Tuned(method, best.params, best.score, found, task)
