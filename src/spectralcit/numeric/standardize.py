"""Standardisation that is fitted on training rows and cannot overflow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import ParameterError

__all__ = ["CLIP", "CONSTANT_TOLERANCE", "Standardizer", "standardized"]

# Differences of this many units in the last place are what summing and rescaling leave behind, not data.
CONSTANT_TOLERANCE = 64 * np.finfo(np.float64).eps

# Largest absolute value after standardising. Only a row that was not in the training set can be that far out
# (a training row is at most sqrt(n) away). Clipping it keeps squares and single-precision networks finite.
CLIP = 1e6


@dataclass(frozen=True, eq=False)
class Standardizer:
    """Shift and scale of each column, learned from training rows.

    Use `fit` to make one. A column that is constant on the training rows, up to rounding, is centred and
    not scaled.

    Examples
    --------
    >>> train = np.array([[1e300], [3e300]])
    >>> Standardizer.fit(train).transform(train).ravel()
    array([-1.,  1.])
    """

    # A power of two near the largest magnitude of each column: dividing by it first is exact and keeps
    # squares from overflowing. Center and scale (with divisor n) are those of the column divided by it.
    unit: np.ndarray
    center: np.ndarray
    scale: np.ndarray

    @classmethod
    def fit(cls, train: np.ndarray) -> Standardizer:
        """Learn shift and scale from `train`."""
        train = np.asarray(train, dtype=np.float64)
        if train.ndim != 2 or train.shape[0] == 0:
            raise ParameterError(f"expected an array of shape (n, p) with n > 0, got {train.shape}")
        largest = np.abs(train).max(axis=0)
        unit = np.ldexp(1.0, np.frexp(largest)[1] - 1)
        scaled = train / unit
        center = scaled.mean(axis=0)
        scale = scaled.std(axis=0)
        constant = np.ptp(scaled, axis=0) <= CONSTANT_TOLERANCE * np.abs(scaled).max(axis=0)
        return cls(unit, center, np.where(constant, 1.0, scale))

    def transform(self, values: np.ndarray) -> np.ndarray:
        """Standardise `values` with what was learned; the result is finite and within ±`CLIP`."""
        with np.errstate(over="ignore"):  # what overflows is far beyond the clip anyway
            scaled = (np.asarray(values, dtype=np.float64) / self.unit - self.center) / self.scale
        return np.clip(scaled, -CLIP, CLIP)


def standardized(values: np.ndarray) -> np.ndarray:
    """Standardise the columns of `values` by their own mean and standard deviation."""
    return Standardizer.fit(values).transform(values)
