"""Data whose truth is known: the paper's models, hard cases of our own, and real tables drawn again.

`list_datasets` names them, `get_dataset` makes one, and `register_dataset` adds another. Each has its null
hypothesis and its alternative. The real tables themselves are in `spectralcit.datasets.real`.
"""

# Imported for what they register.
from . import attack_alternatives as _attack_alternatives  # noqa: F401
from . import attack_nulls as _attack_nulls  # noqa: F401
from . import easy as _easy  # noqa: F401
from . import images as _images  # noqa: F401
from . import levels as _levels  # noqa: F401
from . import vectors as _vectors  # noqa: F401
from .base import Dataset, Sample, as_function
from .hard import HARD_CASES
from .high_dimensional import HighDimensional
from .linear import LinearCauchy, LinearGaussian
from .multimodal import Multimodal
from .nonsmooth import Nonsmooth
from .post_nonlinear import PostNonlinear, ZhangPostNonlinear
from .real.plasmode import Plasmode
from .registry import DatasetInfo, get_dataset, list_datasets, register_dataset, unregister_dataset
from .sachs import SachsQuery
from .sin_cos import SinCos

# The paper's models as plain functions, for those who need one sample and no object.
high_dimensional = as_function(HighDimensional)
nonsmooth = as_function(Nonsmooth)
post_nonlinear = as_function(PostNonlinear)
sachs_query = as_function(SachsQuery)
sin_cos = as_function(SinCos, strength="b")

__all__ = [
    "HARD_CASES",
    "Dataset",
    "DatasetInfo",
    "HighDimensional",
    "LinearCauchy",
    "LinearGaussian",
    "Multimodal",
    "Nonsmooth",
    "Plasmode",
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
