"""Variances given Z, and what products of rare events vary by, which the products seen do not tell.

Of two events that one row in fifty has, a thousand rows hold no pair, or one: without a pair the squares of
their products are far too small, with one far too large. Under the null hypothesis the squares of one column
have the variance of the other, given Z, as a factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..inputs import RowDesign
from ..nuisance import NuisanceFit
from ..numeric.grouped import numbered_in, sums_by_group

__all__ = [
    "IndependentRows",
    "are_rare",
    "expected_variance",
    "products_by_row",
    "rare_columns",
    "rows_of_independent",
    "steps_of_pairs",
    "within_range",
]

# By hand: of a variance given Z, relative to its mean. Fits can go astray; the variance of counts does grow
# twentyfold with Z, and what is cut off there would be taken for dependence.
_VARIANCE_RANGE = (0.25, 25.0)
# By hand: kurtosis. Continuous columns stay below, as their residuals are cut at four standard deviations;
# events of one row in eight and rarer ones, and counts that are mostly zero, are above.
_RARE_KURTOSIS = 6.0
_CELLS = 4_000_000  # of products of rows at a time: 32 MB
_SIGN_SEED = 20_261_118  # any number: the same signs for every data set


def are_rare(*groups: np.ndarray) -> bool:
    """Tell whether few rows make up the variance of one of several groups of features.

    Examples
    --------
    >>> event = np.zeros((100, 1))
    >>> event[:5] = 1.0
    >>> normal = np.random.default_rng(0).standard_normal((100, 1))
    >>> are_rare(normal), are_rare(normal, event - event.mean())
    (False, True)
    """
    return any(bool(_stand_out(np.square(group).sum(axis=1))) for group in groups)


def rare_columns(columns: np.ndarray) -> np.ndarray:
    """Tell the same of each of many columns."""
    return _stand_out(np.square(columns))


def _stand_out(square: np.ndarray) -> np.ndarray:
    return np.square(square).mean(axis=0) > _RARE_KURTOSIS * np.square(square.mean(axis=0))


def within_range(variance: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Keep fitted variances given Z within a factor of their mean: fits can go astray."""
    low, high = (factor * mean for factor in _VARIANCE_RANGE)
    return np.clip(variance, low, high)


def expected_variance(square: np.ndarray, fit: NuisanceFit) -> np.ndarray:
    """Return the means of squares given Z, by columns.

    Squares of rows that were multiplied by the roots of their weights, and so the means, have the weights as
    a factor. Weights may say something about a column that Z does not: those that count cases less than
    controls do. So they are scaled to agree with the squares in the variance of a weighted sum.
    """
    root = _root(fit.design)
    weights = np.square(root)
    free = square / weights
    mean = square.mean(axis=0) / np.mean(weights)
    given = weights * within_range(free - fit.remove(free) / root, mean)
    if not isinstance(root, np.ndarray):
        return given
    return given * ((weights * square).sum(axis=0) / np.maximum((weights * given).sum(axis=0), 1e-300))


def _root(design: RowDesign | None) -> np.ndarray | float:
    return 1.0 if design is None or design.root is None else design.root[:, None]


