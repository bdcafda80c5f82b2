"""What the generative tests share: draws when there is no z, comparison with the draws, the progress bar."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..inputs import CIData
from ..null import permutation_pvalue
from ..null.resampling import resample, resampled_outcome
from ..numeric.streams import generator
from ..result import Outcome

__all__ = [
    "check_choice",
    "compare_with_draws",
    "cross_fitting_folds",
    "resampled_rows",
    "shuffled_rows",
    "training_bar",
    "values_at",
]

Draw = Callable[[np.random.Generator], np.ndarray]


def values_at(data: CIData, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The `rows` of x, y and z."""
    return data.x.values[rows], data.y.values[rows], None if data.z is None else data.z.values[rows]


def shuffled_rows(x: np.ndarray) -> Draw:
    """Draws of X without Z for a randomisation test: the same rows in another order, which is exact."""
    return lambda rng: x[rng.permutation(len(x))]


def resampled_rows(train: np.ndarray, n: int) -> Draw:
    """Draws of X without Z from the empirical distribution of the training rows."""
    return lambda rng: train[rng.integers(len(train), size=n)]


def cross_fitting_folds(n: int, n_folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of training and test rows, every row once among the test rows."""
    if not 2 <= n_folds <= n // 10:
        raise ParameterError(f"n_folds must be at least 2 and leave ten rows per fold, got {n_folds!r}")
    folds = np.array_split(generator(seed, "folds").permutation(n), n_folds)
    return [(np.sort(np.concatenate(folds[:k] + folds[k + 1 :])), rows) for k, rows in enumerate(folds)]


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Raise unless `value` is one of the words in `allowed`."""
    if value not in allowed:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}")


def compare_with_draws(
    statistic: Callable[[np.ndarray], float],
    x: np.ndarray,
    draw: Draw,
    *,
    n_draws: int,
    seed: int,
    two_sided: bool = False,
    early_stop: float | None = 0.05,
    n_jobs: int | None = 1,
    progress: bool = False,
    label: str = "",
    diagnostics: dict[str, Any] | None = None,
) -> Outcome:
    """Conditional randomisation test: the statistic of `x` among the statistics of draws of x.

    Parameters
    ----------
    statistic
        Function of x, with y and z fixed.
    x
        The observed rows.
    draw
        One draw of x given z.
    n_draws, seed, early_stop, n_jobs, progress, label
        As in `resample`.
    two_sided
        Whether small values count as well: twice the smaller of the two p-values of all the draws.
    diagnostics
        Further entries for the result.

    Returns
    -------
    Outcome
        Made by `resampled_outcome`.
    """
    observed = statistic(x)
    found = resample(
        observed,
        lambda rng: statistic(draw(rng)),
        n_draws=n_draws,
        seed=seed,
        early_stop=None if two_sided else early_stop,
        n_jobs=n_jobs,
        progress=progress,
        label=label,
    )
    if two_sided:
        pvalue = min(1.0, 2.0 * min(found.pvalue, permutation_pvalue(-observed, -found.draws)))
        found = replace(found, pvalue=pvalue)
    return resampled_outcome(observed, found, len(x), "randomisation", diagnostics or {})


@contextlib.contextmanager
def training_bar(wanted: bool, label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callback for the training loop that moves a bar, when a person is watching."""
    if not wanted:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(label)
        yield lambda done, total: progress.update(bar, completed=done, total=total)
