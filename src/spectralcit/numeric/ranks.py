"""Ranks of columns as angles, of whose multiples the cosines are orthogonal."""

from __future__ import annotations

import numpy as np
from scipy import stats

__all__ = ["rank_angles"]


def rank_angles(values: np.ndarray) -> np.ndarray:
    """Return each column's mid-ranks, spread over (0, π)."""
    return np.pi * (stats.rankdata(values, axis=0) - 0.5) / len(values)
