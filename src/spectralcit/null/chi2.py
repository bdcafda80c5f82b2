"""Tails of the chi-squared distribution and of the gamma distribution with two given moments."""

from __future__ import annotations

from scipy import special

from ..errors import ParameterError
from .bounds import as_pvalue

__all__ = ["chi2_sf", "gamma_sf"]


def chi2_sf(q: float, df: float) -> float:
    """P(Q > q) for Q chi-squared with `df` degrees of freedom, not necessarily a whole number."""
    if not df > 0:
        raise ParameterError(f"degrees of freedom must be positive, got {df!r}")
    return as_pvalue(float(special.gammaincc(df / 2, max(q, 0.0) / 2)))


def gamma_sf(q: float, mean: float, variance: float) -> float:
    """P(Q > q) for Q gamma-distributed with the given mean and variance.

    The usual approximation of a kernel statistic's null distribution, which is a weighted sum of chi-squared
    variables, by its first two moments.
    """
    if not (mean > 0 and variance > 0):
        raise ParameterError(f"mean and variance must be positive, got {mean!r} and {variance!r}")
    return as_pvalue(float(special.gammaincc(mean**2 / variance, max(q, 0.0) * mean / variance)))
