"""P-values from draws under the null: one random stream per draw, early stopping, worker processes."""

from __future__ import annotations

import contextlib
import itertools
import math
import numbers
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..result import NullDistribution, Outcome
from . import sequential_permutation_pvalue

__all__ = ["Resampled", "draw_generator", "draws_to_stop", "repeat", "resample", "resampled_outcome"]

_STREAM = zlib.crc32(b"resampling")  # apart from `default_rng(seed)`, with which people simulate their data
_DRAWS_PER_TASK = 16  # enough to outweigh the cost of sending the data to a worker, few to be thrown away
_TASKS_PER_WORKER = 2  # so that a worker that is done early has something left to do

Draw = Callable[[np.random.Generator], float]


@dataclass(frozen=True, eq=False)
class Resampled:
    """What `resample` found.

    Parameters
    ----------
    pvalue
        The p-value, in (0, 1], valid at every level.
    n_used
        Number of draws that count.
    stopped
        Whether the draws ended early because the decision was settled.
    draws
        The draws that count, in order.
    """

    pvalue: float
    n_used: int
    stopped: bool
    draws: np.ndarray


def draw_generator(seed: int, index: int) -> np.random.Generator:
    """Generator of one draw; it depends on the seed and on the number of the draw, and on nothing else.

    Parameters
    ----------
    seed
        Seed of the test.
    index
        Number of the draw, from zero.

    Examples
    --------
    >>> bool(draw_generator(7, 3).random() == draw_generator(7, 3).random())
    True
    >>> bool(draw_generator(7, 3).random() == draw_generator(7, 4).random())
    False
    """
    return np.random.default_rng(np.random.SeedSequence([_STREAM, seed], spawn_key=(index,)))


def draws_to_stop(alpha: float, n_draws: int) -> int:
    """Smallest number h of large draws that settles the decision at level `alpha`.

    It is the smallest h with h / B > alpha, where B is `n_draws`. Suppose that the draw number L, at most B,
    is the h-th one at least as large as the observed statistic. Besag and Clifford's p-value h / L is then at
    least h / B, hence above alpha: no rejection. All B draws would have held S >= h large ones, and their
    p-value (1 + S) / (1 + B) is at least (1 + h) / (1 + B) >= h / B, hence above alpha too: no rejection
    either. When no draw is the h-th large one, the two p-values are the same number. The decision at `alpha`
    is therefore the one of all the draws.

    Parameters
    ----------
    alpha
        The level, strictly between 0 and 1.
    n_draws
        Largest number of draws.

    Examples
    --------
    >>> draws_to_stop(0.05, 999), draws_to_stop(0.05, 100)
    (50, 6)
    """
    h = max(math.floor(alpha * n_draws) - 1, 1)
    while h / n_draws <= alpha:  # the very comparison that the decision will make, rounding included
        h += 1
    return h


def resample(
    observed: float,
    draw: Draw,
    *,
    n_draws: int,
    seed: int,
    early_stop: float | None = 0.05,
    n_jobs: int | None = 1,
    progress: bool = False,
    label: str = "",
) -> Resampled:
    """P-value of `observed` among draws of the statistic under the null hypothesis.

    Draw number i uses ``draw_generator(seed, i)``, so the p-value does not depend on the number of workers.

    Parameters
    ----------
    observed
        The statistic; large values speak against the null.
    draw
        ``draw(rng)`` returns the statistic of one draw under the null. Workers get a copy of it, closures
        included; it must not keep anything from one call to the next.
    n_draws
        Most draws.
    seed
        Seed of the test.
    early_stop
        The level at which a decision is wanted. Drawing ends at the h-th draw at least as large as `observed`
        (`draws_to_stop` says which h and why the decision is the one of all the draws); the p-value is then
        h over the number of draws so far, and valid at every level. ``None`` makes all the draws.
    n_jobs
        Worker processes; ``None`` or 1 works in this process, -1 uses all processors. A worker uses one
        thread for linear algebra.
    progress
        Show a progress bar when the error output is a terminal.
    label
        Text in front of the bar.

    Returns
    -------
    Resampled
        P-value, number of draws, and the draws.

    Raises
    ------
    KeyboardInterrupt
        After the workers were ended.

    References
    ----------
    J. Besag and P. Clifford. Sequential Monte Carlo p-values. Biometrika, 1991.

    Examples
    --------
    >>> found = resample(0.5, lambda rng: rng.normal(), n_draws=999, seed=0)
    >>> found.stopped, found.n_used < 300, 0.2 < found.pvalue < 0.45
    (True, True, True)
    """
    _check(n_draws, early_stop)
    workers = _count_workers(n_jobs)
    stop_after = n_draws + 1 if early_stop is None else draws_to_stop(early_stop, n_draws)
    made: list[float] = []
    with _make_draws(draw, seed, workers) as make, _bar(progress, label, n_draws) as advance:

        def further(k: int) -> list[float]:
            values = make(len(made), k)
            made.extend(values)
            advance(k)
            return values

        pvalue, used = sequential_permutation_pvalue(
            observed,
            further,
            max_draws=n_draws,
            stop_after=stop_after,
            batch=1 if workers == 1 else workers * _TASKS_PER_WORKER * _DRAWS_PER_TASK,
        )
    draws = np.array(made[:used], dtype=np.float64)
    # Stopped at the last draw of all is stopped nowhere: nothing was saved.
    return Resampled(pvalue, used, used < n_draws, draws)


