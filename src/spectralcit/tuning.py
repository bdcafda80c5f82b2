"""Tune the parameters of a test as the paper does: its grids, its objective, an equal budget for every test.

The objective is S_val = type I error - power, averaged over the dimensions of Z, on samples whose seeds are
apart from those of every reported experiment. Needs Optuna: ``pip install 'spectralcit[tune]'``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import MissingExtraError, ParameterError, StoreError, SuiteError, suggestion
from .files import write_atomically

if TYPE_CHECKING:
    import optuna

    from .benchmark.run import Step

__all__ = ["GRIDS", "TUNING_SEED", "Choice", "LogUniform", "Task", "Trial", "Tuned", "Uniform", "tune"]

TUNING_SEED = 9001  # no experiment of `benchmark.reproduce` has it


@dataclass(frozen=True)
class Choice:
    """One of a few values.

    Parameters
    ----------
    values
        The values.
    """

    values: tuple[Any, ...]

    def suggest(self, trial: optuna.Trial, name: str) -> Any:
        """Let Optuna choose.

        Parameters
        ----------
        trial, name
            For which trial, and what the parameter is called.
        """
        return trial.suggest_categorical(name, self.values)


@dataclass(frozen=True)
class Uniform:
    """A number in an interval.

    Parameters
    ----------
    low, high
        The interval.
    """

    low: float
    high: float

    def suggest(self, trial: optuna.Trial, name: str) -> float:
        """As in `Choice`.

        Parameters
        ----------
        trial, name
            As in `Choice`.
        """
        return trial.suggest_float(name, self.low, self.high)


@dataclass(frozen=True)
class LogUniform:
    """A positive number whose logarithm is in an interval.

    Parameters
    ----------
    low, high
        The interval of the number itself.
    """

    low: float
    high: float

    def suggest(self, trial: optuna.Trial, name: str) -> float:
        """As in `Choice`.

        Parameters
        ----------
        trial, name
            As in `Choice`.
        """
        return trial.suggest_float(name, self.low, self.high, log=True)


Space = Mapping[str, Choice | Uniform | LogUniform]

# The four tables of the paper's appendix, in the names of this package: RCIT's bootstrap is our permutation,
# GCIT's lamda is lambda_, DGCIT's b and j are n_functions and n_bootstrap.
GRIDS: dict[str, Space] = {
    "spectral-paper": {
        "output_dim": Choice((2, 4, 6, 8, 10)),
        "perc_dim_prune": Uniform(0.85, 1.0),
        **{f"n_hidden_{net}": Choice((1, 2, 3, 4)) for net in "uvw"},
        **{f"layer_size_{net}": Choice((128, 256, 512)) for net in "uvw"},
        **{f"lr_{level}": LogUniform(3e-5, 1e-2) for level in ("inner", "outer")},
        **{f"reg_str_{level}": LogUniform(1.0, 100.0) for level in ("inner", "outer")},
        "batch_size": Choice((128, 256, 512, 1024)),
    },
    "rcit": {
        "approx": Choice(("lpb", "permutation")),
        "num_f": Choice((50, 100, 150, 200)),
        "num_f2": Choice((5, 10, 15, 20)),
    },
    "gcit": {
        "lambda_": Choice((0.0, 5.0, 10.0, 15.0, 20.0)),
        "statistic": Choice(("mmd", "pcc", "dc", "ks", "rdc")),
    },
    "dgcit": {
        "batch_size": Choice((16, 32, 64)),
        "n_functions": Choice((30, 35, 40, 45, 50)),
        "n_bootstrap": Choice((500, 750, 1000, 1250)),
    },
}


@dataclass(frozen=True)
class Task:
    """On what a configuration is judged; the defaults are the paper's.

    Parameters
    ----------
    dataset
        Name of the data set.
    d_z
        Dimensions of Z.
    n
        Number of rows.
    replicates
        Of each dimension, under the null hypothesis and under the alternative each.
    alpha
        The level.
    seed
        Of the samples and of the search.
    """

    dataset: str = "post-nonlinear"
    d_z: tuple[int, ...] = (50, 100, 150, 200, 250, 300)
    n: int = 1000
    replicates: int = 20
    alpha: float = 0.05
    seed: int = TUNING_SEED


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
        """Write everything as JSON; ``spectralcit reproduce --published`` reads it.

        Parameters
        ----------
        path
            The file.
        """
        write_atomically(Path(path), json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n")


def tune(
    method: str,
    storage: str | Path,
    *,
    trials: int = 30,
    space: Space | None = None,
    task: Task | None = None,
    n_jobs: int = 1,
    on_trial: Callable[[Trial], None] | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Tuned:
    """Search the grid of a test for the configuration with the least S_val = type I error - power.

    Stopped at any moment, the same call goes on: finished trials are kept, the one that was stopped is tried
    again with the same parameters, and its finished replicates are not repeated. One process per study.

    Parameters
    ----------
    method
        Name of the test.
    storage
        SQLite file of the Optuna study; the replicates go to a file of the same name with ``.runs`` added.
    trials
        How many configurations, those that failed included.
    space
        Parameters and their values; ``GRIDS[method]`` when not given.
    task
        On what; the paper's when not given.
    n_jobs
        Workers for the replicates of a trial, -1 for one per core.
    on_trial
        Called after each trial.
    progress
        Called after each replicate.

    Returns
    -------
    Tuned
        The best configuration, and all trials.

    Raises
    ------
    MissingExtraError
        Without Optuna.
    ParameterError
        For an unknown test without a `space`, a storage that was made with other settings, or a seed that
        reported experiments use.

    References
    ----------
    Fröhlich et al. (2026), appendix, "Hyperparameter optimization".
    """
    task = task or Task()
    space = _space(method, space)
    _check(trials, task)
    path = Path(storage)
    study = _open_study(method, path, space, task)
    _give_up_killed(study)
    while (number := len(_finished(study))) < trials:
        trial = _ask(study, task.seed + number)
        params = {name: choice.suggest(trial, name) for name, choice in space.items()}
        try:
            score, reason = _score(method, params, task, path, n_jobs, progress)
        except (StoreError, SuiteError):  # a full disk or a misspelt parameter would fail every trial
            raise
        except Exception as error:
            score, reason = None, f"{type(error).__name__}: {error}"
        _tell(study, trial, score, reason)
        if on_trial is not None:
            on_trial(Trial(number + 1, params, score, reason))
    return _result(method, study, task, trials)


def _space(method: str, space: Space | None) -> Space:
    if space is not None:
        return space
    if method not in GRIDS:
        raise ParameterError(
            f"there is no grid for {method!r}.{suggestion(method, GRIDS)} Grids: {', '.join(GRIDS)}; "
            "or give one with space="
        )
    return GRIDS[method]


def _check(trials: int, task: Task) -> None:
    from .benchmark.reproduce import EXPERIMENTS

    if trials < 1:
        raise ParameterError(f"trials must be at least 1, got {trials!r}")
    for experiment in EXPERIMENTS.values():
        if task.seed == experiment.seed:
            raise ParameterError(
                f"seed {task.seed} is that of the reported experiment {experiment.name!r}; tune with another"
            )


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError("tuning needs Optuna: pip install 'spectralcit[tune]'") from error
    return optuna


def _open_study(method: str, path: Path, space: Space, task: Task) -> optuna.Study:
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
        study.set_user_attr("settings", settings)
    elif known != settings:
        raise ParameterError(f"{path}: holds a study of {method!r} with other settings; use another file")
    return study


def _give_up_killed(study: optuna.Study) -> None:
    """Close the trials of a killed process. The next one gets their parameters again, see `_ask`."""
    optuna = _optuna()
    for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)


def _finished(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    """Trials with a score or a reason; those of a killed process have neither."""
    return [t for t in study.get_trials(deepcopy=False) if t.value is not None or "reason" in t.user_attrs]


def _ask(study: optuna.Study, seed: int) -> optuna.Trial:
    """Ask for a trial with a sampler of its own seed.

    The parameters then depend on the finished trials and their number only: a study that was killed goes on
    exactly as one that was not.
    """
    study.sampler = _optuna().samplers.TPESampler(seed=seed)
    return study.ask()


def _tell(study: optuna.Study, trial: optuna.Trial, score: float | None, reason: str) -> None:
    if score is not None:
        study.tell(trial, score)
        return
    trial.set_user_attr("reason", reason)
    study.tell(trial, state=_optuna().trial.TrialState.FAIL)


def _score(
    method: str,
    params: dict[str, Any],
    task: Task,
    storage: Path,
    n_jobs: int,
    progress: Callable[[Step], None] | None,
) -> tuple[float | None, str]:
    """S_val of a configuration, or why it has none: it failed on some sample."""
    from .benchmark import Store, Suite, run_suite, summarise
    from .benchmark.metrics import of_suite

    suite = Suite.define(
        source=f"tuning of {method}",
        name=f"tune-{method}",
        seed=task.seed,
        tests={method: {"method": method, **params}},
        datasets=[{"name": task.dataset, "d_z": list(task.d_z)}],
        n=task.n,
        replicates=task.replicates,
    )
    with Store(storage.with_name(storage.name + ".runs")) as store:
        if run_suite(suite, store, n_jobs=n_jobs, progress=progress).interrupted:
            raise KeyboardInterrupt
        records = of_suite(store.records(), suite)
    errors = [record.error for record in records if record.error]
    if errors:
        return None, f"{len(errors)} of {len(records)} replicates failed, the first with {errors[0]}"
    # The same number of replicates everywhere, so the mean over d_z is the mean over the cells.
    rates = {False: 0.0, True: 0.0}
    for cell in summarise(records, alpha=task.alpha):
        rates[cell.dependent] += cell.rate / len(task.d_z)
    return rates[False] - rates[True], ""


def _result(method: str, study: optuna.Study, task: Task, number: int) -> Tuned:
    found = [
        Trial(place, dict(t.params), t.value, t.user_attrs.get("reason", ""))
        for place, t in enumerate(_finished(study)[:number], start=1)
    ]
    scored = [trial for trial in found if trial.score is not None]
    if not scored:
        raise ParameterError(f"all {len(found)} trials failed; the last with {found[-1].reason}")
    best = min(scored, key=lambda trial: trial.score if trial.score is not None else 2.0)
    assert best.score is not None
    return Tuned(method, best.params, best.score, found, task)
