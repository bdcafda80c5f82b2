"""Combine p-values of several tests of one null hypothesis into a single p-value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import ParameterError
from .bounds import SMALLEST_PVALUE, as_pvalue

__all__ = ["bonferroni", "cauchy"]

# A p-value of exactly one is a minus infinity of the Cauchy scale: one test that sees nothing would silence
# all. By hand.
_CAUCHY_CEILING = 0.99


def cauchy(pvalues: Any, weights: Any = None) -> float:
    """Cauchy combination: the weighted mean of cot(pi p) is nearly standard Cauchy in its upper tail.

    It tolerates dependence for small p-values. P-values above 0.99 count as 0.99 when there are several, so
    that a test with p = 1 cannot silence the others. Weights may have any sum, and are equal when not given.

    References
    ----------
    Y. Liu and J. Xie. Cauchy combination test. JASA, 2020.
    Y. Fang, C. Chang, Y. Park and G. C. Tseng. Heavy-tailed distribution for combining dependent p-values
    with asymptotic robustness. Statistica Sinica, 2023.
    """
    p, w = _checked(pvalues, weights)
    if len(p) == 1:
        return as_pvalue(p[0])
    t = float(w @ (1.0 / np.tan(np.pi * np.minimum(p, _CAUCHY_CEILING))))
    # arctan(1/t) keeps the digits of a small tail; 1/2 - arctan(t) would lose them.
    return as_pvalue(math.atan(1.0 / t) / math.pi if t > 1.0 else 0.5 - math.atan(t) / math.pi)


def bonferroni(pvalues: Any, weights: Any = None) -> float:
    """Bonferroni: the smallest of p_i / w_i for weights that sum to one; valid under any dependence."""
    p, w = _checked(pvalues, weights)
    return as_pvalue(float((p[w > 0] / w[w > 0]).min()))


def _checked(pvalues: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
    """P-values as a float array without zeros, and weights that sum to one."""
    p = np.asarray(pvalues, dtype=np.float64).ravel()
    if p.size == 0:
        raise ParameterError("there are no p-values to combine")
    if not ((p >= 0) & (p <= 1)).all():  # also false for NaN
        raise ParameterError("p-values must lie between 0 and 1")
    w = np.ones_like(p) if weights is None else np.asarray(weights, dtype=np.float64).ravel()
    if w.shape != p.shape:
        raise ParameterError(f"got {w.size} weights for {p.size} p-values")
    if not (np.isfinite(w).all() and (w >= 0).all() and w.max() > 0):
        raise ParameterError("weights must be finite and non-negative, and one of them positive")
    w = w / w.max()
    return np.maximum(p, SMALLEST_PVALUE), w / w.sum()