def repeat(
    draw: Callable[[np.random.Generator], Any],
    *,
    n_draws: int,
    seed: int,
    n_jobs: int | None = 1,
    progress: bool = False,
    label: str = "",
) -> list:
    """Return ``draw(rng)`` for `n_draws` random streams, whatever it is, without stopping early.

    Parameters
    ----------
    draw, n_draws, seed, n_jobs, progress, label
        As in `resample`.

    Examples
    --------
    >>> len(repeat(lambda rng: (rng.normal(), "any"), n_draws=3, seed=0))
    3
    """
    _check(n_draws, None)
    workers = _count_workers(n_jobs)
    made: list = []
    # Each draw is long here, so one per worker at a time; nothing is thrown away.
    with _make_draws(draw, seed, workers, 1) as make, _bar(progress, label, n_draws) as advance:
        while len(made) < n_draws:
            k = min(workers, n_draws - len(made))
            made.extend(make(len(made), k))
            advance(k)
    return made


def _check(n_draws: int, early_stop: float | None) -> None:
    if isinstance(n_draws, bool) or not isinstance(n_draws, numbers.Integral) or n_draws < 1:
        raise ParameterError(f"the number of draws must be an integer of at least 1, got {n_draws!r}")
    if early_stop is not None and not 0.0 < early_stop < 1.0:
        raise ParameterError(f"early_stop must be strictly between 0 and 1, or None; got {early_stop!r}")


def _count_workers(n_jobs: int | None) -> int:
    if n_jobs is None or n_jobs == 1:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ParameterError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}")
    from joblib import cpu_count

    return int(n_jobs) if n_jobs > 0 else max(cpu_count() + 1 + int(n_jobs), 1)


def _draw_range(draw: Callable, seed: int, start: int, stop: int) -> list:
    return [draw(draw_generator(seed, i)) for i in range(start, stop)]


@contextlib.contextmanager
def _make_draws(
    draw: Callable, seed: int, workers: int, per_task: int = _DRAWS_PER_TASK
) -> Iterator[Callable[[int, int], list]]:
    """Yield ``make(start, k)``: the draws start, ..., start + k - 1, here or in worker processes."""
    if workers == 1:
        yield lambda start, k: _draw_range(draw, seed, start, start + k)
        return
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky import get_reusable_executor

    task = delayed(_draw_range)
    try:
        # Without memory maps: those are read-only, and a draw would behave differently in a worker.
        with parallel_config("loky", inner_max_num_threads=1), Parallel(workers, max_nbytes=None) as pool:

            def make(start: int, k: int) -> list:
                stop = start + k
                edges = [*range(start, stop, per_task), stop]
                parts = pool(task(draw, seed, a, b) for a, b in itertools.pairwise(edges))
                return [value for part in parts for value in part]

            yield make
    except BaseException:
        # Ctrl-C, or an error of the statistic: nobody waits for what the workers still do.
        get_reusable_executor().shutdown(wait=True, kill_workers=True)
        raise


@contextlib.contextmanager
def _bar(wanted: bool, label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield ``advance(k)`` for a bar of `total` draws; it does nothing unless a person is watching."""
    if not wanted:
        yield lambda k: None
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(label or "draws", total=total)
        yield lambda k: progress.advance(bar, k)


def resampled_outcome(
    observed: float, found: Resampled, n: int, null: str, diagnostics: dict[str, Any]
) -> Outcome:
    """Outcome of a test whose null distribution is a set of draws.

    Parameters
    ----------
    observed
        The statistic.
    found
        What `resample` returned.
    n
        Number of rows, for the effect size.
    null
        Name of the null distribution.
    diagnostics
        What else to tell.
    """
    spread, excess = float(found.draws.std()), observed - float(found.draws.mean())
    same = spread <= 1e-12 * max(abs(observed), 1e-300)
    warnings = ("the statistic is the same for every draw: it cannot find anything",) if same else ()
    return Outcome(
        statistic=observed,
        pvalue=found.pvalue,
        null=NullDistribution(null, {"n_draws": found.n_used}),
        effect_size=0.0 if same else excess / spread / math.sqrt(n),
        diagnostics={**diagnostics, "n_draws": found.n_used, "stopped_early": found.stopped},
        warnings=warnings,
    )
