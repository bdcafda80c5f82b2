"""Conditional mutual information by nearest neighbours, with local permutations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from scipy.special import digamma

from ..base import BaseCITest
from ..inputs import Block, CIData
from ..null.resampling import ResamplingOptions, draws_option
from ..numeric.cells import shuffle_within
from ..numeric.kernels import standardize
from ..numeric.neighbours import NeighbourCounts, local_permutation, neighbourhoods
from ..numeric.streams import generator
from ..parameters import MOST, choice, integer, real
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["CMIknn", "CMIknnMixed"]

_JITTER = 1e-10  # of a standard deviation: breaks ties, and is far below any distance in data


def _knn_option(default: float) -> float:
    return real(
        default,
        "Neighbours that set the local scale of the estimate: a number of rows, or below one a share of "
        "them. Many neighbours make it biased towards zero but less variable, which is what a test wants.",
        above=0.0,
        most=MOST,
    )


class _NearestNeighbours(ResamplingOptions, BaseCITest):
    """What the estimates with and without discrete columns share."""

    _closed: ClassVar[bool]  # whether rows at exactly the radius count

    knn: float = _knn_option(0.2)
    n_permutation_neighbors: int = integer(
        5,
        "Rows with similar z, the row itself among them, from which a row gets its new x. When all columns "
        "of z are discrete, x is permuted among rows with equal z, which is exact.",
        least=2,
    )
    n_permutations: int = draws_option(499, "Most draws of the null.")

    def _run(self, data: CIData, seed: int) -> Outcome:
        k = _count(self.knn, data.n)
        rng = generator(seed, "cmi-knn")
        x, y = (
            self._columns(data.x.values, data.x.kinds, rng),
            self._columns(data.y.values, data.y.kinds, rng),
        )
        z = None if data.z is None else self._columns(data.z.values, data.z.kinds, rng)
        counts = NeighbourCounts(y, z, k, closed=self._closed)
        permute = _permuter(data.z, z, min(self.n_permutation_neighbors, data.n), data.n, rng)
        observed = self._estimate(counts, x, k)

        def draw(rng: np.random.Generator) -> float:
            # Transformed anew: rows that were chosen twice would otherwise be tied in x, unlike the data.
            permuted = self._columns(data.x.values[permute(rng)], data.x.kinds, rng)
            return self._estimate(counts, permuted, k)

        found = self._resample(
            observed, draw, n_draws=self.n_permutations, seed=seed, label="nearest neighbours"
        )
        return Outcome(
            statistic=observed,
            pvalue=found.pvalue,
            null=NullDistribution("local_permutation", {"draws": found.draws.tolist()}),
            effect_size=observed,
            diagnostics={
                "knn": k,
                "n_draws": found.n_used,
                "stopped_early": found.stopped,
                "null_mean": float(found.draws.mean()),
            },
            warnings=self._notes(data),
        )

    @staticmethod
    @abstractmethod
    def _estimate(counts: NeighbourCounts, x: np.ndarray, k: int) -> float:
        """Conditional mutual information in nats."""

    @abstractmethod
    def _columns(self, values: np.ndarray, kinds: Sequence[str], rng: np.random.Generator) -> np.ndarray:
        """Columns of comparable scale."""

    def _notes(self, data: CIData) -> tuple[str, ...]:
        return ()


@register(
    "cmi-knn",
    tags=TestTags(
        summary="nearest-neighbour conditional mutual information, local permutations (Runge 2018)",
        mixed=False,
        symmetric=False,
        cost="O(n^2)",
        local=True,
        assumes="X given Z hardly changes between rows whose Z are neighbours; continuous columns",
        fails="by rejecting true nulls when neighbours in Z are far apart (many columns, wiggles)",
    ),
)
class CMIknn(_NearestNeighbours):
    """Nearest-neighbour conditional mutual information with local permutations.

    The statistic is Frenzel and Pompe's estimate of I(x; y | z), in nats. The null distribution comes from
    permuting ``x`` among rows with similar ``z``. For continuous columns; see `CMIknnMixed` for others.

    Notes
    -----
    Statistic and effect size are the estimated conditional mutual information, which can be slightly
    negative. Ties within a column are broken at random: by random ranks, or by noise of 1e-10 standard
    deviations. A row counts as its own neighbour, and rows at exactly the radius do not count.

    References
    ----------
    J. Runge. Conditional independence testing based on a nearest-neighbor estimator of conditional mutual
    information. AISTATS, 2018.
    S. Frenzel and B. Pompe. Partial mutual information for coupling analysis of multivariate time series.
    Physical Review Letters, 2007.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, z = rng.normal(size=(2, 200))
    >>> y = z + np.cos(2 * x) + 0.3 * rng.normal(size=200)
    >>> CMIknn(n_permutations=99, random_state=0).test(x, y, z).reject()
    True
    """

    _closed: ClassVar[bool] = False

    transform: str = choice(
        "ranks",
        "Replace every column by its ranks, or by its standard scores.",
        "ranks",
        "standardize",
    )

    @staticmethod
    def _estimate(counts: NeighbourCounts, x: np.ndarray, k: int) -> float:
        """Frenzel and Pompe: open balls, the row itself counted."""
        found = counts(x)
        # A radius of zero needs k duplicates of a whole row; the row itself is then the only neighbour.
        xz, yz, z = (np.maximum(v, 1) for v in (found.xz, found.yz, found.z))
        return float(digamma(k) + np.mean(digamma(z) - digamma(xz) - digamma(yz)))

    def _columns(self, values: np.ndarray, kinds: Sequence[str], rng: np.random.Generator) -> np.ndarray:
        """Columns of comparable scale and without ties."""
        if self.transform == "ranks":
            return _random_ranks(values, rng)
        return standardize(values) + _JITTER * rng.standard_normal(values.shape)

    def _notes(self, data: CIData) -> tuple[str, ...]:
        blocks = [b for b in (data.x, data.y, data.z) if b is not None]
        tied = [
            name for b in blocks for name, kind in zip(b.names, b.kinds, strict=True) if kind != "continuous"
        ]
        if not tied:
            return ()
        return (
            f"columns {', '.join(map(repr, tied[:5]))} are not continuous, and their ties were broken at "
            "random; method='cmi-knn-mixed' is made for such columns",
        )


@register(
    "cmi-knn-mixed",
    tags=TestTags(
        summary="the same for continuous and discrete columns together (Mesner & Shalizi 2021)",
        symmetric=False,
        cost="O(n^2)",
        local=True,
        aliases=("mcmiknn",),
        assumes=("X given Z hardly changes between rows with neighbouring Z; nothing when Z is discrete"),
        fails="by rejecting true nulls when neighbours in Z are far apart (many columns, wiggles)",
    ),
)
class CMIknnMixed(_NearestNeighbours):
    """Nearest-neighbour conditional mutual information for continuous and discrete columns together.

    The statistic is Mesner and Shalizi's estimate. Two values of a discrete column are at distance 0 when
    they are equal and 1 when not; continuous columns are replaced by their ranks, scaled to [0, 1]. Where
    `knn` rows or more coincide with a row, the counts become those of a contingency table.

    Notes
    -----
    Statistic and effect size are the estimate in nats, without the paper's truncation at zero, which would
    tie many draws. Discrete columns are those that `prepare` calls ``"discrete"`` or ``"indicator"``.

    References
    ----------
    O. C. Mesner and C. R. Shalizi. Conditional mutual information estimation for mixed, discrete and
    continuous data. IEEE Transactions on Information Theory, 2021.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.integers(0, 3, 200)
    >>> x = z + rng.normal(size=200)
    >>> y = rng.random(200) < 1 / (1 + np.exp(-3 * (x - z)))
    >>> CMIknnMixed(n_permutations=99, random_state=0).test(x, y, z).reject()
    True
    """

    _closed: ClassVar[bool] = True

    knn: float = _knn_option(0.05)

    @staticmethod
    def _estimate(counts: NeighbourCounts, x: np.ndarray, k: int) -> float:
        """Mesner and Shalizi: closed balls, the row itself not counted; k grows where rows coincide."""
        xyz, xz, yz, z = (digamma(v - 1) for v in counts(x))
        return float(np.mean(xyz - xz - yz + z))

    def _columns(self, values: np.ndarray, kinds: Sequence[str], rng: np.random.Generator) -> np.ndarray:
        ranks = _random_ranks(values, rng)
        # Whole numbers instead of ranks in [0, 1]: rows at exactly the radius count, so no rounding, please.
        parts = [
            ranks[:, [i]] if kind == "continuous" else (len(values) - 1) * _one_hot(column)
            for i, (kind, column) in enumerate(zip(kinds, values.T, strict=True))
        ]
        return np.hstack(parts)


def _one_hot(column: np.ndarray) -> np.ndarray:
    """One 0/1 column per level, so that the sup distance of two different levels is one."""
    return (column[:, None] == np.unique(column)).astype(np.float64)


def _random_ranks(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ranks 0, ..., n - 1 within each column, ties in random order."""
    order = np.lexsort((rng.random(values.shape), values), axis=0)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, np.arange(len(values), dtype=np.float64)[:, None], axis=0)
    return ranks


def _count(knn: float, n: int) -> int:
    return min(max(int(knn * n) if knn < 1 else int(knn), 1), n - 1)


def _permuter(
    block: Block | None, z: np.ndarray | None, size: int, n: int, rng: np.random.Generator
) -> Callable[[np.random.Generator], np.ndarray]:
    """A function that draws an order of the rows in which ``z`` is nearly the same as before."""
    if block is None or z is None:
        return lambda rng: rng.permutation(n)
    if "continuous" not in block.kinds:
        strata = np.unique(block.values, axis=0, return_inverse=True)[1].ravel()
        return lambda rng: shuffle_within(strata, rng)
    neighbours = neighbourhoods(z, size, rng, sup=True)
    return lambda rng: local_permutation(neighbours, rng)
