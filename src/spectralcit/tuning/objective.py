"""How a configuration is judged: S_val = type I error - power, averaged over the dimensions of Z."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError

if TYPE_CHECKING:
    from ..benchmark import Runner, Suite

__all__ = ["TUNING_SEED", "Task", "check_task", "score"]

TUNING_SEED = 9001  # no experiment of `benchmark.reproduce` has it


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


def check_task(method: str, names: Iterable[str], task: Task) -> None:
    """Refuse what could not be judged, and the seed of a reported experiment."""
    from ..benchmark.reproduce import EXPERIMENTS

    suite = _suite(method, dict.fromkeys(names), task)
    if len({cell.dependent for cell in suite.cells}) < 2:
        raise ParameterError(
            f"data set {task.dataset!r} lacks a null hypothesis or an alternative; the score needs both"
        )

    for experiment in EXPERIMENTS.values():
        if task.seed == experiment.seed:
            raise ParameterError(
                f"seed {task.seed} is that of the reported experiment {experiment.name!r}; tune with another"
            )


def _suite(method: str, params: dict[str, Any], task: Task) -> Suite:
    from ..benchmark import Suite

    return Suite.define(
        source=f"tuning of {method}",
        name=f"tune-{method}",
        seed=task.seed,
        tests={method: {"method": method, **params}},
        datasets=[{"name": task.dataset, "d_z": list(task.d_z)}],
        n=task.n,
        replicates=task.replicates,
    )


def score(
    method: str, params: dict[str, Any], task: Task, storage: Path, runner: Runner
) -> tuple[float | None, str]:
    """Return S_val of a configuration, or why it has none: it failed on some sample."""
    from ..benchmark import Store, run_suite, summarise
    from ..benchmark.metrics import of_suite

    suite = _suite(method, params, task)
    with Store(storage.with_name(storage.name + ".runs")) as store:
        if run_suite(suite, store, runner).interrupted:
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
