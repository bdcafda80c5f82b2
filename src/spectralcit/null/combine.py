"""Combine p-values of several tests of one null hypothesis into a single p-value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy import special

from ..errors import ParameterError
from ._bounds import SMALLEST_PVALUE, as_pvalue
from .chi2_mixture import chi2_mixture_sf

__all__ = [
    "Combination",
    "bonferroni",
    "cauchy",
    "combine",
    "fisher",
    "harmonic_mean",
    "hommel",
    "simes",
    "stouffer",
]

Combination = Literal["cauchy", "fisher", "stouffer", "bonferroni", "simes", "hommel", "harmonic-mean"]

# A p-value of exactly one is a minus infinity of the Cauchy scale: one test that sees nothing would silence
# all.
CAUCHY_CEILING = 0.99


def combine(pvalues: Any, method: Combination = "cauchy", weights: Any = None) -> float:
    """Combine p-values.

    Parameters
    ----------
    pvalues
        P-values in [0, 1]; a zero counts as the smallest positive normal float.
    method
        ``"cauchy"``: tolerant of dependence for small p-values. ``"fisher"``, ``"stouffer"``: exact for
        independent tests. ``"bonferroni"``, ``"hommel"``, ``"harmonic-mean"``: valid whatever the
        dependence. ``"simes"``: valid for independent and for positively dependent tests.
    weights
        Non-negative weights, one per p-value, of any sum; equal by default. Not for Simes and Hommel.

    Returns
    -------
    float
        The combined p-value, in (0, 1].

    Examples
    --------
    >>> [round(combine([0.01, 0.2, 0.7], method), 4) for method in ("cauchy", "fisher", "simes")]
    [0.0293, 0.0408, 0.03]
    """
    functions: dict[str, Callable[..., float]] = {
        "cauchy": cauchy,
        "fisher": fisher,
        "stouffer": stouffer,
        "bonferroni": bonferroni,
        "harmonic-mean": harmonic_mean,
    }
    if method in ("simes", "hommel"):
        if weights is not None:
            raise ParameterError(f"{method!r} takes no weights; 'bonferroni' does")
        return simes(pvalues) if method == "simes" else hommel(pvalues)
    if method not in functions:
        raise ParameterError(
            f"unknown combination {method!r}; known: {', '.join([*functions, 'simes', 'hommel'])}"
        )
    return functions[method](pvalues, weights)


def cauchy(pvalues: Any, weights: Any = None) -> float:
    """Cauchy combination: the weighted mean of cot(pi p) is nearly standard Cauchy in its upper tail.

    P-values above 0.99 count as 0.99 when there are several, so that a test with p = 1 cannot silence the
    others.

    Parameters
    ----------
    pvalues, weights
        As in `combine`.

    References
    ----------
    Y. Liu and J. Xie. Cauchy combination test. JASA, 2020.
    Y. Fang, C. Chang, Y. Park and G. C. Tseng. Heavy-tailed distribution for combining dependent p-values
    with asymptotic robustness. Statistica Sinica, 2023.

    Examples
    --------
    >>> round(cauchy([0.02, 0.02]), 12)
    0.02
    """
    p, w = _checked(pvalues, weights)
    if len(p) == 1:
        return as_pvalue(p[0])
    t = float(w @ (1.0 / np.tan(np.pi * np.minimum(p, CAUCHY_CEILING))))
    # arctan(1/t) keeps the digits of a small tail; 1/2 - arctan(t) would lose them.
    return as_pvalue(math.atan(1.0 / t) / math.pi if t > 1.0 else 0.5 - math.atan(t) / math.pi)


def fisher(pvalues: Any, weights: Any = None) -> float:
    """Fisher's method, for independent tests: -2 log p is chi-squared with two degrees of freedom.

    With weights the sum is a chi-squared mixture, whose tail is computed exactly (Good's method).

    Parameters
    ----------
    pvalues, weights
        As in `combine`.

    Examples
    --------
    >>> round(fisher([0.1, 0.1]) / (0.01 * (1 - math.log(0.01))), 9)
    1.0
    """
    p, w = _checked(pvalues, weights)
    return chi2_mixture_sf(float(-2.0 * w @ np.log(p)), np.repeat(w, 2))


def stouffer(pvalues: Any, weights: Any = None) -> float:
    """Stouffer's method, for independent tests: add up normal quantiles.

    Parameters
    ----------
    pvalues, weights
        As in `combine`.

    Examples
    --------
    >>> round(stouffer([0.5, 0.5]), 12)
    0.5
    """
    p, w = _checked(pvalues, weights)
    # p = 1 is minus infinity; the largest float below one is eight standard deviations, enough of a penalty.
    z = -special.ndtri(np.minimum(p, np.nextafter(1.0, 0.0)))
    return as_pvalue(float(special.ndtr(-(w @ z) / math.sqrt(w @ w))))


def bonferroni(pvalues: Any, weights: Any = None) -> float:
    """Bonferroni: the smallest of p_i / w_i for weights that sum to one; valid under any dependence.

    Parameters
    ----------
    pvalues, weights
        As in `combine`.

    Examples
    --------
    >>> bonferroni([0.01, 0.5])
    0.02
    """
    p, w = _checked(pvalues, weights)
    return as_pvalue(float((p[w > 0] / w[w > 0]).min()))


def simes(pvalues: Any) -> float:
    """Simes: the smallest of K p_(i) / i over the ordered p-values.

    Parameters
    ----------
    pvalues
        As in `combine`.

    Examples
    --------
    >>> simes([0.04, 0.04])
    0.04
    """
    p, _ = _checked(pvalues, None)
    ratios = np.sort(p) * (len(p) / np.arange(1, len(p) + 1))
    return as_pvalue(float(ratios.min()))


def hommel(pvalues: Any) -> float:
    """Hommel: Simes times 1 + 1/2 + ... + 1/K, which makes it valid under any dependence.

    Parameters
    ----------
    pvalues
        As in `combine`.

    Examples
    --------
    >>> round(hommel([0.04, 0.04]), 12)
    0.06
    """
    p, _ = _checked(pvalues, None)
    return as_pvalue(simes(p) * float((1.0 / np.arange(1, len(p) + 1)).sum()))


def harmonic_mean(pvalues: Any, weights: Any = None) -> float:
    """Harmonic mean of the p-values times the factor e log K that makes it valid under any dependence.

    With unequal weights the factor also contains K times the largest weight: 1/p_i is then at most that
    multiple of its weight in the unweighted mean.

    Parameters
    ----------
    pvalues, weights
        As in `combine`.

    References
    ----------
    D. J. Wilson. The harmonic mean p-value for combining dependent tests. PNAS, 2019.
    V. Vovk and R. Wang. Combining p-values via averaging. Biometrika, 2020.

    Examples
    --------
    >>> round(harmonic_mean([1e-6, 0.5, 0.5]) / 1e-6, 2)
    8.96
    """
    p, w = _checked(pvalues, weights)
    n = len(p)
    factor = 1.0 if n == 1 else 2.0 if n == 2 else math.e * math.log(n)
    # Scaled by the smallest p-value, so that 1/p cannot overflow.
    smallest = float(p.min())
    return as_pvalue(factor * n * float(w.max()) * smallest / float(w @ (smallest / p)))


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
