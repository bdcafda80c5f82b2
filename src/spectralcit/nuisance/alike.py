"""Whether residuals of X go with residuals of Y in *other* rows that are alike in Z.

Rows are independent, so what is left of X in one row can go with what is left of Y in another row only
through Z. With residuals f of X and g of Y and a kernel K of Z, the sum of ``f_i K_ij g_j`` over pairs of
different rows has mean zero however strongly X and Y depend, unless something that Z explains is left on
*both* sides, which is what makes a test of independence given Z wrong. Looking at both sides at once is
allowed because nothing follows from the answer but a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import comb

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.stats import rankdata

from ..numeric.linear import orthonormal_columns
from .maps import normal_scores

__all__ = ["MOST_ROWS", "RowsAlike", "alike_across_rows"]

MOST_ROWS = 1500  # by hand: matrices of 18 MB; what Z leaves does little harm if so many rows do not show it
_ROWS_PER_ROOT = (
    7.0  # of the number of functions in a kernel: with fewer, none could stand out by four errors
)
_NARROW = (0.25, 0.1, 0.04)  # by hand: widths of kernels in up to three columns, of the median distance
_WIDE = (0.5,)  # likewise in more columns, where all distances are nearly the same
_FEW_COLUMNS = 3  # rows fill small neighbourhoods in so many columns and in no more
_CLASSES = (8, 24)  # by hand: of a column's ranks: coarse ones hold many rows, fine ones follow fast changes
_TYPICAL_ROWS = 100  # evenly through the table: enough for a median of distances
_LEAST_KEPT = 0.1  # a row that decides nine tenths of its own prediction has no residual to speak of


def alike_across_rows(
    z: np.ndarray, f: np.ndarray, g: np.ndarray, removal: np.ndarray | None = None
) -> float:
    """Return by how many standard errors f and g agree across rows alike in Z, for the kernel where most.

    `removal` is what took Z out of both: ``R_x R_y'`` if f is R_x times noise and g is R_y times noise; by
    default, and with more than 1500 rows, of which a part is then looked at, least squares on Z.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z, own, other = rng.standard_normal((500, 5)), *rng.standard_normal((2, 500))
    >>> bool(alike_across_rows(z, own, own + other) < 3.5)
    True
    >>> parity = np.sign(z[:, :3].prod(axis=1))
    >>> bool(alike_across_rows(z, parity + own, parity + other) > 3.5)
    True
    """
    return RowsAlike(z)(f, g, removal)


class RowsAlike:
    """The same for one Z and many pairs of residuals: its kernels are made once, when they are first used."""

    def __init__(self, z: np.ndarray) -> None:
        self._z = z

    @cached_property
    def _rows(self) -> np.ndarray | slice:
        n = len(self._z)  # the generator is fixed: no lottery by the seed
        if n <= MOST_ROWS:
            return slice(None)
        return np.random.default_rng(n).choice(n, MOST_ROWS, replace=False)

    @cached_property
    def _columns(self) -> np.ndarray:
        z = self._z[self._rows]
        return z[:, z.std(axis=0) > 0]

    @cached_property
    def _basis(self) -> np.ndarray:
        return orthonormal_columns(self._columns)

    @cached_property
    def _kernels(self) -> list[np.ndarray]:
        scores = normal_scores(self._columns)
        return list(_kernels(scores / scores.std(axis=0)))

    def __call__(self, f: np.ndarray, g: np.ndarray, removal: np.ndarray | None = None) -> float:
        """See `alike_across_rows`."""
        n, basis = len(self._columns), self._basis
        if self._columns.shape[1] == 0 or basis.shape[1] > n // 2:
            return 0.0
        if len(f) > n:
            removal = None
        f, g = (column - basis @ (basis.T @ column) for column in (f[self._rows], g[self._rows]))
        removal = np.eye(n) - basis @ basis.T if removal is None else removal
        return max(_agreement(kernel, basis, removal, f, g) for kernel in self._kernels)


def _agreement(
    kernel: np.ndarray, basis: np.ndarray, removal: np.ndarray, f: np.ndarray, g: np.ndarray
) -> float:
    """Return the sum over pairs of different rows in its standard errors.

    Removing Z made residuals of different rows dependent where X and Y are: the mean of ``f_i g_j`` is then
    that of ``f_k g_k`` times ``removal_ij / removal_kk``, and is subtracted. The standard error is that of
    noise outside the span of the linear part P of Z; the norm of (I - PP') K (I - PP') follows from P'K.
    Where one side alone has something of Z left, the sum varies more; given that side its variance is known.
    """
    products = f * g
    both = np.column_stack([f, g])
    smoothed = kernel @ both
    expected = np.einsum("ij,ij->i", kernel, removal) / np.maximum(np.diag(removal), _LEAST_KEPT)
    total = f @ smoothed[:, 1] - expected @ products
    seen = basis.T @ kernel
    twice = seen @ basis
    own = np.diag(kernel) - np.einsum("ij,ij->i", basis, 2.0 * seen.T - basis @ twice)
    squared = np.square(kernel)
    norm = squared.sum() - 2.0 * np.square(seen).sum() + np.square(twice).sum()
    np.fill_diagonal(squared, 0.0)
    rows, of_g, of_products = (squared @ np.column_stack([np.ones(len(f)), np.square(g), products])).T
    spread = (np.square(f) @ of_g + products @ of_products) / max(rows.sum(), 1e-300)
    variance = spread * max(norm - np.square(own).sum(), 0.0)
    weights = smoothed - basis @ (seen @ both) - own[:, None] * both
    given = np.square(weights).T @ np.square(both)  # the variance given one side is off the diagonal
    variance = max(variance, given[0, 1], given[1, 0])
    return float(total / np.sqrt(variance)) if variance > 0.0 else 0.0


def _kernels(z: np.ndarray) -> Iterator[np.ndarray]:
    """Yield kernels of standard columns: products of columns and of their signs, then neighbourhoods."""
    n, d = z.shape
    if _can_stand_out(n, comb(d, 2)):
        square = np.square(z)
        yield np.square(z @ z.T) - square @ square.T
    if _can_stand_out(n, comb(d, 3)):
        signs = np.where(z > 0, 1.0, -1.0)
        alike = signs @ signs.T
        # Sums over products of three and of four different columns, by Newton's identities.
        three = alike * (np.square(alike) - (3 * d - 2))
        yield three
        if _can_stand_out(n, comb(d, 4)):
            yield alike * three - 3 * (d - 2) * (np.square(alike) - d)
    distance = squareform(pdist(z, "sqeuclidean"))
    typical = max(float(np.median(distance[:: max(1, n // _TYPICAL_ROWS)])), 1e-300)
    for width in _NARROW if d <= _FEW_COLUMNS else _WIDE:
        yield np.exp(distance / (-2.0 * width**2 * typical))
    for classes in _CLASSES if d > 1 else ():
        if _can_stand_out(n, comb(d, 2) * (classes - 1) ** 2):
            yield from _in_the_same_classes(z, classes)


def _can_stand_out(n: int, functions: int) -> bool:
    return functions > 0 and n >= _ROWS_PER_ROOT * np.sqrt(functions)


def _in_the_same_classes(z: np.ndarray, classes: int) -> Iterator[np.ndarray]:
    """Yield sums over columns, and over pairs of columns, of "same class" less its mean.

    Both follow from the number of columns in which two rows are in the same class.
    """
    n, d = z.shape
    codes = ((rankdata(z, axis=0) - 0.5) / n * classes).astype(int)
    indicators = (codes[:, :, None] == np.arange(classes)).reshape(n, -1).astype(float)
    same = indicators @ indicators.T
    one = same - d / classes
    yield one
    yield np.square(one) - same * (1.0 - 2.0 / classes) - d / classes**2
