"""X, Y and Z of the same dimension, coordinate by coordinate."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..parameters import integer, real
from .base import Dataset, Sample
from .registry import declared

__all__ = ["HighDimensional"]


@declared("high-dimensional")
class HighDimensional(Dataset):
    """X = sin(Z + ε_X), Y = cos(Z + ε_Y), all in d_z dimensions; the alternative adds η to both.

    References
    ----------
    Fröhlich et al. (2026), appendix, "New high-dimensional benchmark" and "On the role of signal strength".
    """

    paper: ClassVar[str] = "Fröhlich et al. (2026), appendix"

    d_z: int = integer(50, "Columns of X, of Y and of Z.")
    str_z: float = real(0.1, "Standard deviation of Z.")
    noise_str: float = real(0.25, "Standard deviation of the own noises.")
    str_cond_dep: float = real(0.15, "Standard deviation of the shared noise η.")

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = self.str_z * rng.standard_normal((n, self.d_z))
        noise_x, noise_y, shared = rng.standard_normal((3, n, self.d_z))
        common = self.str_cond_dep * shared if dependent else 0.0
        return (
            np.sin(z + self.noise_str * noise_x) + common,
            np.cos(z + self.noise_str * noise_y) + common,
            z,
        )
