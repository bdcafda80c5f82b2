"""X, Y and Z of the same dimension, coordinate by coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .base import Dataset, Sample, positive
from .registry import register_dataset

__all__ = ["HighDimensional"]


@register_dataset("high-dimensional")
@dataclass(frozen=True, kw_only=True)
class HighDimensional(Dataset):
    """X = sin(Z + ε_X), Y = cos(Z + ε_Y), all in d_z dimensions; the alternative adds η to both.

    Parameters
    ----------
    d_z
        Columns of X, of Y and of Z.
    str_z, noise_str, str_cond_dep
        Standard deviations of Z, of the own noises and of the shared noise η.
    standardize
        As in `Dataset`.

    References
    ----------
    Fröhlich et al. (2026), appendix, "New high-dimensional benchmark" and "On the role of signal strength".
    """

    paper: ClassVar[str] = "Fröhlich et al. (2026), appendix"

    d_z: int = 50
    str_z: float = 0.1
    noise_str: float = 0.25
    str_cond_dep: float = 0.15

    def __post_init__(self) -> None:
        positive(self.d_z, "d_z")

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = self.str_z * rng.standard_normal((n, self.d_z))
        noise_x, noise_y, shared = rng.standard_normal((3, n, self.d_z))
        common = self.str_cond_dep * shared if dependent else 0.0
        return (
            np.sin(z + self.noise_str * noise_x) + common,
            np.cos(z + self.noise_str * noise_y) + common,
            z,
        )
