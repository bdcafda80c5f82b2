"""Tail of a weighted sum of independent chi-squared variables with one degree of freedom each.

The exact method inverts the moment generating function M(s) = prod (1 - 2 w_j s)^(-1/2) along a contour,

    P(Q > q) = 1/(2 pi i) * integral of M(s) exp(-s q) / s ds,

as Imhof and Davies do along the imaginary axis. Here the contour crosses the real axis at the saddle point of
the integrand and bends away from the oscillations: the integrand then decays like a Gaussian, the trapezoidal
rule converges geometrically, few weights are as easy as many, and a p-value of 1e-200 has as many correct
digits as one of 0.05, so that no separate approximation is needed for the far tail.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from ..errors import ParameterError
from .bounds import as_pvalue
from .chi2 import chi2_sf
from .moments import hall_buckley_eagleson_sf, lindsay_pilla_basak_sf, satterthwaite_welch_sf

__all__ = ["MixtureMethod", "chi2_mixture_sf"]

MixtureMethod = Literal["auto", "exact", "hbe", "sw", "lpb"]

_TOLERANCE = 1e-11  # relative difference of two step sizes at which the integral is accepted
_SLOPE = 0.5  # how steeply the contour bends towards the decay of exp(-s q); by hand
_MAX_HALVINGS = 6  # by hand: the rule converges geometrically, each one doubles the digits
_NEAR_ZERO = 1e-100  # its square is still a normal float, and so is the reciprocal of that
_COLLAPSE_ABOVE = 64  # distinct weights beyond which small ones are grouped; by hand, for speed
_COLLAPSE_BELOW = 1e-2  # "small" relative to the largest weight; by hand, see `_collapse` for the error
_COLLAPSE_RATIO = 1.02  # weights of one group differ by at most this: skewness changes by a factor of 1e-4


def chi2_mixture_sf(q: float, weights: Any, method: MixtureMethod = "auto") -> float:
    """P(Q > q) for Q = sum of ``weights[j]`` times independent chi-squared(1) variables.

    Weights may differ in sign; those that are tiny by rounding (eigenvalues of a Gram matrix, say) do no
    harm. ``"exact"`` inverts the moment generating function numerically to about ten digits. ``"hbe"``
    (Hall-Buckley-Eagleson) matches three moments, ``"sw"`` (Satterthwaite-Welch) two, ``"lpb"``
    (Lindsay-Pilla-Basak) eight; these two need non-negative weights. ``"auto"`` is exact, and ``"hbe"`` in
    the case, not met so far, that the integral does not converge.

    References
    ----------
    J. P. Imhof. Computing the distribution of quadratic forms in normal variables. Biometrika, 1961.
    R. B. Davies. The distribution of a linear combination of chi-squared random variables. JRSS C, 1980.
    S. O. Rice. Distribution of quadratic forms in normal random variables: evaluation by numerical
    integration. SIAM J. Sci. Stat. Comput., 1980.
    """
    q = float(q)
    w = np.asarray(weights, dtype=np.float64).ravel()
    if not math.isfinite(q) or not np.isfinite(w).all():
        raise ParameterError("q and the weights must be finite")
    if not w.any():
        raise ParameterError("at least one weight must differ from zero")
    if method not in ("auto", "exact", "hbe", "sw", "lpb"):
        raise ParameterError(f"method must be 'auto', 'exact', 'hbe', 'sw' or 'lpb', got {method!r}")
    # The unit of measurement must not matter, and squares of the weights must not overflow.
    unit = float(np.abs(w).max())
    w, q = w / unit, q / unit
    if method == "sw":
        return satterthwaite_welch_sf(q, w)
    if method == "lpb":
        return lindsay_pilla_basak_sf(q, w)
    if method == "hbe":
        return hall_buckley_eagleson_sf(q, w)
    value = _exact_sf(q, w)
    if value is None:
        if method == "exact":
            raise ParameterError("the integral did not converge for these weights; use method='hbe'")
        return hall_buckley_eagleson_sf(q, w)
    return as_pvalue(value)


def _exact_sf(q: float, w: np.ndarray) -> float | None:
    """Tail for weights scaled to a largest magnitude of one; None when the integral does not converge."""
    if abs(q) < _NEAR_ZERO:  # squares of its reciprocal would overflow
        q = 0.0
    if w.min() >= 0 and q <= 0:
        return 1.0
    if w.max() <= 0 and q >= 0:
        return 0.0
    scale, df = _collapse(w)
    if len(scale) == 1 and scale[0] > 0:
        return chi2_sf(q / scale[0], df[0])
    if q < 0 or (q == 0 and scale @ df < 0):
        # The contour bends towards the right half plane, where exp(-s q) decays only for positive q.
        mirrored = _exact_sf(-q, -w)
        return None if mirrored is None else 1.0 - mirrored
    upper = q >= float(scale @ df)
    log_tail = _log_tail(q, scale, df, upper)
    if log_tail is None:
        return None
    return math.exp(log_tail) if upper else -math.expm1(min(log_tail, 0.0))


def _collapse(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct scales and their degrees of freedom.

    Equal weights are merged exactly. When there are many, neighbouring small ones are replaced by one scaled
    chi-squared variable with the same mean and variance; what changes is their skewness, by a factor within
    1e-4 of one.
    """
    values, counts = np.unique(w[w != 0.0], return_counts=True)
    df = counts.astype(np.float64)
    if len(values) <= _COLLAPSE_ABOVE:
        return values, df
    small = np.abs(values) < _COLLAPSE_BELOW
    if not small.any():
        return values, df
    bins = np.floor(np.log(np.abs(values[small])) / math.log(_COLLAPSE_RATIO)) * 2 + (values[small] > 0)
    _, group = np.unique(bins, return_inverse=True)
    first = np.bincount(group, df[small] * values[small])
    second = np.bincount(group, df[small] * values[small] ** 2)
    usable = second > 0  # squares of the very smallest weights underflow: they cannot matter
    scale = second[usable] / first[usable]
    return np.append(scale, values[~small]), np.append(first[usable] / scale, df[~small])


