"""Linear confounding, with normal noise (where the truth is known in closed form) and with Cauchy noise."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..parameters import integer, real
from .base import Dataset, Sample
from .registry import declared

__all__ = ["LinearCauchy", "LinearGaussian"]


@declared("linear-gaussian")
class LinearGaussian(Dataset):
    """X and Y are one linear index of Z plus normal noises, correlated under the alternative.

    The partial correlation of X and Y given Z is `partial_correlation` under the alternative, so the power of
    Fisher's z-test is known: it is about Φ(√(n - d_z - 3) · atanh(ρ) - 1.96).
    """

    paper: ClassVar[str] = "textbook"

    d_z: int = integer(5, "Columns of Z.")
    confounding: float = real(
        1.0, "Standard deviation of what Z adds to X and to Y; the noises have standard deviation 1."
    )
    partial_correlation: float = real(
        0.15, "Correlation of the noises under the alternative.", above=-1.0, below=1.0
    )

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = rng.standard_normal((n, self.d_z))
        own, other = rng.standard_normal((2, n))
        rho = self.partial_correlation if dependent else 0.0
        index = self.confounding * z.sum(axis=1) / np.sqrt(self.d_z)
        return index + own, index + rho * own + np.sqrt(1.0 - rho**2) * other, z


@declared("linear-cauchy")
class LinearCauchy(Dataset):
    """X and Y are one linear index of normal Z plus Cauchy noise: no mean, no variance, no regression.

    When standardised, the sample standard deviation of Cauchy noise is that of its largest row.
    """

    paper: ClassVar[str] = "spectralcit"

    d_z: int = integer(3, "Columns of Z.")
    confounding: float = real(3.0, "Standard deviation of what Z adds to X and to Y.")
    strength: float = real(0.1, "Share of the noise of X that is added to Y under the alternative.")

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = rng.standard_normal((n, self.d_z))
        own, other = rng.standard_cauchy((2, n))
        index = self.confounding * z.sum(axis=1) / np.sqrt(self.d_z)
        return index + own, index + other + dependent * self.strength * own, z
