"""Least squares without an inverse: bases of column spaces and residuals from them."""

from __future__ import annotations

import numpy as np
from scipy import linalg

__all__ = [
    "effective_dimensions",
    "independent_columns",
    "orthonormal_basis",
    "orthonormal_columns",
    "residuals",
    "unit_columns",
]

# Share of a column's length below which what is left of it is rounding. By hand.
_RANK_TOLERANCE = 1e-10


def unit_columns(values: np.ndarray) -> np.ndarray:
    """Centre each column and scale it to length one; a constant column becomes zero."""
    centred = values - values.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    usable = length > _RANK_TOLERANCE * np.sqrt(len(values)) * np.abs(values).max(axis=0)
    return np.where(usable, centred / np.where(usable, length, 1.0), 0.0)


def orthonormal_basis(columns: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the span of `columns`, whose lengths are at most one; shape (n, rank)."""
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    return u[:, s > _RANK_TOLERANCE * max(columns.shape[1], 1)]


def orthonormal_columns(columns: np.ndarray, root: np.ndarray | None = None) -> np.ndarray:
    """Return an orthonormal basis of the span of the intercept and `columns`; collinear ones are dropped.

    With roots of weights, all rows are multiplied by these first.

    Examples
    --------
    >>> basis = orthonormal_columns(np.array([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]]))
    >>> basis.shape, bool(np.allclose(basis.T @ basis, np.eye(2)))
    ((3, 2), True)
    """
    design = np.column_stack([np.ones(len(columns)), columns])
    if root is not None:
        design *= root[:, None]
    q, r, _ = linalg.qr(design, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(r))
    return q[:, diagonal > 1e-8 * diagonal[0]]


def residuals(columns: np.ndarray, basis: np.ndarray | None) -> np.ndarray:
    """What is left of `columns` after projecting off an orthonormal basis."""
    if basis is None or basis.shape[1] == 0:
        return columns
    left = columns - basis @ (basis.T @ columns)
    # Once is not enough: projecting twice removes what rounding of the first projection brought back.
    return left - basis @ (basis.T @ left)


def effective_dimensions(moments: np.ndarray) -> float:
    """Return how many directions second moments have: of k that matter alike, k.

    Examples
    --------
    >>> effective_dimensions(np.diag([2.0, 2.0, 2.0, 0.0]))
    3.0
    """
    return float(np.trace(moments) ** 2 / max(np.square(moments).sum(), 1e-300))


def independent_columns(columns: np.ndarray) -> float:
    """Return about how many independent columns vary as these do together; of one, exactly one.

    Examples
    --------
    >>> copied = np.repeat(np.random.default_rng(0).standard_normal((50, 1)), 4, axis=1)
    >>> round(independent_columns(copied), 6)
    1.0
    """
    small = columns.T @ columns if columns.shape[1] <= len(columns) else columns @ columns.T
    return effective_dimensions(small)
