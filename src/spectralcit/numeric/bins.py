"""Bins of one column with about equal counts, and how much of another column lies between bins."""

from __future__ import annotations

import numpy as np
from scipy import stats

__all__ = ["bin_codes", "explained_share"]

_MOST_BINS = 12  # by hand: enough to follow a bend, few enough for steady means
_ROWS_PER_BIN = 15  # by hand: fewer have hardly a mean to speak of


def bin_codes(values: np.ndarray) -> np.ndarray:
    """Number the bins from zero without gaps; equal values share one, and few distinct values have one each.

    Examples
    --------
    >>> np.bincount(bin_codes(np.arange(100.0))).tolist(), bin_codes(np.array([5, 1, 5])).tolist()
    ([17, 16, 17, 17, 16, 17], [1, 0, 1])
    """
    most = int(np.clip(len(values) // _ROWS_PER_BIN, 2, _MOST_BINS))
    distinct = np.unique(values)
    if len(distinct) <= most:
        return np.searchsorted(distinct, values)
    ranks = stats.rankdata(values, method="average")
    codes = np.floor((ranks - 0.5) / len(values) * most).astype(int)
    return np.unique(codes, return_inverse=True)[1]


def explained_share(codes: np.ndarray, target: np.ndarray) -> float:
    """Share of the target's variance that lies between bins, corrected for their number."""
    counts = np.bincount(codes)
    means = np.bincount(codes, target - target.mean()) / counts
    between = float(counts @ np.square(means)) / max(float(len(target) * target.var()), 1e-300)
    return 1.0 - (1.0 - between) * (len(target) - 1) / max(len(target) - len(counts), 1)
