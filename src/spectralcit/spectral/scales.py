"""Scales of residuals given Z, for those columns where they clearly depend on Z."""

from __future__ import annotations

import numpy as np

from ..numeric.grouped import standard_error

__all__ = ["log_squares", "scale_where_clear"]


def log_squares(residuals: np.ndarray) -> np.ndarray:
    """Return logarithms of squared residuals, bounded where a residual is tiny."""
    floor = 0.05 * np.median(np.square(residuals), axis=0)
    return np.log(np.square(residuals) + np.maximum(floor, 1e-300))


def scale_where_clear(
    log_square: np.ndarray, left: np.ndarray, clusters: np.ndarray | None = None
) -> np.ndarray:
    """Return the scales that fits of `log_squares` predict, given what these leave out of sample."""
    centred = log_square - log_square.mean(axis=0)
    gain = np.square(centred) - np.square(left)
    clear = gain.mean(axis=0) > 2.0 * standard_error(gain, clusters)
    fitted = np.clip(centred - left, -6.0, 6.0)
    return np.where(clear, np.exp(fitted / 2.0), 1.0)
