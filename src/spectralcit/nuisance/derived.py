"""Columns derived from Z: directions, products and ratios along which one side of the test visibly varies.

The linear residual e of a target tells where to look. Its least-squares direction is the direction of any
monotone index; the leading eigenvectors of ``Σ e z z'`` (principal Hessian directions) span indices and
bilinear forms of many columns, and the matrix with these eigenvectors alone is a form of its own (of a ball
or a shell, the distance from its centre); entries of that matrix name the pairs of columns whose product
matters, signs (exclusive or) included; ratios of raw columns are tried alike. What is kept must stand out
from what noise would give. The derived columns then serve an additive model and regression trees like columns
of Z.

References
----------
Li (1992). On principal Hessian directions for data visualization and dimension reduction. JASA 87.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, stats

from .maps import AdditiveCosines

__all__ = [
    "FRAME_FREE",
    "AdditiveInDerived",
    "DerivedColumns",
    "are_correlated",
    "derive",
    "principal_frame",
]

# By hand: up to so many columns there is little to lose by first trying what no linear map of Z changes; with
# more, a kernel that sees all directions alike sees nothing.
FRAME_FREE = 8


_CORRELATED = 0.3  # largest correlation between columns of Z that a kernel in their own units copes with
_SMALLEST = 1e-10  # share of the largest eigenvalue below which a direction of Z is rounding
_PERMUTATIONS = 5  # by hand: few, because each costs an eigendecomposition; the factor below is the margin
_ABOVE_PERMUTED = 1.1  # by hand: times the largest eigenvalue after permutations of e
_MAX_HESSIAN = 3  # by hand: directions of one target; each costs as many cosines as a column
_MAX_PAIRS = 4  # by hand: products for one target, for the same reason
_CUTS = np.linspace(0.1, 0.9, 81)  # quantiles between which the two signs of a product may change
_MAX_RATIOS = 2  # by hand: likewise, and a ratio and its inverse are two
_MAX_RATIO_COLUMNS = 12  # by hand: all ordered pairs are tried one by one, 132 of them
_CHANCE = 0.005  # by hand: of a derived column where e is noise
_SHAPES = np.arange(2, 6)  # orders of the cosines by which the least-squares direction is judged
_MAX_TARGETS = 3  # by hand: of more targets the leading components of what is left of them are looked at


def principal_frame(z: np.ndarray, continuous: np.ndarray) -> np.ndarray | None:
    """Return the matrix that makes the continuous columns uncorrelated; ``None`` if many of them nearly are.

    Kernels along mixed or nearly copied columns see the differences between them only in these coordinates.
    """
    if len(continuous) < 2 or (len(continuous) > FRAME_FREE and not are_correlated(z, continuous)):
        return None
    correlation = _correlation(z, continuous)
    values, vectors = linalg.eigh(correlation, check_finite=False)
    keep = values > _SMALLEST * values[-1]
    others = np.setdiff1d(np.arange(z.shape[1]), continuous)
    frame = np.zeros((z.shape[1], keep.sum() + len(others)))
    frame[np.ix_(continuous, np.arange(keep.sum()))] = vectors[:, keep] / np.sqrt(values[keep])
    frame[others, keep.sum() + np.arange(len(others))] = 1.0
    return frame


def are_correlated(z: np.ndarray, continuous: np.ndarray) -> bool:
    """Tell whether continuous columns are correlated more than a kernel in their own units copes with."""
    correlation = _correlation(z, continuous)
    largest = np.abs(correlation - np.diag(np.diag(correlation))).max(initial=0.0)
    return bool(largest >= max(_CORRELATED, 4.0 / np.sqrt(len(z))))


def _correlation(z: np.ndarray, continuous: np.ndarray) -> np.ndarray:
    return z[:, continuous].T @ z[:, continuous] / len(z)


@dataclass(frozen=True, eq=False)
class DerivedColumns:
    """The columns of Z and, after them, functions of them."""

    directions: np.ndarray  # coefficients of linear combinations, shape (d, k)
    # Pairs of columns and the values from which each counts: ``(i, j, a, b)`` for ``(z_i - a) (z_j - b)``
    products: tuple[tuple[int, int, float, float], ...]
    ratios: tuple[tuple[int, int], ...]  # pairs of columns
    forms: tuple[np.ndarray, ...]  # symmetric matrices, shape (d, d), of quadratic forms
    shift: np.ndarray  # what was subtracted from each column, in its own units: ratios need the raw columns

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return the columns of `z`, then directions, products, ratios and forms."""
        parts = [z, z @ self.directions]
        parts += [((z[:, i] - a) * (z[:, j] - b))[:, None] for i, j, a, b in self.products]
        parts.append(_with_short_tails(self.plain_ratios(z)))
        parts += [np.einsum("ni,ij,nj->n", z, form, z, optimize=True)[:, None] for form in self.forms]
        return np.hstack(parts)

    def plain_ratios(self, z: np.ndarray) -> np.ndarray:
        """Return the ratios with the tails that they have, a column each."""
        raw = z + self.shift if self.ratios else z
        ratios = [_ratio(raw[:, i], raw[:, j]) for i, j in self.ratios]
        return np.column_stack(ratios) if ratios else np.zeros((len(z), 0))

    @property
    def ratio_columns(self) -> slice:
        """Where the ratios are among all columns."""
        first = sum(self.directions.shape) + len(self.products)  # after columns of Z and directions
        return slice(first, first + len(self.ratios))

    def only_directions(self) -> DerivedColumns | None:
        """Return directions and forms alone, which are the same in every frame of Z; ``None`` without any."""
        return replace(self, products=(), ratios=()) if self.directions.shape[1] or self.forms else None

    def pull_back(self, variances: np.ndarray) -> np.ndarray:
        """Return, as (d, d), how much a function varies along Z if it varies so much along each column."""
        d, k = self.directions.shape
        relevance = np.diag(variances[:d]) + (self.directions * variances[d : d + k]) @ self.directions.T
        pairs = [product[:2] for product in self.products] + list(self.ratios)
        of_pairs, of_forms = np.split(variances[d + k :], [len(pairs)])
        for (i, j), variance in zip(pairs, of_pairs, strict=True):
            relevance[[i, j], [i, j]] += variance / 2.0
        for form, variance in zip(self.forms, of_forms, strict=True):
            square = form @ form  # the mean of the gradient's outer product, columns being standard
            relevance += variance * square / max(float(np.trace(square)), 1e-300)
        return relevance


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return the ratio, of at most 1e9 in size."""
    size = np.abs(numerator) / np.maximum(np.abs(denominator), 1e-9 * np.abs(numerator) + 1e-300)
    return np.sign(numerator) * np.sign(denominator) * size


def _with_short_tails(ratio: np.ndarray) -> np.ndarray:
    """Return ``log(1 + |r|)`` with the sign of the ratio r."""
    return np.sign(ratio) * np.log1p(np.abs(ratio))


@dataclass(frozen=True, eq=False)
class AdditiveInDerived:
    """Cosines of derived columns, alone or beside those of Z; and the ratios as they are.

    Cosines of a ratio's logarithm fit the ratio itself badly where its denominator is small.
    """

    derived: DerivedColumns
    cosines: AdditiveCosines
    spreads: np.ndarray  # standard deviations of the ratios on reference rows

    @classmethod
    def fit(cls, derived: DerivedColumns, cosines: AdditiveCosines, z: np.ndarray) -> AdditiveInDerived:
        """Put the ratios on the scale that they have in `z`."""
        return cls(derived, cosines, np.maximum(derived.plain_ratios(z).std(axis=0), 1e-300))

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return the cosines, then the ratios."""
        return self.on_columns(z, self.derived(z))

    def on_columns(self, z: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the same from derived columns that are known."""
        return np.hstack([self.cosines(columns), self.derived.plain_ratios(z) / self.spreads])

    def relevance(self, z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return the variance of each column's contribution, carried back to Z."""
        columns = self.derived(z)
        of_cosines, of_ratios = np.split(coefficients, [len(coefficients) - len(self.spreads)])
        variances = np.diag(self.cosines.relevance(columns, of_cosines)).copy()
        plain = self.derived.plain_ratios(z) / self.spreads
        variances[self.derived.ratio_columns] += plain.var(axis=0) * np.square(of_ratios).sum(axis=1)
        return self.derived.pull_back(variances)


def derive(
    z: np.ndarray,
    frame: np.ndarray | None,
    continuous: np.ndarray,
    shift: np.ndarray,
    targets: np.ndarray,
    left: np.ndarray,
) -> DerivedColumns | None:
    """Find the derived columns that stand out; ``None`` if there are none."""
    if len(continuous) < 2:
        return None
    if targets.shape[1] > _MAX_TARGETS:
        rotation = linalg.svd(left, full_matrices=False, check_finite=False)[2][:_MAX_TARGETS].T
        targets, left = targets @ rotation, left @ rotation
    frame = np.eye(z.shape[1]) if frame is None else frame
    frame = frame / np.sqrt(np.maximum(np.square(z @ frame).mean(axis=0), 1e-300))
    directions: list[np.ndarray] = []
    products: dict[tuple[int, int], tuple[int, int, float, float]] = {}
    ratios: dict[tuple[int, int], None] = {}
    forms: list[np.ndarray] = []
    few, w = z[:, continuous], z @ frame
    for target, e in zip(targets.T, (left - left.mean(axis=0)).T, strict=True):
        values, vectors = _standing_out(w, e)
        found = _least_squares_direction(w, target, e) + list(vectors.T[:_MAX_HESSIAN])
        directions += [frame @ direction for direction in found]
        if len(values) > 1:  # the form of one direction is a function of that direction
            forms.append(frame @ (vectors * (values / np.abs(values).max())) @ vectors.T @ frame.T)
        for i, j in _pairs(few, e):
            products.setdefault((i, j), (*_named(i, j, continuous), *_origin(few[:, i], few[:, j], e)))
        if (found or products) and len(continuous) <= _MAX_RATIO_COLUMNS:
            ratios |= dict.fromkeys(_ratios(few + shift[continuous], e))
    if not (directions or products or ratios or forms):
        return None
    stacked = np.column_stack(directions) if directions else np.zeros((z.shape[1], 0))
    named = tuple(_named(i, j, continuous) for i, j in ratios)
    return DerivedColumns(stacked, tuple(products.values()), named, tuple(forms), shift)


def _named(i: int, j: int, columns: np.ndarray) -> tuple[int, int]:
    return int(columns[i]), int(columns[j])


def _least_squares_direction(w: np.ndarray, target: np.ndarray, e: np.ndarray) -> list[np.ndarray]:
    """Return the least-squares direction if e is a function of it."""
    direction = w.T @ (target - target.mean())
    size = float(np.sqrt(np.square(direction).sum()))
    if size < 1e-12 * len(w):
        return []
    direction /= size
    angle = np.pi * (stats.rankdata(w @ direction) - 0.5) / len(w)
    waves = np.sqrt(2.0) * np.cos(angle[:, None] * _SHAPES)
    statistic = np.square(waves.T @ e).sum() / np.square(e).sum()
    return [direction] if stats.chi2.sf(statistic, len(_SHAPES)) < _CHANCE else []


def _standing_out(w: np.ndarray, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of ``Σ e w w'`` that exceed those of permuted e, largest first, and vectors."""
    rng = np.random.default_rng(len(w))  # fixed: what is found must not depend on the test's seed
    noise = max(
        np.abs(linalg.eigvalsh(_hessian(w, rng.permutation(e)), check_finite=False)).max()
        for _ in range(_PERMUTATIONS)
    )
    values, vectors = linalg.eigh(_hessian(w, e), check_finite=False)
    order = np.argsort(-np.abs(values))
    order = order[np.abs(values[order]) > _ABOVE_PERMUTED * noise]
    return values[order], vectors[:, order]


def _hessian(w: np.ndarray, e: np.ndarray) -> np.ndarray:
    return (w * e[:, None]).T @ w


def _pairs(z: np.ndarray, e: np.ndarray) -> list[tuple[int, int]]:
    """Return the pairs of columns with whose product e is clearly correlated, strongest first."""
    spread = np.sqrt(np.square(z * e[:, None]).T @ np.square(z))
    scores = np.triu(np.abs((z * e[:, None]).T @ z) / np.maximum(spread, 1e-300), 1)
    bound = stats.norm.isf(_CHANCE / (z.shape[1] * (z.shape[1] - 1)))
    return _strongest(scores, bound, _MAX_PAIRS)


def _origin(first: np.ndarray, second: np.ndarray, e: np.ndarray) -> tuple[float, float]:
    """Return the values a and b for which e follows the sign of (first - a) (second - b) most closely."""
    cuts = [np.quantile(column, _CUTS) for column in (first, second)]
    cell = [np.searchsorted(cut, column) for cut, column in zip(cuts, (first, second), strict=True)]
    sums = np.zeros((len(_CUTS) + 1,) * 2)
    np.add.at(sums, tuple(cell), e)
    below = sums.cumsum(axis=0).cumsum(axis=1)
    both, one, other = below[:-1, :-1], below[:-1, -1:], below[-1:, :-1]
    a, b = np.unravel_index(np.argmax(np.abs(2.0 * both - one - other)), both.shape)
    return float(cuts[0][a]), float(cuts[1][b])


def _ratios(raw: np.ndarray, e: np.ndarray) -> list[tuple[int, int]]:
    """Return the pairs of columns with whose ratio e is clearly correlated."""
    d = raw.shape[1]
    scores = np.zeros((d, d))
    for i, j in zip(*np.nonzero(~np.eye(d, dtype=bool)), strict=True):
        ratio = _with_short_tails(_ratio(raw[:, i], raw[:, j]))
        product = (ratio - ratio.mean()) * e
        scores[i, j] = np.abs(product.sum()) / max(np.sqrt(np.square(product).sum()), 1e-300)
    return _strongest(scores, stats.norm.isf(_CHANCE / (2 * d * (d - 1))), _MAX_RATIOS)


def _strongest(scores: np.ndarray, bound: float, count: int) -> list[tuple[int, int]]:
    order = np.argsort(-scores, axis=None)[:count]
    rows, columns = np.unravel_index(order, scores.shape)
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if scores[i, j] > bound]
