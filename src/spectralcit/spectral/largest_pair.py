"""The most correlated pair of single features, for dependence between few of many columns.

Sums of squares over all pairs see dependence that is spread out; when one of 400 pairs depends, the other
399 drown it. The largest studentised pair sees it, whether the dependence is linear or curved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from ..null.bounds import as_pvalue
from .dictionary import SideFeatures, null_rows

__all__ = ["LargestPair", "largest_pair"]

_LINEAR_SHARE = 0.5  # by hand: of the error rate goes to pairs of linear features


@dataclass(frozen=True)
class LargestPair:
    """The pair of features with the smallest p-value."""

    pvalue: float  # its p-value, with Bonferroni's correction for all pairs
    x: str  # names of the features
    y: str


def largest_pair(x: SideFeatures, y: SideFeatures) -> LargestPair | None:
    """Return the largest pair of linear features or of rank cosines; ``None`` for a single pair of columns.

    Each pair's sum of products is divided by the root of its sum of squares (with the same correction for
    degrees of freedom as in the blocks), whose tails are no heavier than normal.
    """
    p, q = x.linear.shape[1], y.linear.shape[1]
    if p * q < 2:
        return None
    left, right = (np.hstack([side.linear, side.curved]) for side in (x, y))
    noise, partner = null_rows(left, right, x.fit, x.allowance * y.allowance)
    spread = np.sqrt(np.square(noise).T @ np.square(partner))
    sums = np.abs(left.T @ right)
    z = np.divide(sums, spread, out=np.zeros_like(sums), where=spread > 0)
    pvalues = special.erfc(z / np.sqrt(2.0)) * _multiplicity(z.shape, (p, q))
    best = np.unravel_index(int(np.argmin(pvalues)), z.shape)
    names = [(*side.names[: side.linear.shape[1]], *side.curved_names) for side in (x, y)]
    return LargestPair(as_pvalue(float(pvalues[best])), names[0][best[0]], names[1][best[1]])


def _multiplicity(shape: tuple[int, ...], linear: tuple[int, int]) -> np.ndarray:
    """Return the factor of each pair's p-value: linear pairs share one part, the others the rest."""
    n_linear = linear[0] * linear[1]
    n_other = shape[0] * shape[1] - n_linear
    if n_other == 0:
        return np.full(shape, float(n_linear))
    factors = np.full(shape, n_other / (1.0 - _LINEAR_SHARE))
    factors[: linear[0], : linear[1]] = n_linear / _LINEAR_SHARE
    return factors
