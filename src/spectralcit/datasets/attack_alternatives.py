"""Alternatives to which the first default was blind: slopes that average out over Z, and high frequencies."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..parameters import choice, integer, real
from .base import Dataset, Sample
from .registry import declared

__all__: list[str] = []


@declared("attack-slope")
class Slope(Dataset):
    """An effect whose slope has mean zero over Z: Y = z_1 + u + strength e s(Z), X = z_1 + e.

    s(Z) = cos(frequency z_1), or the product z_1 ... z_factors. Without an alternative Y = z_1 + u.
    """

    paper: ClassVar[str] = "spectralcit, attack on the default test"

    d_z: int = integer(1, "Columns of Z; at least `factors`.")
    slope: str = choice("cosine", "The slope s(Z).", "cosine", "product")
    frequency: float = real(2.5, "Of the cosine.")
    factors: int = integer(1, "Columns in the product.")
    strength: float = real(0.3, "Of the effect.")

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = rng.standard_normal((n, self.d_z))
        own, other = rng.standard_normal((2, n))
        slope = (
            np.cos(self.frequency * z[:, 0])
            if self.slope == "cosine"
            else z[:, np.arange(self.factors)].prod(axis=1)
        )
        return z[:, 0] + own, z[:, 0] + other + dependent * self.strength * slope * own, z


@declared("attack-sine")
class Sine(Dataset):
    """A fast effect: Y = z_1 + noise u + sin(frequency e), X = z_1 + e, with the factor `confounding` of z_1.

    Without an alternative the sine is that of a variable of its own, so that Y has the same law.
    """

    paper: ClassVar[str] = "spectralcit, attack on the default test"

    d_z: int = integer(1, "Columns of Z.")
    frequency: float = real(8.0, "Of the sine.")
    confounding: float = real(1.0, "Factor of z_1 in X and in Y.")
    noise: float = real(0.5, "Standard deviation of the noise of Y.", above=0.0)

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = rng.standard_normal((n, self.d_z))
        own, other, unseen = rng.standard_normal((3, n))
        common = self.confounding * z[:, 0]
        fast = np.sin(self.frequency * (own if dependent else unseen))
        return common + own, common + self.noise * other + fast, z
