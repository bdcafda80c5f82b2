"""Null distributions: from a statistic to a p-value."""

from .chi2 import chi2_sf, gamma_sf
from .chi2_mixture import chi2_mixture_sf
from .normal import normal_sf
from .permutation import permutation_pvalue, sequential_permutation_pvalue

__all__ = [
    "chi2_mixture_sf",
    "chi2_sf",
    "gamma_sf",
    "normal_sf",
    "permutation_pvalue",
    "sequential_permutation_pvalue",
]
