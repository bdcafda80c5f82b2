"""Kernel partial correlation: a measure of conditional dependence between 0 and 1, and a test based on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import BaseCITest
from ..inputs import Block, CIData
from ..null import permutation_pvalue
from ..null.resampling import draws_option
from ..numeric.cells import shuffle_within
from ..numeric.kernels import median_width, squared_distances, standardize
from ..numeric.neighbours import local_permutation, nearest_others
from ..numeric.streams import generator
from ..parameters import integer
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["KPC", "kernel_partial_correlation"]

_BLOCK = 500  # rows of distances at a time: 4 MB for each thousand rows of data
_JITTER = 1e-9  # of a standard deviation; by hand: breaks ties between equal rows at random


@register(
    "kpc",
    tags=TestTags(
        summary="kernel partial correlation with local permutations",
        symmetric=False,
        cost="O(n log n)",
        local=True,
        assumes="rows with similar Z can exchange their X",
        fails=(
            "when Z has more than a few columns: neighbours are then not similar, and true nulls are rejected"
        ),
    ),
)
class KPC(BaseCITest):
    """Kernel partial correlation with nearest-neighbour graphs and a local permutation null.

    The squared kernel partial correlation is zero when ``x`` and ``y`` are independent given ``z`` and one
    when ``y`` is a function of (x, z) that is not one of ``z`` alone. The test permutes ``x`` among rows
    with similar ``z`` (or, for discrete ``z``, equal ``z``).

    Notes
    -----
    The statistic and the effect size are both the estimated squared kernel partial correlation, which can be
    slightly negative.

    References
    ----------
    Z. Huang, N. Deb and B. Sen. Kernel partial correlation coefficient: a measure of conditional dependence.
    JMLR, 2022.
    J. Runge. Conditional independence testing based on a nearest-neighbor estimator of conditional mutual
    information. AISTATS, 2018. (The local permutation.)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z, x = rng.normal(size=(2, 300))
    >>> y = z + np.cos(2 * x) + 0.3 * rng.normal(size=300)
    >>> KPC(n_permutations=99, random_state=0).test(x, y, z).reject()
    True
    """

    n_neighbors: int = integer(
        5,
        "Neighbours of the graphs, as far as there are rows; few make the estimate less biased, more make it "
        "less variable.",
    )
    n_permutation_neighbors: int = integer(
        5, "Rows with similar ``z``, as far as there are any, among which ``x`` is exchanged."
    )
    n_permutations: int = draws_option(199, "Draws of the null.")

    def _run(self, data: CIData, seed: int) -> Outcome:
        k = min(self.n_neighbors, data.n - 1)
        rng = generator(seed, "kpc")
        x, y = standardize(data.x.values), standardize(data.y.values)
        z = None if data.z is None else standardize(data.z.values)
        estimate = _Estimate(y, z, k, rng)
        observed = estimate(x)
        permute = _permuter(data.z, z, min(self.n_permutation_neighbors, data.n - 1), data.n)
        draws = [estimate(x[permute(rng)]) for _ in range(self.n_permutations)]
        diagnostics: dict[str, Any] = {"n_neighbors": k, "null_mean": float(np.mean(draws))}
        warnings: tuple[str, ...] = ()
        if estimate.degenerate:
            warnings = ("z determines y up to its neighbours: there is nothing left to explain",)
        return Outcome(
            statistic=observed,
            pvalue=permutation_pvalue(observed, draws),
            null=NullDistribution("local_permutation", {"n_permutations": self.n_permutations}),
            effect_size=observed,
            diagnostics=diagnostics,
            warnings=warnings,
        )


def kernel_partial_correlation(
    x: np.ndarray, y: np.ndarray, z: np.ndarray | None = None, *, n_neighbors: int = 5, seed: int = 0
) -> float:
    """Estimate the squared kernel partial correlation of ``y`` and ``x`` given ``z``.

    An effect size for any test.

    Parameters
    ----------
    x, y, z
        Arrays of shape (n,) or (n, p); they are standardised first. Not symmetric in ``x`` and ``y``.
    n_neighbors
        Neighbours of the graphs.
    seed
        Breaks ties between equal rows.

    Returns
    -------
    float
        About 0 for conditional independence, 1 when ``y`` is a function of ``x`` and ``z`` but not of ``z``.

    References
    ----------
    Z. Huang, N. Deb and B. Sen. Kernel partial correlation coefficient: a measure of conditional dependence.
    JMLR, 2022.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 2000))
    >>> kernel_partial_correlation(x, np.sin(x)) > 0.95, abs(kernel_partial_correlation(x, noise)) < 0.05
    (True, True)
    """
    given = None if z is None else _standardised_columns(z)
    estimate = _Estimate(
        _standardised_columns(y), given, min(n_neighbors, len(y) - 1), generator(seed, "kpc")
    )
    return estimate(_standardised_columns(x))


def _standardised_columns(values: np.ndarray) -> np.ndarray:
    return standardize(np.asarray(values, dtype=np.float64).reshape(len(values), -1))


class _Estimate:
    """The estimator for fixed ``y`` and ``z``; called with ``x``, of which only one term depends."""

    def __init__(self, y: np.ndarray, z: np.ndarray | None, k: int, rng: np.random.Generator) -> None:
        self._y = y
        self._scale = -0.5 / median_width(y) ** 2
        self._k = k
        # Drawn once: every permutation breaks its ties by the same noise.
        self._noise_seed = int(rng.integers(2**32))
        self._z = None if z is None else self._jitter(z)
        self._baseline = self._all_pairs() if self._z is None else self._neighbour_mean(self._z)
        self.degenerate = 1.0 - self._baseline <= 1e-9

    def __call__(self, x: np.ndarray) -> float:
        x = self._jitter(x)
        joint = x if self._z is None else np.hstack([x, self._z])
        if self.degenerate:
            return 0.0
        return (self._neighbour_mean(joint) - self._baseline) / (1.0 - self._baseline)

    def _jitter(self, values: np.ndarray) -> np.ndarray:
        return values + _JITTER * np.random.default_rng(self._noise_seed).standard_normal(values.shape)

    def _neighbour_mean(self, points: np.ndarray) -> float:
        """Mean kernel value of y between each row and its neighbours."""
        neighbours = nearest_others(points, self._k)
        distances = ((self._y[:, None, :] - self._y[neighbours]) ** 2).sum(axis=2)
        return float(np.exp(self._scale * distances).mean())

    def _all_pairs(self) -> float:
        """Mean kernel value of y over all pairs of different rows."""
        n, total = len(self._y), 0.0
        for start in range(0, n, _BLOCK):
            block = squared_distances(self._y[start : start + _BLOCK], self._y)
            total += float(np.exp(self._scale * block).sum())
        return (total - n) / (n * (n - 1))


def _permuter(block: Block | None, z: np.ndarray | None, k: int, n: int) -> Any:
    """A function that draws an order of the rows in which ``z`` is nearly the same as before."""
    if block is None or z is None:
        return lambda rng: rng.permutation(n)
    if "continuous" not in block.kinds:
        strata = np.unique(z, axis=0, return_inverse=True)[1].ravel()
        return lambda rng: shuffle_within(strata, rng)
    neighbours = np.column_stack([np.arange(n), nearest_others(z, k)])
    return lambda rng: local_permutation(neighbours, rng)
