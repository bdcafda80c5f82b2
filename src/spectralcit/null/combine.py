"""Combine p-values of several tests of one null hypothesis into a single p-value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import ParameterError
from .bounds import SMALLEST_PVALUE, as_pvalue

__all__ = ["CombinedNull", "bonferroni", "cauchy"]

# A p-value of exactly one is a minus infinity of the Cauchy scale: one test that sees nothing would silence
# all. By hand.
_CAUCHY_CEILING = 0.99
_TAIL_SHARE = 0.05  # of the draws: below, too few of them say where a p-value lies


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


class CombinedNull:
    """Null distribution of the weighted harmonic mean of p-values, from p-values that chance made.

    Between the draws it is interpolated, so that p-values have no steps; below a twentieth of them it follows
    the harmonic mean itself, scaled to meet them there.

    Parameters
    ----------
    drawn
        P-values under the null hypothesis, shape (tests, draws).
    weights
        One for each test, of sum one.

    Examples
    --------
    >>> drawn = np.random.default_rng(0).uniform(size=(2, 2000))
    >>> null = CombinedNull(drawn, np.array([0.8, 0.2]))
    >>> (
    ...     bool(0.45 < null.pvalue(np.array([0.45, 0.9])) < 0.65),
    ...     bool(null.pvalue(np.array([1e-6, 0.5])) < 3e-6),
    ... )
    (True, True)
    """

    def __init__(self, drawn: np.ndarray, weights: np.ndarray) -> None:
        self._weights = weights
        self._draws = np.sort(1.0 / (weights[:, None] / drawn).sum(axis=0))
        self._ranks = np.arange(1, len(self._draws) + 1) / (1.0 + len(self._draws))
        self._knee = max(int(_TAIL_SHARE * len(self._draws)), 1) - 1

    def pvalue(self, pvalues: np.ndarray) -> float:
        """Return the chance of so small a harmonic mean."""
        combined = float(1.0 / (self._weights / np.maximum(pvalues, SMALLEST_PVALUE)).sum())
        if combined >= self._draws[self._knee]:
            return as_pvalue(float(np.interp(combined, self._draws, self._ranks, right=1.0)))
        return as_pvalue(combined * self._ranks[self._knee] / self._draws[self._knee])


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
