"""Whitening: turn features into features whose sample covariance is the identity.

Everything here is float64 NumPy and goes through ``eigh``; no matrix is ever
inverted. The same functions serve the published test and anything else that
needs an inverse square root of a covariance matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError

FloatArray = NDArray[np.float64]

#: Weight of the identity mixed into a covariance before it is whitened. It is
#: large enough to survive a dead feature (variance exactly zero) and small
#: enough to be invisible for any feature that carries signal.
SHRINKAGE = 1e-6


def covariance(features: FloatArray) -> FloatArray:
    """Covariance of the columns, normalised by ``n`` as in the paper.

    Examples
    --------
    >>> import numpy as np
    >>> covariance(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    array([[1., 0.],
           [0., 0.]])
    """
    centred = features - features.mean(axis=0)
    return np.asarray(centred.T @ centred / features.shape[0], dtype=np.float64)


def condition_number(symmetric: FloatArray) -> float:
    """Ratio of the extreme eigenvalues of a positive semi-definite matrix.

    Eigenvalues below the rounding error of the matrix count as that rounding
    error, so a singular matrix has a large finite condition number and the
    value can always be stored as JSON.

    Examples
    --------
    >>> import numpy as np
    >>> condition_number(np.diag([4.0, 2.0]))
    2.0
    """
    eigenvalues = np.linalg.eigvalsh(symmetric)
    largest = max(float(eigenvalues[-1]), np.finfo(np.float64).tiny)
    rounding = largest * np.finfo(np.float64).eps
    return largest / max(float(eigenvalues[0]), rounding)


def distance_to_identity(symmetric: FloatArray) -> float:
    """Spectral norm of ``C - I``, one term of the paper's validation error.

    Examples
    --------
    >>> import numpy as np
    >>> distance_to_identity(np.diag([1.5, 0.75]))
    0.5
    """
    eigenvalues = np.linalg.eigvalsh(symmetric)
    return float(np.max(np.abs(eigenvalues - 1.0)))


@dataclass(frozen=True)
class Whitener:
    """The affine map ``f -> (f - mean) C^{-1/2}`` learned from one sample.

    Attributes
    ----------
    mean : array of shape (d,)
        Mean of the features it was fitted on.
    inverse_root : array of shape (d, d)
        Symmetric inverse square root of ``(1 - s) C + s I``, ``s`` the shrinkage.
    condition_before, condition_after : float
        Condition number of the covariance of the features, and of the
        whitened features, both on the sample it was fitted on.

    Examples
    --------
    >>> import numpy as np
    >>> features = np.random.default_rng(0).normal(size=(500, 3)) @ np.diag([9.0, 1.0, 0.1])
    >>> white = Whitener.fit(features).transform(features)
    >>> bool(np.allclose(covariance(white), np.eye(3), atol=1e-3))
    True

    References
    ----------
    .. [1] SpectralCIT paper, section 3, "Whitening post-processing".
    """

    mean: FloatArray
    inverse_root: FloatArray
    condition_before: float
    condition_after: float

    @classmethod
    def fit(cls, features: FloatArray, shrinkage: float = SHRINKAGE) -> Whitener:
        """Learn the map from the rows of ``features`` (n, d)."""
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
        # Without shrinkage a rank-deficient covariance has eigenvalues that are
        # zero up to rounding, possibly negative; the floor keeps the root real.
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
        """Whiten rows with the mean and root learned by :meth:`fit`."""
        return np.asarray(
            (np.asarray(features, dtype=np.float64) - self.mean) @ self.inverse_root,
            dtype=np.float64,
        )