def _log_tail(q: float, scale: np.ndarray, df: np.ndarray, upper: bool) -> float | None:
    """Logarithm of P(Q > q) if `upper`, else of P(Q <= q); the contour passes right or left of the pole."""
    crossing = _saddle_point(q, scale, df, upper)
    curvature = 2.0 * float(df @ (scale / (1.0 - 2.0 * scale * crossing)) ** 2) + crossing**-2
    width = 1.0 / math.sqrt(curvature)
    peak = -0.5 * float(df @ np.log1p(-2.0 * scale * crossing)) - crossing * q

    def integrand(t: np.ndarray) -> np.ndarray:
        s = crossing + width * (_SLOPE * (np.cosh(t) - 1.0) + 1j * np.sinh(t))
        derivative = width * (_SLOPE * np.sinh(t) + 1j * np.cosh(t))
        log_mgf = -0.5 * (np.log(1.0 - 2.0 * s[:, None] * scale) @ df)
        return (np.exp(log_mgf - s * q - peak) / s * derivative).imag

    step, total = 0.25, None
    for _ in range(_MAX_HALVINGS):
        if total is None:
            new = step * (
                0.5 * float(integrand(np.zeros(1))[0]) + _sum_until_negligible(integrand, step, step)
            )
        else:
            new = 0.5 * total + step * _sum_until_negligible(integrand, step, 2 * step)
        if total is not None and abs(new - total) <= _TOLERANCE * abs(new):
            signed = new if upper else -new
            return peak + math.log(signed / math.pi) if signed > 0 else None
        total, step = new, step / 2
    return None


def _sum_until_negligible(integrand: Any, start: float, step: float) -> float:
    total, largest = 0.0, 0.0
    for block in range(64):
        values = integrand(start + step * np.arange(block * 16, block * 16 + 16))
        total += float(values.sum())
        size = float(np.abs(values[-4:]).max())
        largest = max(largest, float(np.abs(values).max()))
        if size <= 1e-17 * largest:
            break
    return total


def _saddle_point(q: float, scale: np.ndarray, df: np.ndarray, upper: bool) -> float:
    """Minimiser of log M(s) - s q - log|s| on the positive or negative part of the domain of M.

    The function is convex there and infinite at the pole, so its minimum keeps a distance from it. Bisection
    on the derivative: the brackets are known and a digit or two is enough.
    """
    if upper:
        low, high = 0.0, 0.5 / float(scale.max())
    else:
        low, high = (0.5 / float(scale.min()) if scale.min() < 0 else -math.inf), 0.0
        if math.isinf(low):
            # As s -> -inf the derivative tends to -q < 0; walk out until it is negative.
            low = -1.0
            while _slope(low, q, scale, df) > 0:
                low *= 4.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if _slope(middle, q, scale, df) > 0:
            high = middle
        else:
            low = middle
        if high - low <= 1e-4 * min(abs(low), abs(high)) and _far_from_edge(middle, high - low, scale):
            break
    return 0.5 * (low + high)


def _far_from_edge(s: float, uncertainty: float, scale: np.ndarray) -> bool:
    return bool(np.all(np.abs(0.5 / scale - s) > 100 * uncertainty))


def _slope(s: float, q: float, scale: np.ndarray, df: np.ndarray) -> float:
    with np.errstate(divide="ignore"):  # at the edge of the domain the slope is infinite, as it should be
        return float(df @ (scale / (1.0 - 2.0 * scale * s))) - q - 1.0 / s
