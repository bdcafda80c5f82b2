"""P-values from draws under the null: one random stream per draw, early stopping, worker processes."""

from __future__ import annotations

import contextlib
import itertools
import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..parameters import anything, integer, parameters_of, real
from ..progress import Report, progress_option, progress_reports
from ..result import NullDistribution, Outcome
from .permutation import sequential_permutation_pvalue

__all__ = [
    "MOST_DRAWS",
    "ParallelOptions",
    "Resampled",
    "ResamplingOptions",
    "draw_generator",
    "draws_option",
    "draws_to_stop",
    "jobs_option",
    "repeat",
    "resample",
    "resampled_outcome",
]

MOST_DRAWS = 1_000_000  # their p-value reaches 1e-6; who needs a smaller one needs a formula for the tail
_MOST_WORKERS = 512  # by hand: more processors than one machine has; a larger number is a slip
_STORED_DRAWS = 200  # of the null distribution in a result: enough for a picture, small in a file
_STREAM = zlib.crc32(b"resampling")  # apart from `default_rng(seed)`, with which people simulate their data
_DRAWS_PER_TASK = 16  # by hand: outweighs the cost of sending the data to a worker, few to be thrown away
_TASKS_PER_WORKER = 2  # by hand: a worker that is done early has something left to do

Draw = Callable[[np.random.Generator], float]


def draws_option(default: int, doc: str) -> Any:
    """Field for a number of draws, permutations or bootstrap samples."""
    return integer(default, doc, most=MOST_DRAWS)


def jobs_option() -> Any:
    """Field for a number of worker processes, as joblib counts."""
    workers = integer(1, "", least=-_MOST_WORKERS, most=_MOST_WORKERS, also=(None,)).metadata["allowed"]
    return anything(
        1,
        "Worker processes, each with one thread for linear algebra; None works in this process, -1 uses all "
        "processors, -2 all but one. The result does not depend on it.",
        words=f"an integer from -{_MOST_WORKERS} to {_MOST_WORKERS} other than 0, or None",
        accepts=lambda value: workers.accepts(value) and value != 0,
    )


# Without an own __init__: the tests that inherit these fields have one made for all of their fields.
@dataclass(kw_only=True, init=False, eq=False, repr=False)
class ParallelOptions:
    """Fields of a test whose long parts can go to worker processes."""

    n_jobs: int | None = jobs_option()
    progress: bool | Report = progress_option()  # noqa: RUF009 - makes a field, as `real` does


@dataclass(kw_only=True, init=False, eq=False, repr=False)
class ResamplingOptions(ParallelOptions):
    """Fields of a test that draws its statistic under the null; list it before `BaseCITest`."""

    early_stop: float | None = real(
        0.05,
        "The level at which a decision is wanted. Drawing ends once the decision at this level is settled; "
        "it is the one of all the draws, and the p-value is valid at every level. None makes all the draws.",
        above=0.0,
        below=1.0,
        also=(None,),
    )

    def _resample(self, observed: float, draw: Draw, *, n_draws: int, seed: int, label: str) -> Resampled:
        return resample(
            observed,
            draw,
            n_draws=n_draws,
            seed=seed,
            early_stop=self.early_stop,
            n_jobs=self.n_jobs,
            progress=self.progress,
            label=label,
        )


@dataclass(frozen=True, eq=False)
class Resampled:
    """A p-value in (0, 1], the draws that count in order, and whether they ended early."""

    pvalue: float
    n_used: int
    stopped: bool
    draws: np.ndarray


def draw_generator(seed: int, index: int) -> np.random.Generator:
    """Generator of one draw; it depends on the seed and on the number of the draw, and on nothing else."""
    return np.random.default_rng(np.random.SeedSequence([_STREAM, seed], spawn_key=(index,)))


def draws_to_stop(alpha: float, n_draws: int) -> int:
    """Smallest number h of large draws that settles the decision at level `alpha`.

    It is the smallest h with h / B > alpha, where B is `n_draws`. Suppose that the draw number L, at most B,
    is the h-th one at least as large as the observed statistic. Besag and Clifford's p-value h / L is then at
    least h / B, hence above alpha: no rejection. All B draws would have held S >= h large ones, and their
    p-value (1 + S) / (1 + B) is at least (1 + h) / (1 + B) >= h / B, hence above alpha too: no rejection
    either. When no draw is the h-th large one, the two p-values are the same number. The decision at `alpha`
    is therefore the one of all the draws.
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
    progress: bool | Report = False,
    label: str = "draws",
) -> Resampled:
    """P-value of `observed` among at most `n_draws` draws of the statistic under the null hypothesis.

    Draw number i is ``draw(draw_generator(seed, i))``, so the p-value does not depend on the number of
    workers. These get a copy of `draw`, closures included; it must not keep anything from one call to the
    next. `early_stop`, `n_jobs` and `progress` are those of `ResamplingOptions`. Ctrl-C ends the workers.

    References
    ----------
    J. Besag and P. Clifford. Sequential Monte Carlo p-values. Biometrika, 1991.
    """
    _check(n_draws=n_draws, early_stop=early_stop, n_jobs=n_jobs)
    workers = _count_workers(n_jobs)
    stop_after = n_draws + 1 if early_stop is None else draws_to_stop(early_stop, n_draws)
    made: list[float] = []
    with _make_draws(draw, seed, workers) as make, progress_reports(progress, label) as report:

        def further(k: int) -> list[float]:
            values = make(len(made), k)
            made.extend(values)
            report(len(made), n_draws)
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
    progress: bool | Report = False,
    label: str = "draws",
) -> list:
    """All of the first `n_draws` draws, of whatever kind; each is long. Else as `resample`."""
    _check(n_draws=n_draws, n_jobs=n_jobs)
    workers = _count_workers(n_jobs)
    made: list = []
    # Each draw is long here, so one per worker at a time; nothing is thrown away.
    with _make_draws(draw, seed, workers, 1) as make, progress_reports(progress, label) as report:
        while len(made) < n_draws:
            made.extend(make(len(made), min(workers, n_draws - len(made))))
            report(len(made), n_draws)
    return made


def _check(**values: Any) -> None:
    declared = {name: allowed for name, (_, allowed) in parameters_of(ResamplingOptions).items()}
    declared["n_draws"] = draws_option(1, "").metadata["allowed"]
    for name, value in values.items():
        declared[name].check(name, value)


def _count_workers(n_jobs: int | None) -> int:
    if n_jobs is None or n_jobs == 1:
        return 1
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


def _thinned(draws: np.ndarray) -> list[float]:
    """Return draws for a picture, from the least to the largest."""
    places = np.linspace(0, len(draws) - 1, min(len(draws), _STORED_DRAWS)).astype(int)
    return np.sort(draws)[places].tolist()


def resampled_outcome(
    observed: float, found: Resampled, n: int, null: str, diagnostics: dict[str, Any]
) -> Outcome:
    """Outcome of a test on `n` rows whose null distribution, called `null`, is a set of draws."""
    spread, excess = float(found.draws.std()), observed - float(found.draws.mean())
    same = spread <= 1e-12 * max(abs(observed), 1e-300)
    warnings = ("the statistic is the same for every draw: it cannot find anything",) if same else ()
    return Outcome(
        statistic=observed,
        pvalue=found.pvalue,
        null=NullDistribution(null, {"n_draws": found.n_used, "draws": _thinned(found.draws)}),
        effect_size=0.0 if same else excess / spread / math.sqrt(n),
        diagnostics={**diagnostics, "n_draws": found.n_used, "stopped_early": found.stopped},
        warnings=warnings,
    )
