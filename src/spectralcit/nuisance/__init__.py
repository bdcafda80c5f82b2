"""Removing what Z explains from columns of X and Y."""

from .fits import LinearFit, Nuisance, NuisanceFit
from .kernel_ridge import KernelRidge
from .projection import Projection
from .sklearn import CrossFitted
from .smoother import Smoother, SmootherFit, select

__all__ = [
    "CrossFitted",
    "KernelRidge",
    "LinearFit",
    "Nuisance",
    "NuisanceFit",
    "Projection",
    "Smoother",
    "SmootherFit",
    "select",
]
