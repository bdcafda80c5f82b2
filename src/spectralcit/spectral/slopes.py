"""Regressions of partners on the noise of X: taken out before signs are put in front of their products."""

from __future__ import annotations

import numpy as np

__all__ = ["one_row_decides", "without_slopes"]

_LEVERAGE_CAP = 0.9  # by hand: a slope that one row decides is left where it is


def one_row_decides(noise: np.ndarray) -> bool:
    """Tell whether the slope on some column of noise is that of a single row."""
    return bool(_leverages(noise).max() > _LEVERAGE_CAP)


def without_slopes(noise: np.ndarray, partner: np.ndarray) -> np.ndarray:
    """Take out of partners their regressions on the noise, and give back the variance that this takes.

    The signs then imitate what would be left if there were no dependence; with it, products are more
    variable than under the null hypothesis, and the p-value of a clear effect in few rows would be five
    times as large. The noise is one column for all partners, or one for each.
    """
    square = np.maximum(np.square(noise).sum(axis=0), 1e-300)
    left = partner - noise * ((noise * partner).sum(axis=0) / square)
    return left / np.sqrt(1.0 - np.minimum(_leverages(noise), _LEVERAGE_CAP))


def _leverages(noise: np.ndarray) -> np.ndarray:
    """Return how much each row decides the slope on the noise, by columns; zero without noise."""
    square = np.square(noise)
    return square / np.maximum(square.sum(axis=0), 1e-300)
