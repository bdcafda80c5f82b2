"""Least squares without an inverse: bases of column spaces and residuals from them."""

from __future__ import annotations

import numpy as np

__all__ = ["orthonormal_basis", "residuals", "unit_columns"]

RANK_TOLERANCE = 1e-10
"""Share of a column's length below which what is left of it is rounding."""


def unit_columns(values: np.ndarray) -> np.ndarray:
    """Centre each column and scale it to length one; a constant column becomes zero.

    Parameters
    ----------
    values
        Array of shape (n, p).
    """
    centred = values - values.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    usable = length > RANK_TOLERANCE * np.sqrt(len(values)) * np.abs(values).max(axis=0)
    return np.where(usable, centred / np.where(usable, length, 1.0), 0.0)


def orthonormal_basis(columns: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the span of `columns`, whose lengths are at most one; shape (n, rank).

    Parameters
    ----------
    columns
        Array of shape (n, p); directions shorter than the rank tolerance count as rounding.
    """
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    return u[:, s > RANK_TOLERANCE * max(columns.shape[1], 1)]


def residuals(columns: np.ndarray, basis: np.ndarray | None) -> np.ndarray:
    """What is left of `columns` after projecting off an orthonormal basis.

    Parameters
    ----------
    columns
        Array of shape (n, p).
    basis
        Orthonormal columns, shape (n, k); None leaves `columns` as they are.
    """
    if basis is None or basis.shape[1] == 0:
        return columns
    left = columns - basis @ (basis.T @ columns)
    # Once is not enough: projecting twice removes what rounding of the first projection brought back.
    return left - basis @ (basis.T @ left)
