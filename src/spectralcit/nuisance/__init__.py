"""Removing what Z explains from columns of X and Y."""

from .augmented import Augmented, AugmentedFit
from .fits import LinearFit, Nuisance, NuisanceFit
from .kernel_ridge import KernelRidge
from .projection import Projection
from .selection import SmootherFit, select
from .sklearn import CrossFitted
from .smoother import Smoother

__all__ = [
    "Augmented",
    "AugmentedFit",
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
