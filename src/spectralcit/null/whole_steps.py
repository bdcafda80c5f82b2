"""Sums that grow by whole steps, as numbers of pairs of rare events do, and normal variables like them.

Where few pairs are expected, their number has Poisson's tail and not a normal one: seven pairs where 1.7 were
expected are four standard deviations, and as surprising as 2.8.
"""

from __future__ import annotations

import numpy as np
from scipy import special

__all__ = ["as_normal", "expected_steps"]

_TINY_STEP = 1e-6  # relative to variance over deviation: the root of the deviance would be rounding


def as_normal(total: np.ndarray, variance: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return what a normal variable with this variance has to be to surprise as much as these sums.

    A Poisson variable that counts steps has the sum's second and third moments, if `step` is their ratio
    (negative, if the lower tail is the long one). The signed root of its deviance is nearly normal, a little
    on the cautious side, if half a step is taken off before (Yates). Without a step a sum stays as it is.

    Examples
    --------
    >>> from scipy import stats
    >>> expected, seen = 1.67, 7
    >>> z = as_normal(np.array([seen - expected]), np.array([expected]), np.array([1.0])) / np.sqrt(expected)
    >>> f"{stats.poisson.sf(seen - 1, expected):.4f} {stats.norm.sf(z[0]):.4f}"
    '0.0017 0.0023'
    """
    between = np.sign(total) * np.maximum(np.abs(total) - np.abs(step) / 2.0, 0.0)
    excess = np.divide(step * between, variance, out=np.zeros_like(between), where=variance > 0)
    excess = np.maximum(excess, -1.0)  # fewer than none cannot be
    deviance = special.xlogy(1.0 + excess, 1.0 + excess) - excess
    counted = np.abs(excess) > _TINY_STEP
    root = np.sqrt(2.0 * np.maximum(deviance, 0.0)) * variance
    between[variance <= 0] = 0.0  # nothing varies, so nothing surprises
    equivalent = np.divide(root, np.abs(step), out=np.abs(between), where=counted)
    return np.sign(total) * equivalent


def expected_steps(variance: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return the mean of a Poisson number of such steps with this variance; infinite without a step."""
    return np.divide(
        variance, np.square(step), out=np.full_like(variance, np.inf), where=(step != 0) & (variance > 0)
    )