@dataclass(frozen=True, eq=False)
class IndependentRows:
    """Rows whose products vary as those of columns do that are independent given Z."""

    left: np.ndarray
    right: np.ndarray
    left_variance: np.ndarray  # given Z, by rows and columns
    shared: np.ndarray  # correlation of each left column in rows of one cluster; zero without clusters
    design: RowDesign | None

    def variances_of_sums(self, z_functions: np.ndarray | None = None) -> np.ndarray:
        """Of the sums of products of each left column with each right one, and with functions of Z.

        Rows of one cluster whose left values are correlated count together.
        """
        functions = np.ones((len(self.left), 1)) if z_functions is None else z_functions
        width = self.right.shape[1] * functions.shape[1]
        pieces = -(-len(self.left) * width // _CELLS)
        alone = sum(
            self.left_variance[rows].T @ np.square(products_by_row(self.right[rows], functions[rows]))
            for rows in np.array_split(np.arange(len(self.left)), pieces)
        )
        if not self.shared.any():
            return alone
        assert self.design is not None
        assert self.design.members is not None
        deviation = np.sqrt(self.left_variance)
        together = sum(
            np.square(deviation[rows].T @ products_by_row(self.right[rows], functions[rows]))
            for rows in self.design.members
        )
        return alone + self.shared[:, None] * (together - alone)


def rows_of_independent(
    left: np.ndarray, right: np.ndarray, fit: NuisanceFit, order: np.ndarray
) -> IndependentRows:
    """Return, in front of the right columns, rows of random but fixed signs instead of the left ones.

    They are as large as the left columns' variances given Z, and correlated as these columns are, also in
    rows of one cluster. Rows get them in the given order, which must follow from their values.
    """
    variance = expected_variance(np.square(left), fit)
    deviation = np.sqrt(variance)
    together = _correlations_in_clusters(left, deviation, fit.design)
    rng = np.random.default_rng(_SIGN_SEED)
    rows = np.empty_like(left)
    rows[order] = _mixed_signs(rng, len(left), _correlations(left) - together)
    if together.any():
        assert fit.design is not None
        assert fit.design.clusters is not None
        codes = numbered_in(order, fit.design.clusters)
        rows += _mixed_signs(rng, codes.max() + 1, together)[codes]
    return IndependentRows(rows * deviation, right, variance, np.diag(together), fit.design)


def _correlations(columns: np.ndarray) -> np.ndarray:
    moments = columns.T @ columns
    size = np.sqrt(np.maximum(np.diag(moments), 1e-300))
    return moments / np.outer(size, size)


def _correlations_in_clusters(
    columns: np.ndarray, deviation: np.ndarray, design: RowDesign | None
) -> np.ndarray:
    """Return the correlations between two rows of one cluster; zero where rows are independent."""
    none = np.zeros((columns.shape[1], columns.shape[1]))
    if design is None or design.clusters is None:
        return none
    sizes = np.bincount(design.clusters).astype(float)
    pairs = float((sizes * (sizes - 1.0)).sum())
    if pairs <= 0.0:
        return none
    unit = np.divide(columns, deviation, out=np.zeros_like(columns), where=deviation > 0)
    sums = sums_by_group(unit, design.clusters)
    values, vectors = linalg.eigh((sums.T @ sums - unit.T @ unit) / pairs)
    found = (vectors * np.maximum(values, 0.0)) @ vectors.T
    size = np.sqrt(np.maximum(np.diag(found), 1.0))  # no column is more than itself, whatever the others are
    return found / np.outer(size, size)


def _mixed_signs(rng: np.random.Generator, count: int, correlations: np.ndarray) -> np.ndarray:
    """Return rows of random signs, mixed so that columns have these correlations; of one column, signs."""
    signs = rng.choice(np.array([-1.0, 1.0]), size=(count, len(correlations)))
    values, vectors = linalg.eigh(correlations)
    return (signs @ vectors) * np.sqrt(np.maximum(values, 0.0)) @ vectors.T


def products_by_row(columns: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the products of each of the columns with each of the others."""
    return np.einsum("ni,nj->nij", columns, others).reshape(len(columns), -1)


def steps_of_pairs(
    left: np.ndarray,
    right: np.ndarray,
    counted: tuple[np.ndarray, np.ndarray],
    design: RowDesign | None = None,
) -> np.ndarray:
    """Return by how much sums of products grow with a pair; zero unless both columns are `counted` by pairs.

    The ratio of third to second moments: of two events about what one pair adds, in a typical row of those
    that weights let count most.
    """
    root = _root(design)
    sizes = [
        mask * _typical_size(columns * root) for columns, mask in zip((left, right), counted, strict=True)
    ]
    # Weights are a factor of both columns' moments, and once too often in their product.
    once = float((root**4).sum() / (root**6).sum()) if isinstance(root, np.ndarray) else 1.0
    return once * np.outer(*sizes)


def _typical_size(columns: np.ndarray) -> np.ndarray:
    """Return the third moment of each column over its second: of a rare event, the size of the event."""
    square = np.square(columns)
    return (square * columns).sum(axis=0) / np.maximum(square.sum(axis=0), 1e-300)
