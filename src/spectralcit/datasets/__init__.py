"""Synthetic data: the paper's models and hard cases of our own, each with its null and its alternative."""

from .hard import HARD_CASES
from .paper import high_dimensional, nonsmooth, post_nonlinear, sachs_query, sin_cos

__all__ = ["HARD_CASES", "high_dimensional", "nonsmooth", "post_nonlinear", "sachs_query", "sin_cos"]
