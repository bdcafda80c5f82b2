"""Whitening: turn features into features whose sample covariance is the identity.

Everything here is float64 NumPy and goes through ``eigh``; no matrix is ever inverted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError

__all__ = ["SHRINKAGE", "FloatArray", "Whitener", "condition_number", "covariance", "distance_to_identity"]

FloatArray = NDArray[np.float64]

# Weight of the identity mixed into a covariance before it is whitened. By hand: large enough to survive a
# dead feature (variance exactly zero), and invisible for any feature that carries signal.
SHRINKAGE = 1e-6


def covariance(features: FloatArray) -> FloatArray:
    """Covariance of the columns, normalised by ``n`` as in the paper."""
    centred = features - features.mean(axis=0)
    return np.asarray(centred.T @ centred / len(features), dtype=np.float64)


def condition_number(symmetric: FloatArray) -> float:
    """Ratio of the extreme eigenvalues of a positive semi-definite matrix, finite also for a singular one."""
    eigenvalues = np.linalg.eigvalsh(symmetric)
    largest = max(float(eigenvalues[-1]), np.finfo(np.float64).tiny)
    # Smaller eigenvalues count as the rounding error of the matrix, so that JSON can store the ratio.
    rounding = largest * np.finfo(np.float64).eps
    return largest / max(float(eigenvalues[0]), rounding)


def distance_to_identity(symmetric: FloatArray) -> float:
    """Spectral norm of ``C - I``, one term of the paper's validation error."""
    eigenvalues = np.linalg.eigvalsh(symmetric)
    return float(np.max(np.abs(eigenvalues - 1.0)))


@dataclass(frozen=True)
class Whitener:
    """The affine map f -> (f - mean) C^(-1/2) learned from one sample (section 3 of the SpectralCIT paper).

    `inverse_root` is symmetric, that of (1 - s) C + s I with the shrinkage s; the condition numbers are those
    of the covariance before and after whitening, on the sample it was fitted on.
    """

    mean: FloatArray
    inverse_root: FloatArray
    condition_before: float
    condition_after: float

    @classmethod
    def fit(cls, features: FloatArray, shrinkage: float = SHRINKAGE) -> Whitener:
        """Learn the map from features of shape (n, d)."""
        if not 0.0 <= shrinkage < 1.0:
            raise ParameterError(
                f"shrinkage is {shrinkage!r}; it mixes the identity into a covariance and must be"
                " at least 0 and below 1."
            )
        features = np.asarray(features, dtype=np.float64)
        raw = covariance(features)
        dimension = raw.shape[0]
        mixed = (1.0 - shrinkage) * raw + shrinkage * np.eye(dimension)
        eigenvalues, vectors = np.linalg.eigh(mixed)
        # Without shrinkage a rank-deficient covariance has eigenvalues that are zero up to rounding, possibly
        # negative; the floor keeps the root real.
        floor = max(float(eigenvalues[-1]), 1.0) * np.finfo(np.float64).eps
        eigenvalues = np.maximum(eigenvalues, floor)
        inverse_root = (vectors / np.sqrt(eigenvalues)) @ vectors.T
        return cls(
            mean=features.mean(axis=0),
            inverse_root=inverse_root,
            condition_before=condition_number(raw),
            condition_after=condition_number(inverse_root @ raw @ inverse_root),
        )

    def transform(self, features: FloatArray) -> FloatArray:
        """Whiten rows with the mean and root learned by `fit`."""
        return (np.asarray(features, dtype=np.float64) - self.mean) @ self.inverse_root
