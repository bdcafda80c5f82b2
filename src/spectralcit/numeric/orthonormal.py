"""An orthonormal basis of what least squares removes."""

from __future__ import annotations

import numpy as np
from scipy import linalg

__all__ = ["orthonormal_columns"]


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
