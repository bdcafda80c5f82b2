"""Variances given Z, and what products of rare events vary by, which the products seen do not tell.

Of two events that one row in fifty has, a thousand rows hold no pair, or one: without a pair the squares of
their products are far too small, with one far too large. Under the null hypothesis their mean is the product
of the two variances given Z.
"""

from __future__ import annotations

import numpy as np

from ..nuisance import NuisanceFit

__all__ = ["are_rare", "expected_variance", "rare_columns", "rows_of_independent", "within_range"]

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


def rows_of_independent(
    left: np.ndarray, right: np.ndarray, fit: NuisanceFit
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows whose products vary as those of two columns do that are independent given Z.

    Sizes are the roots of the variances given Z, signs are random but fixed.
    """
    first, second = (np.sqrt(expected_variance(np.square(column), fit)) for column in (left, right))
    signs = np.random.default_rng(_SIGN_SEED).choice(np.array([-1.0, 1.0]), size=left.shape)
    return signs * first, second
