"""Rows that are copies of other rows, more of them than rounded or few values explain."""

from __future__ import annotations

import numpy as np

__all__ = ["copied_rows"]

_LEAST_SHARE = 0.05  # of copies among the rows; by hand: each adds twice itself to the variance of a mean
_SURPRISE = 5.0  # standard errors above what neighbouring values show
_RICH = 30  # distinct values of a column by which copies can be told from ties; by hand
_MANY_KINDS = 12  # different rows, all there twice or more, equally often: by chance once in thousands


def copied_rows(rows: np.ndarray) -> int:
    """Number of rows to spare, if rows agree in all columns more often than their values make them; else 0.

    Rows that agree in the richest column are compared with rows whose values there are next to each other:
    if values are rounded, or depend on each other, both kinds agree in the other columns about as often.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(100, 3))
    >>> copied_rows(rows), copied_rows(np.vstack([rows, rows[:20]]))
    (0, 20)
    """
    n = len(rows)
    whole, counts = np.unique(_digest(rows), return_counts=True)
    spare = n - len(whole)
    if spare < _LEAST_SHARE * n:
        return 0
    common = int(np.gcd.reduce(counts))
    if common > 1 and len(whole) >= _MANY_KINDS:
        return n - n // common
    coded = [np.unique(column, return_inverse=True)[1].ravel() for column in rows.T]
    richest = int(np.argmax([codes.max() for codes in coded]))
    values = coded[richest]
    if values.max() < _RICH:
        return 0
    others = np.unique(_digest(np.delete(rows, richest, axis=1)), return_inverse=True)[1].ravel()
    stride = int(others.max()) + 1
    cells, in_cell = np.unique(values.astype(np.int64) * stride + others, return_counts=True)
    agreeing = (in_cell * (in_cell - 1.0)).sum() / 2
    next_cell = np.minimum(np.searchsorted(cells, cells + stride), len(cells) - 1)
    matched = np.where(cells[next_cell] == cells + stride, in_cell[next_cell], 0)
    sizes = np.bincount(values).astype(np.float64)
    rate = float(in_cell @ matched) / float(sizes[:-1] @ sizes[1:])
    expected = rate * (sizes * (sizes - 1)).sum() / 2
    excess = agreeing - expected
    return spare if excess > _SURPRISE * np.sqrt(expected + 1) and excess > _LEAST_SHARE * n else 0


def _digest(rows: np.ndarray) -> np.ndarray:
    """One number per row, equal for equal rows and for others hardly ever."""
    factors = np.random.default_rng(0).integers(1, 2**63, rows.shape[1], dtype=np.uint64) | np.uint64(1)
    bits = np.ascontiguousarray(rows + 0.0, dtype=np.float64).view(np.uint64)  # + 0.0: one zero only
    mixed = (bits ^ (bits >> np.uint64(29))) * factors
    return (mixed ^ (mixed >> np.uint64(31))).sum(axis=1, dtype=np.uint64)
