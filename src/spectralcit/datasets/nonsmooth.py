"""The oscillating model, whose conditional distributions are not smooth in Z."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..parameters import integer
from .base import Dataset, Sample
from .registry import declared

__all__ = ["Nonsmooth", "oscillating"]


@declared("nonsmooth")
class Nonsmooth(Dataset):
    """X = h_2(Z/2 + ε_X), Y = h_3(Z/2 + ε_Y), coordinate by coordinate; a null hypothesis only.

    References
    ----------
    Fröhlich et al. (2026), section 5.1, "On the role of structural assumptions".
    """

    paper: ClassVar[str] = "Fröhlich et al. (2026), section 5.1"

    d_z: int = integer(100, "Columns of X, of Y and of Z.")
    power_x: int = integer(2, "The k of h_k for X.")
    power_y: int = integer(3, "The k of h_k for Y.")

    @property
    def has_alternative(self) -> bool:
        """The paper uses the model under the null hypothesis only."""
        return False

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z, noise_x, noise_y = rng.standard_normal((3, n, self.d_z))
        return oscillating(z / 2 + noise_x, self.power_x), oscillating(z / 2 + noise_y, self.power_y), z


def oscillating(w: np.ndarray, power: int) -> np.ndarray:
    """The function h_k: w**k outside (-1, 1), cos(2π/w) inside, 1 at zero."""
    safe = np.where(w == 0.0, 1.0, w)
    inner = np.where(w == 0.0, 1.0, np.cos(2 * np.pi / safe))
    return np.where(np.abs(w) >= 1.0, w**power, inner)
