"""A quick look at many single columns of X at once: the blocks of the whole test, by matrix products.

It spares what costs most: the searches for smoothers are choices among ready ones (`nuisance.many`), there is
no second choice for features, and null distributions come from moments, as if features of X and of Y were
independent given Z, in place of random signs. The p-value is good enough to say which
columns cannot matter, and no more: what is small goes to the whole test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from scipy import special, stats

from ..inputs import Block
from ..nuisance import KernelRidge
from ..null.combine import CombinedNull
from ..null.quadratic import three_moment_sf
from ..null.search import effective_number, joint_sf
from ..null.student import freedom_of_variance, with_known_variance
from ..sharing import QuickAnswer
from .blocks import BLOCK_WEIGHTS
from .effect import cosine, noise_moments, partial_feature_correlation
from .quick_features import ManySides, expand_each
from .side_features import SideFeatures
from .slopes import without_slopes
from .variances import are_rare, rare_columns
from .zweights import ZWeights

__all__ = ["QuickLook"]

_DRAWS = 400  # by hand: of normal noise; how many of some correlated products count as independent
_DRAWN_CELLS = 4_000_000  # of them at a time: 32 MB, as in `nuisance.smoother`
_DRAWS_SEED = 20_260_102  # any number: the same draws for every column and every run
# By hand: a block with a small share of the error rate hardly moves the quick p-value while its own is near
# one percent, and the better residuals of the whole test may make ten times less of it. Up to that factor a
# block counts as surprising if it could bring the p-value below .05: its own p-value over its share.
_ALARM, _LEVEL, _BETTER = 0.01, 0.05, 10.0
# By hand: most columns of noise, which take a second and fix a p-value of one half to within .01; how many
# cells they may have; and fewest, in a long table.
_NOISE_COLUMNS, _NOISE_CELLS, _LEAST_NOISE = 512, 1_000_000, 64
_CELLS_AT_ONCE = 250_000  # by hand: of columns that are expanded together; each cell has some forty features
_COLUMNS_AT_ONCE = (2, 64)  # bounds of their number
_NOISE_SEED = 20_260_103  # any number: the same noise for every Y and every run


class _Partners:
    """Features of Y, products with functions of Z included, and what every column's null needs of them."""

    def __init__(self, features: np.ndarray) -> None:
        self.features = features
        self.row_squares = np.einsum("ij,ij->i", features, features)
        self.traces = _traces((features.T @ features)[None])[:, 0]

    @cached_property
    def squares(self) -> np.ndarray:
        """The squares of all features, which searches for the largest product need."""
        return np.square(self.features)

    def number(self) -> float:
        """How many of the products of noise with these features count as independent."""
        length = np.sqrt(self.squares.sum(axis=0))
        unit = self.features[:, length > 0] / length[length > 0]
        rng = np.random.default_rng(_DRAWS_SEED)
        largest = np.empty(_DRAWS)
        for start in range(0, _DRAWS, step := max(1, _DRAWN_CELLS // len(unit))):
            some = largest[start : start + step]
            some[:] = np.abs(rng.standard_normal((len(some), len(unit))) @ unit).max(axis=1)
        return effective_number(2.0 * special.ndtr(-largest))


class QuickLook:
    """Looks at columns with one variable Y given one Z.

    Examples
    --------
    >>> from spectralcit import SpectralCIT, prepare
    >>> from spectralcit.spectral.shared import ConditioningSet
    >>> rng = np.random.default_rng(0)
    >>> z, a, b = rng.standard_normal((3, 300))
    >>> y = z + a + rng.standard_normal(300)
    >>> data = [prepare(x, y, z) for x in (a + z, b + z)]
    >>> given_z = ConditioningSet(SpectralCIT(), {"y": data[0].y}, data[0].z, seed=0)
    >>> [answer.pvalue < 0.01 for answer in given_z.quick([one.x for one in data], "y")]
    [True, False]
    """

    def __init__(self, y: SideFeatures, weights: ZWeights | None, nuisance: KernelRidge) -> None:
        self._y, self._nuisance, self._has_z = y, nuisance, weights is not None
        parts = {"linear": y.linear, "nonlinear": y.nonlinear, "fine": y.fine}
        if weights is not None:
            parts |= {
                "all": y.together,
                "direct": y.direct,
                "linear × Z": _products(y.linear, weights.linear),
                "all × Z": _products(y.together, weights.all),
                "column of Z": _products(y.linear, weights.columns),
                "function of Z": _products(y.linear, weights.functions),
            }
        self._partners = {name: _Partners(part) for name, part in parts.items() if part.shape[1]}
        searched = {"fine", "column of Z", "function of Z"} & set(self._partners)
        self._numbers = {name: self._partners[name].number() for name in searched}
        self._nulls: dict[tuple[str, ...], CombinedNull] = {}

    def __call__(self, columns: Sequence[Block]) -> list[QuickAnswer | None]:
        """Look at single columns; ``None`` for one that Z determines."""
        answers: list[QuickAnswer | None] = []
        for start in range(0, len(columns), self._at_once):
            x = expand_each(columns[start : start + self._at_once], self._nuisance, direct=self._has_z)
            answers += [
                None if x.determined[j] else self._answer(x, j, self._combined(table), table)
                for j, table in enumerate(self._tables(x))
            ]
        return answers

    @property
    def _at_once(self) -> int:
        """How many columns to expand together, so that memory is bounded and products are large."""
        least, most = _COLUMNS_AT_ONCE
        return min(max(_CELLS_AT_ONCE // len(self._y.linear), least), most)

    def _tables(self, x: ManySides) -> list[dict[str, float]]:
        """Return the p-values of the blocks that each column has."""
        tables: list[dict[str, float]] = [{} for _ in x.smooth]
        for name, pvalues, present in self._blocks(x):
            for j in np.flatnonzero(present):
                tables[j][name] = float(pvalues[j])
        return tables

    @cached_property
    def _noise_tables(self) -> list[dict[str, float]]:
        """The tables of columns of noise, which are the same for every Y: what chance makes of blocks."""
        rng, n = np.random.default_rng(_NOISE_SEED), len(self._y.linear)
        tables: list[dict[str, float]] = []
        wanted = min(max(_NOISE_CELLS // n, _LEAST_NOISE), _NOISE_COLUMNS)
        while len(tables) < wanted:
            noise = [rng.standard_normal((n, 1)) for _ in range(self._at_once)]
            blocks = [Block(one, ("noise",), ("continuous",), (0,)) for one in noise]
            tables += self._tables(expand_each(blocks, self._nuisance, direct=self._has_z))
        return tables

    def _combined(self, table: dict[str, float]) -> float:
        """Return one p-value for all blocks: their harmonic mean, as chance makes it for columns of noise."""
        names = tuple(table)
        if names not in self._nulls:
            shares = np.array([BLOCK_WEIGHTS[name] for name in names])
            drawn = np.array([[one[name] for one in self._noise_tables] for name in names])
            # What chance made too small or too large in the block with most of the weight is known: it is
            # uniform. That halves the error of the rest, which goes with it.
            first = names.index("linear × linear")
            drawn[first] = (stats.rankdata(drawn[first]) - 0.5) / drawn.shape[1]
            self._nulls[names] = CombinedNull(drawn, shares / shares.sum())
        return self._nulls[names].pvalue(np.array(list(table.values())))

    def _answer(self, x: ManySides, j: int, pvalue: float, table: dict[str, float]) -> QuickAnswer:
        u, v = np.hstack([x.linear[:, j], x.nonlinear[:, j, : x.n_nonlinear[j]]]), self._y.together
        effect = partial_feature_correlation(u, v, *noise_moments(u, v))
        first, second = u[:, 0], self._y.linear[:, 0]
        interval = (effect.low, effect.high)
        alarming = any(p <= min(_ALARM, _BETTER * _LEVEL * BLOCK_WEIGHTS[name]) for name, p in table.items())
        return QuickAnswer(pvalue, alarming, effect.size, interval, cosine(first, second), table)

    def _blocks(self, x: ManySides) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """Yield the blocks' names, the columns' p-values, and which columns have the block at all."""
        everywhere, curved = np.ones(len(x.n_nonlinear), dtype=bool), x.n_nonlinear > 0
        linear_p, inflation = self._linear(x)
        yield "linear × linear", linear_p, everywhere
        sums = [
            ("linear × nonlinear", x.linear, "nonlinear", everywhere),
            ("nonlinear × linear", x.nonlinear, "linear", curved),
            ("nonlinear × nonlinear", x.nonlinear, "nonlinear", curved),
            ("direct × all", x.direct, "all", x.smooth),
            ("all × direct", x.together, "direct", everywhere),
            ("linear × linear × Z", x.linear, "linear × Z", everywhere),
            ("all × all × Z", x.together, "all × Z", everywhere),
        ]
        for name, features, partner, present in sums:
            if partner in self._partners:
                variance = x.variance if features is x.linear else np.square(features).sum(axis=2)
                p = _sum_of_squares_p(features, variance, self._partners[partner], inflation)
                yield name, p, present
        name = "largest linear × linear × "
        largest = [
            ("largest linear × fine", "fine"),
            (name + "column of Z", "column of Z"),
            (name + "function of Z", "function of Z"),
        ]
        for name, partner in largest:
            if partner in self._partners:
                number, variance = self._numbers[partner], x.variance[:, :, None]
                p = _largest_p(x.linear, variance, self._partners[partner], inflation, number)
                yield name, p, everywhere
        if x.fine.shape[2]:
            number, variance = float(x.fine.shape[2]), np.square(x.fine)
            p = _largest_p(x.fine, variance, self._partners["linear"], inflation, number)
            yield "largest fine × linear", p, x.smooth

    def _linear(self, x: ManySides) -> tuple[np.ndarray, np.ndarray]:
        """Return p-values of the linear block, and how much fits on both sides shrink any product.

        The noise of X meets what X's fit leaves of Y's features (`side_features.null_rows`); Y is taken
        out of its variance, as `block_null` does it.
        """
        u, v = x.linear[:, :, 0], self._y.linear[:, 0]
        noise = u * np.sqrt(x.fits.optimism() * self._y.allowance) / x.row_scale
        partner = x.fits.adjoint(v)
        lengths = np.square(noise).sum(axis=0), np.square(partner).sum(axis=0)
        inflation = lengths[0] * lengths[1] / np.maximum(np.square(u).sum(axis=0) * float(v @ v), 1e-300)
        left = without_slopes(noise, partner)
        variance = (np.square(noise) * np.square(left)).sum(axis=0)
        # Of rare events the products seen tell too little (`variances`); Z is left out of it here.
        rare = rare_columns(noise) | are_rare(v[:, None])
        variance = np.where(rare, lengths[0] * lengths[1] / len(u), variance)
        squared = np.square(u.T @ v) / np.maximum(variance, 1e-300)
        freedom = freedom_of_variance(np.square(noise))
        return special.chdtrc(1.0, with_known_variance(squared, freedom)), inflation


def _products(right: np.ndarray, functions: np.ndarray) -> np.ndarray:
    return np.einsum("ni,nj->nij", right, functions).reshape(len(right), -1)


def _traces(moments: np.ndarray) -> np.ndarray:
    """Return traces of the first three powers of symmetric matrices, shape (3, matrices)."""
    squares = moments @ moments
    return np.array(
        [
            np.trace(moments, axis1=1, axis2=2),
            np.square(moments).sum(axis=(1, 2)),
            (squares * moments).sum(axis=(1, 2)),
        ]
    )


def _sum_of_squares_p(
    features: np.ndarray, variance: np.ndarray, partners: _Partners, inflation: np.ndarray
) -> np.ndarray:
    """Return the p-value of the sum of squares of all products, from its moments under independence.

    `variance` is that of all features together, row by row: given Z where it is known. Squares themselves
    would be large where the products are, when they depend (`block_null`).
    """
    n = len(features)
    by_column = np.ascontiguousarray(features.transpose(1, 2, 0))
    statistic = np.square(by_column @ partners.features).sum(axis=(1, 2))
    first, second, third = _traces(by_column @ by_column.transpose(0, 2, 1))
    expected = inflation * (partners.row_squares @ variance)
    # Row by row the mean allows for variances that change together; the other moments follow it.
    factor = expected / np.maximum(first * partners.traces[0] / n, 1e-300)
    return three_moment_sf(
        statistic,
        expected,
        2.0 * factor**2 * second * partners.traces[1] / n**2,
        8.0 * factor**3 * third * partners.traces[2] / n**3,
    )


def _largest_p(
    features: np.ndarray, variance: np.ndarray, partners: _Partners, inflation: np.ndarray, number: float
) -> np.ndarray:
    """Return the p-value of the largest studentised product, which `number` independent ones are like."""
    by_column = np.ascontiguousarray(features.transpose(1, 2, 0))
    sums = np.abs(by_column @ partners.features)
    of_sums = inflation[:, None, None] * (variance.transpose(1, 2, 0) @ partners.squares)
    z = (sums / np.sqrt(np.maximum(of_sums, 1e-300))).max(axis=(1, 2))
    return np.maximum(joint_sf(2.0 * special.ndtr(-z), number), np.finfo(float).tiny)
