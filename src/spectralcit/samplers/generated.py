"""What the generative tests share: options, draws when there is no z, comparison with the draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..inputs import Block, CIData
from ..null import permutation_pvalue
from ..null.resampling import resample, resampled_outcome
from ..numeric.streams import generator
from ..parameters import integer
from ..progress import Report
from ..result import Outcome
from .protocol import ConditionalDraw, LearnedSampler

__all__ = [
    "DIFFUSION_TIMES",
    "LAST_LOSSES",
    "compare_with_draws",
    "cross_fitted_draw",
    "cross_fitting_folds",
    "folds_option",
    "generated_rows",
    "samples_option",
    "shuffled_rows",
    "values_at",
]

# Losses whose mean is reported as that of the trained model. By hand: a single mini-batch says little.
LAST_LOSSES = 50
# Generated values of all rows are held at once. By hand: so many know a mean to 1 % of a deviation.
_MOST_SAMPLES = 10_000
DIFFUSION_TIMES = 1000  # of growing noise, as in denoising diffusion models (Ho et al. 2020)
_LEAST_ROWS = 10  # of a fold; by hand: fewer have no median distance or covariance worth the name


def samples_option(default: int) -> Any:
    """Field for the number of values that are generated for each row."""
    return integer(default, "Generated values per row, over which a mean is taken.", most=_MOST_SAMPLES)


def folds_option(default: int) -> Any:
    """Field for the number of folds; `cross_fitting_folds` compares it with the rows."""
    return integer(default, "Folds of the cross-fitting; each must have ten rows.", least=2)


def values_at(data: CIData, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The `rows` of x, y and z."""
    return data.x.values[rows], data.y.values[rows], None if data.z is None else data.z.values[rows]


def shuffled_rows(x: np.ndarray) -> ConditionalDraw:
    """Draws of X without Z for a randomisation test: the same rows in another order, which is exact."""
    return lambda rng: x[rng.permutation(len(x))]


def resampled_rows(train: np.ndarray, n: int) -> ConditionalDraw:
    """Draws of X without Z from the empirical distribution of the training rows."""
    return lambda rng: train[rng.integers(len(train), size=n)]


def generated_rows(
    learn: Callable[..., tuple[LearnedSampler, np.ndarray]],
    block: Block,
    z: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    **settings: Any,
) -> tuple[ConditionalDraw, np.ndarray]:
    """Draws of `block` for the rows `test` by a generator learned on the rows `train`, and its losses."""
    from .noise import UnitRange, as_levels  # needs JAX

    sampler, losses = learn(
        block.values[train],
        z[train],
        # Of all rows, as the authors do: a generator could never reach an x outside its range.
        x_range=UnitRange.fit(block.values),
        z_range=UnitRange.fit(z),
        **settings,
    )
    return as_levels(sampler.given(z[test]), block), losses


def cross_fitted_draw(
    learner: Callable[[], Callable[..., tuple[LearnedSampler, np.ndarray]]],
    block: Block,
    z: np.ndarray | None,
    train: np.ndarray,
    test: np.ndarray,
    **settings: Any,
) -> ConditionalDraw:
    """As `generated_rows`, and training rows when there is no `z`; ``learner()`` imports what needs JAX."""
    if z is None:
        return resampled_rows(block.values[train], len(test))
    return generated_rows(learner(), block, z, train, test, **settings)[0]


def cross_fitting_folds(n: int, n_folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of training and test rows, every row once among the test rows."""
    if not 2 <= n_folds <= n // _LEAST_ROWS:
        raise ParameterError(f"n_folds must be at least 2 and leave ten rows per fold, got {n_folds!r}")
    folds = np.array_split(generator(seed, "folds").permutation(n), n_folds)
    return [(np.sort(np.concatenate(folds[:k] + folds[k + 1 :])), rows) for k, rows in enumerate(folds)]


def compare_with_draws(
    statistic: Callable[[np.ndarray], float],
    x: np.ndarray,
    draw: ConditionalDraw,
    *,
    n_draws: int,
    seed: int,
    early_stop: float | None,
    n_jobs: int | None,
    progress: Report,
    two_sided: bool = False,
    diagnostics: dict[str, Any] | None = None,
) -> Outcome:
    """Conditional randomisation test: the statistic of `x`, with y and z fixed, among those of draws of x.

    With `two_sided` small values count as well: twice the smaller of the two p-values of all the draws.
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
    )
    if two_sided:
        pvalue = min(1.0, 2.0 * min(found.pvalue, permutation_pvalue(-observed, -found.draws)))
        found = replace(found, pvalue=pvalue)
    return resampled_outcome(observed, found, len(x), "randomisation", diagnostics or {})
