"""Variances given Z, and what products of rare events vary by, which the products seen do not tell.

Of two events that one row in fifty has, a thousand rows hold no pair, or one: without a pair the squares of
their products are far too small, with one far too large. Under the null hypothesis the squares of one column
have the variance of the other, given Z, as a factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..nuisance import NuisanceFit

__all__ = [
    "IndependentRows",
    "are_rare",
    "expected_variance",
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
    """Return the means of squares given Z, by columns."""
    return within_range(square - fit.remove(square), square.mean(axis=0))


@dataclass(frozen=True, eq=False)
class IndependentRows:
    """Rows whose products vary as those of columns do that are independent given Z."""

    left: np.ndarray
    right: np.ndarray
    left_variance: np.ndarray  # given Z, by rows and columns

    @property
    def right_variance(self) -> np.ndarray:
        """Squares of `right`: given these columns only the others vary."""
        return np.square(self.right)

    @property
    def variances_of_sums(self) -> np.ndarray:
        """Of the sums of products of each left and each right column."""
        return self.left_variance.T @ self.right_variance


def rows_of_independent(
    left: np.ndarray, right: np.ndarray, fit: NuisanceFit, order: np.ndarray
) -> IndependentRows:
    """Return, in front of the right columns, rows of random but fixed signs instead of the left ones.

    They are as large as the left columns' variances given Z, and correlated as these columns are. Rows get
    them in the given order, which must follow from their values.
    """
    variance = expected_variance(np.square(left), fit)
    signs = np.empty_like(left)
    signs[order] = _signs_like(left)
    return IndependentRows(signs * np.sqrt(variance), right, variance)


def _signs_like(columns: np.ndarray) -> np.ndarray:
    """Return random signs, mixed so that they are correlated as the columns are; of one column, signs."""
    signs = np.random.default_rng(_SIGN_SEED).choice(np.array([-1.0, 1.0]), size=columns.shape)
    moments = columns.T @ columns
    size = np.sqrt(np.maximum(np.diag(moments), 1e-300))
    values, vectors = linalg.eigh(moments / np.outer(size, size))
    return (signs @ vectors) * np.sqrt(np.maximum(values, 0.0)) @ vectors.T


def steps_of_pairs(left: np.ndarray, right: np.ndarray, counted: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return by how much sums of products grow with a pair; zero unless both columns are `counted` by pairs.

    The ratio of third to second moments: of two events about what one pair adds.
    """
    sizes = [mask * _typical_size(columns) for columns, mask in zip((left, right), counted, strict=True)]
    return np.outer(*sizes)


def _typical_size(columns: np.ndarray) -> np.ndarray:
    """Return the third moment of each column over its second: of a rare event, the size of the event."""
    square = np.square(columns)
    return (square * columns).sum(axis=0) / np.maximum(square.sum(axis=0), 1e-300)
