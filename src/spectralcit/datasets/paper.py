"""The paper's models as plain functions ``(n, rng, *, dependent, ...)``, the form of the calibration study.

The models themselves are the classes of this folder, which have more parameters.
"""

from __future__ import annotations

import numpy as np

from .base import Sample
from .high_dimensional import HighDimensional
from .nonsmooth import Nonsmooth
from .post_nonlinear import PostNonlinear
from .sachs import SachsQuery
from .sin_cos import SinCos

__all__ = ["high_dimensional", "nonsmooth", "post_nonlinear", "sachs_query", "sin_cos"]


def post_nonlinear(n: int, rng: np.random.Generator, *, dependent: bool, d_z: int = 50) -> Sample:
    """Draw from `PostNonlinear` with cube, tanh and normal noise."""
    return PostNonlinear(d_z=d_z).draw(n, rng, dependent)


def sin_cos(
    n: int, rng: np.random.Generator, *, dependent: bool, d_z: int = 50, strength: float = 2.0
) -> Sample:
    """Draw from `SinCos` with normal noise; `strength` is its b."""
    return SinCos(d_z=d_z, b=strength).draw(n, rng, dependent)


def high_dimensional(
    n: int,
    rng: np.random.Generator,
    *,
    dependent: bool,
    d_z: int = 50,
    str_z: float = 0.1,
    noise_str: float = 0.25,
    str_cond_dep: float = 0.15,
) -> Sample:
    """Draw from `HighDimensional`."""
    model = HighDimensional(d_z=d_z, str_z=str_z, noise_str=noise_str, str_cond_dep=str_cond_dep)
    return model.draw(n, rng, dependent)


def nonsmooth(n: int, rng: np.random.Generator, *, dependent: bool = False, d_z: int = 100) -> Sample:
    """Draw from `Nonsmooth`, which has a null hypothesis only."""
    return Nonsmooth(d_z=d_z).draw(n, rng, dependent)


def sachs_query(
    n: int, rng: np.random.Generator, *, dependent: bool, query: int = 1, d_z: int = 100
) -> Sample:
    """Draw from `SachsQuery`."""
    return SachsQuery(query=query, d_z=d_z).draw(n, rng, dependent)
