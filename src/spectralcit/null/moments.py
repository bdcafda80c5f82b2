"""Moment approximations to the tail of a weighted sum of chi-squared variables.

They are quicker to compute than the exact tail and are what some published tests use by name.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from ..errors import ParameterError
from .bounds import as_pvalue
from .chi2 import gamma_sf

__all__ = ["hall_buckley_eagleson_sf", "lindsay_pilla_basak_sf", "satterthwaite_welch_sf"]


def satterthwaite_welch_sf(q: float, weights: np.ndarray) -> float:
    """Match mean and variance by a gamma distribution; no weight may be negative."""
    _require_non_negative(weights)
    return gamma_sf(q, float(weights.sum()), 2.0 * float(weights @ weights))


def hall_buckley_eagleson_sf(q: float, weights: np.ndarray) -> float:
    """Match mean, variance and skewness by a shifted chi-squared distribution; weights of any sign.

    References
    ----------
    M. J. Buckley and G. K. Eagleson. An approximation to the distribution of quadratic forms in normal random
    variables. Australian Journal of Statistics, 1988.
    """
    first, second, third = (float((weights**k).sum()) for k in (1, 2, 3))
    standardised = (q - first) / np.sqrt(2.0 * second)
    if third == 0.0:
        return as_pvalue(float(special.ndtr(-standardised)))
    df = second**3 / third**2
    shifted = df + np.sign(third) * standardised * np.sqrt(2.0 * df)
    tail = special.gammaincc if third > 0 else special.gammainc
    return as_pvalue(float(tail(df / 2.0, max(float(shifted), 0.0) / 2.0)))


def lindsay_pilla_basak_sf(q: float, weights: np.ndarray, n_components: int = 4) -> float:
    """Match ``2 * n_components`` moments by a mixture of gamma distributions with a common shape.

    Falls back to Hall-Buckley-Eagleson with fewer weights than components, when the moment equations are
    singular (the mixture is then not determined).

    References
    ----------
    B. G. Lindsay, R. S. Pilla and P. Basak. Moment-based approximations of distributions using mixtures:
    theory and applications. Annals of the Institute of Statistical Mathematics, 2000.

    Examples
    --------
    >>> weights = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    >>> round(lindsay_pilla_basak_sf(2.5, weights), 3)
    0.048
    """
    _require_non_negative(weights)
    weights = weights[weights > 1e-12 * weights.max()]
    # Moments of a variable with mean one stay near one, which keeps the moment matrices well scaled.
    mean = float(weights.sum())
    scaled = weights / mean
    if len(np.unique(scaled)) < n_components:
        return hall_buckley_eagleson_sf(q, weights)
    moments = _raw_moments(scaled, 2 * n_components)
    shape_inverse = _common_shape_inverse(moments, n_components)
    gamma_moments = moments / _rising_products(shape_inverse, 2 * n_components)
    fitted = _gauss_quadrature(gamma_moments, n_components)
    if fitted is None:
        return hall_buckley_eagleson_sf(q, weights)
    nodes, probabilities = fitted
    tails = special.gammaincc(1.0 / shape_inverse, max(q, 0.0) / (mean * shape_inverse * nodes))
    return as_pvalue(float(probabilities @ tails))


def _require_non_negative(weights: np.ndarray) -> None:
    if weights.min() < 0:
        raise ParameterError("this approximation needs non-negative weights; use method='exact' or 'hbe'")


def _raw_moments(weights: np.ndarray, order: int) -> np.ndarray:
    """Moments 0..order of the weighted sum, from its cumulants 2^(k-1) (k-1)! sum w^k."""
    cumulants = [2.0 ** (k - 1) * math.factorial(k - 1) * (weights**k).sum() for k in range(1, order + 1)]
    moments = [1.0]
    for n in range(1, order + 1):
        moments.append(
            sum(math.comb(n - 1, k - 1) * cumulants[k - 1] * moments[n - k] for k in range(1, n + 1))
        )
    return np.array(moments)


def _rising_products(x: float, order: int) -> np.ndarray:
    """Moments 0..order of a gamma variable with mean 1 and variance `x`: 1, 1, 1 + x, (1 + x)(1 + 2x)..."""
    return np.cumprod(np.append(1.0, 1.0 + x * np.arange(order)))


def _common_shape_inverse(moments: np.ndarray, n_components: int) -> float:
    """Smallest positive root of the moment determinant of size `n_components` + 1.

    The roots of successive sizes interlace: each lies between zero and the one before, which brackets it.
    """
    root = moments[2] / moments[1] ** 2 - 1.0
    for size in range(2, n_components + 1):
        low, high = 0.0, root
        for _ in range(60):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            if np.linalg.det(_hankel(moments / _rising_products(middle, len(moments) - 1), size)) > 0:
                low = middle
            else:
                high = middle
        root = 0.5 * (low + high)
    return root


def _hankel(moments: np.ndarray, size: int) -> np.ndarray:
    return moments[np.add.outer(np.arange(size + 1), np.arange(size + 1))]


def _gauss_quadrature(moments: np.ndarray, n_nodes: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Nodes and probabilities of the discrete distribution that has the given moments, if there is one."""
    hankel = _hankel(moments, n_nodes - 1)
    try:
        coefficients = np.linalg.solve(hankel, -moments[n_nodes : 2 * n_nodes])
    except np.linalg.LinAlgError:
        return None
    nodes = np.roots(np.append(1.0, coefficients[::-1]))
    if np.iscomplexobj(nodes) or nodes.min() <= 0:
        return None
    try:
        probabilities = np.linalg.solve(np.vander(nodes, increasing=True).T, moments[:n_nodes])
    except np.linalg.LinAlgError:
        return None
    if probabilities.min() < -1e-8:
        return None
    return nodes, np.clip(probabilities, 0.0, None)
