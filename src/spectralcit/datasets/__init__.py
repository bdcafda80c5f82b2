"""Synthetic data: the paper's models and hard cases of our own, each with its null and its alternative.

`list_datasets` names them, `get_dataset` makes one, and `register_dataset` adds another.
"""

from .base import Dataset, Sample
from .hard import HARD_CASES
from .high_dimensional import HighDimensional
from .linear import LinearCauchy, LinearGaussian
from .multimodal import Multimodal
from .nonsmooth import Nonsmooth
from .paper import high_dimensional, nonsmooth, post_nonlinear, sachs_query, sin_cos
from .post_nonlinear import PostNonlinear, ZhangPostNonlinear
from .registry import DatasetInfo, get_dataset, list_datasets, register_dataset, unregister_dataset
from .sachs import SachsQuery
from .sin_cos import SinCos

__all__ = [
    "HARD_CASES",
    "Dataset",
    "DatasetInfo",
    "HighDimensional",
    "LinearCauchy",
    "LinearGaussian",
    "Multimodal",
    "Nonsmooth",
    "PostNonlinear",
    "SachsQuery",
    "Sample",
    "SinCos",
    "ZhangPostNonlinear",
    "get_dataset",
    "high_dimensional",
    "list_datasets",
    "nonsmooth",
    "post_nonlinear",
    "register_dataset",
    "sachs_query",
    "sin_cos",
    "unregister_dataset",
]
