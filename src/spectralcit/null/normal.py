"""Tails of the standard normal distribution."""

from __future__ import annotations

from typing import Literal

from scipy import special

from ..errors import ParameterError
from .bounds import as_pvalue

__all__ = ["Alternative", "normal_sf"]

Alternative = Literal["two-sided", "greater", "less"]


def normal_sf(z: float, alternative: Alternative = "two-sided") -> float:
    """P-value of a standard normal statistic when large values, small ones or both speak against the null."""
    if alternative == "two-sided":
        # erfc, unlike 1 - cdf, keeps its relative accuracy far out.
        return as_pvalue(float(special.erfc(abs(z) / 2**0.5)))
    if alternative == "greater":
        return as_pvalue(float(special.ndtr(-z)))
    if alternative == "less":
        return as_pvalue(float(special.ndtr(z)))
    raise ParameterError(f"alternative must be 'two-sided', 'greater' or 'less', got {alternative!r}")
