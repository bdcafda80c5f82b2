"""Conditional permutation test: permute x, favouring orders that are likely given z."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import BaseCITest
from ..errors import ParameterError
from ..inputs import CIData
from ..null.resampling import ResamplingOptions, draws_option, resampled_outcome
from ..numeric.memory import require_memory
from ..numeric.streams import generator
from ..parameters import integer
from ..registry import TestTags, register
from ..result import Outcome
from ..samplers.grouped import within_groups
from ..samplers.model_x import fitted_sampler, sampler_option
from ..statistics.measures import Statistic, prepare_statistic, statistic_option

__all__ = ["CPT"]


@register(
    "cpt",
    tags=TestTags(
        summary="conditional permutation test: permute x by its density given z",
        symmetric=False,
        honours=("groups",),
        cost="O(n^2)",
        assumes="the density of X given Z is known or fitted well, up to the values of X themselves",
        fails="when the model of X given Z is wrong; without power when Z nearly determines X",
    ),
)
class CPT(ResamplingOptions, BaseCITest):
    """Conditional permutation test.

    As `CRT`, but the copies are permutations of the observed ``x``, drawn with probability proportional to
    the product of the densities of the permuted x at its new z. The values of ``x`` are always the observed
    ones, which by the theory of the authors makes the test more robust than `CRT` against a wrong model. With
    ``groups``, x is permuted within groups, whose rows must be exchangeable given ``z``.

    Notes
    -----
    One chain leads from the data to a hub, and one from the hub to each copy. The chain is reversible, hence
    data and copies are exchangeable under the null. The effect size is the one of `CRT`.

    References
    ----------
    T. B. Berrett, Y. Wang, R. F. Barber and R. J. Samworth. The conditional permutation test for independence
    while controlling for confounders. Journal of the Royal Statistical Society B, 2020.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=200)
    >>> x, y = z + rng.normal(size=200), z + rng.normal(size=200)
    >>> cpt = CPT(n_permutations=99, random_state=0)
    >>> cpt.test(x, y, z).reject(), cpt.test(x, y + x, z).reject()
    (False, True)
    """

    sampler: Any = sampler_option("log_density")
    statistic: Statistic = statistic_option("partial-correlation", permuted=True)
    n_permutations: int = draws_option(999, "Most permutations to draw.")
    n_steps: int = integer(
        50,
        "Steps of the Markov chain; each step considers n / 2 disjoint pairs at once. The p-value is valid "
        "for every number of steps; few steps leave the copies close to the data, which costs power.",
        most=100_000,  # by hand: seconds for one copy, long after the chain has mixed
    )

    def _run(self, data: CIData, seed: int) -> Outcome:
        require_memory(data.n, 4, method="cpt", instead="crt")
        x, n, steps = data.x.values, data.n, self.n_steps
        z = None if data.z is None else data.z.values
        model = fitted_sampler(self.sampler, data.x, data.z)
        codes = None if data.design is None else data.design.clusters
        if codes is not None:
            model = within_groups(model, x, z, codes)
        density = _checked(model.log_density(x, z), n)
        statistic = prepare_statistic(
            self.statistic, data.y.values, z, generator(seed, "cpt statistic"), permuted=True
        )
        hub, share = walk(np.arange(n), density, steps, generator(seed, "cpt hub"), codes)

        def draw(rng: np.random.Generator) -> float:
            return statistic(x[walk(hub, density, steps, rng, codes)[0]])

        observed = statistic(x)
        found = self._resample(
            observed, draw, n_draws=self.n_permutations, seed=seed, label="permutations of x"
        )
        diagnostics = {"sampler": type(model).__name__, "share_of_swaps": share}
        return resampled_outcome(observed, found, n, "permutation", diagnostics)


def walk(
    order: np.ndarray,
    log_density: np.ndarray,
    n_steps: int,
    rng: np.random.Generator,
    codes: np.ndarray | None = None,
) -> tuple[np.ndarray, float]:
    """Run the chain from `order`; returns the new order and the share of the considered swaps that were made.

    ``order[j]`` is the row of x that sits at row j of z; entry (i, j) of `log_density` belongs to x_i at
    z_j. With groups `codes`, only rows of one group change places.
    """
    order, half, made = order.copy(), len(order) // 2, 0
    for _ in range(n_steps):
        if codes is None:
            first, second = rng.permutation(len(order))[: 2 * half].reshape(2, half)
        else:
            first, second = _pairs_within(codes, rng)
        # A logistic variable lies below the log odds with the probability of those odds.
        swap = rng.logistic(size=len(first)) < log_odds_of_swap(order, log_density, first, second)
        at_first, at_second = order[first], order[second]
        order[first] = np.where(swap, at_second, at_first)
        order[second] = np.where(swap, at_first, at_second)
        made += int(swap.sum())
    return order, made / (max(len(first), 1) * n_steps)


def _pairs_within(codes: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return disjoint pairs of rows of one group: neighbours in a shuffle that keeps groups together."""
    shuffled = np.lexsort((rng.random(len(codes)), codes))
    ordered = codes[shuffled]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    place = np.arange(len(codes)) - np.repeat(starts, np.diff(np.append(starts, len(codes))))
    first = np.flatnonzero((place[:-1] % 2 == 0) & (ordered[:-1] == ordered[1:]))
    return shuffled[first], shuffled[first + 1]


def log_odds_of_swap(
    order: np.ndarray, log_density: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Log odds that the two x of each pair of rows of z change places: densities after over those before."""
    flat, n = log_density.ravel(), len(order)
    at_first, at_second = order[first] * n, order[second] * n
    after = flat[at_second + first] + flat[at_first + second]
    return after - flat[at_first + first] - flat[at_second + second]


def _checked(density: Any, n: int) -> np.ndarray:
    density = np.asarray(density, dtype=np.float64)
    if density.shape != (n, n):
        raise ParameterError(
            f"sampler.log_density must return a matrix of shape ({n}, {n}): entry (i, j) is the log density "
            f"of x_i at z_j; got shape {density.shape}"
        )
    if np.isnan(density).any() or np.isposinf(density).any() or np.isneginf(np.diag(density)).any():
        raise ParameterError(
            "sampler.log_density must not be NaN or +inf, nor -inf for an observed pair of x and z"
        )
    # A density of zero becomes one that is never chosen over a positive one: inf - inf would be NaN.
    return np.maximum(density, -1e300)
