"""The most correlated pair of columns, for dependence between few of many columns.

Sums of squares over all pairs see dependence that is spread out; when one of 400 pairs depends, the other
399 drown it. The largest studentised pair sees it.
"""

from __future__ import annotations

import numpy as np

from ..null.normal import normal_sf
from .dictionary import SideFeatures, null_rows

__all__ = ["largest_pair_pvalue"]


def largest_pair_pvalue(x: SideFeatures, y: SideFeatures) -> float | None:
    """Return the Bonferroni p-value of the largest pair of linear features; ``None`` for a single pair.

    Each pair's sum of products is divided by the root of its sum of squares (with the same correction for
    degrees of freedom as in the blocks), whose tails are no heavier than normal.
    """
    n_pairs = x.linear.shape[1] * y.linear.shape[1]
    if n_pairs < 2:
        return None
    noise, partner = null_rows(x.linear, y.linear, x.fit, y.fit)
    spread = np.sqrt(np.square(noise).T @ np.square(partner))
    sums = np.abs(x.linear.T @ y.linear)
    z = np.divide(sums, spread, out=np.zeros_like(sums), where=spread > 0)
    return min(1.0, n_pairs * normal_sf(float(z.max())))
