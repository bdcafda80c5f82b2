"""Linear confounding, with normal noise (where the truth is known in closed form) and with Cauchy noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import ParameterError
from .base import Dataset, Sample, positive
from .registry import register_dataset

__all__ = ["LinearCauchy", "LinearGaussian"]


@register_dataset("linear-gaussian")
@dataclass(frozen=True, kw_only=True)
class LinearGaussian(Dataset):
    """X and Y are one linear index of Z plus normal noises, correlated under the alternative.

    The partial correlation of X and Y given Z is `partial_correlation` under the alternative, so the power of
    Fisher's z-test is known: it is about Φ(√(n - d_z - 3) · atanh(ρ) - 1.96).

    Parameters
    ----------
    d_z
        Columns of Z.
    confounding
        Standard deviation of what Z adds to X and to Y; the noises have standard deviation 1.
    partial_correlation
        Correlation of the noises under the alternative.
    standardize
        As in `Dataset`.
    """

    paper: ClassVar[str] = "textbook"

    d_z: int = 5
    confounding: float = 1.0
    partial_correlation: float = 0.15

    def __post_init__(self) -> None:
        positive(self.d_z, "d_z")
        if not -1.0 < self.partial_correlation < 1.0:
            raise ParameterError(
                f"partial_correlation must be strictly between -1 and 1, got {self.partial_correlation!r}"
            )

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = rng.standard_normal((n, self.d_z))
        own, other = rng.standard_normal((2, n))
        rho = self.partial_correlation if dependent else 0.0
        index = self.confounding * z.sum(axis=1) / np.sqrt(self.d_z)
        return index + own, index + rho * own + np.sqrt(1.0 - rho**2) * other, z


@register_dataset("linear-cauchy")
@dataclass(frozen=True, kw_only=True)
class LinearCauchy(Dataset):
    """X and Y are one linear index of normal Z plus Cauchy noise: no mean, no variance, no regression.

    Parameters
    ----------
    d_z
        Columns of Z.
    confounding
        Standard deviation of what Z adds to X and to Y.
    strength
        Share of the noise of X that is added to Y under the alternative.
    standardize
        As in `Dataset`; the sample standard deviation of Cauchy noise is that of its largest row.
    """

    paper: ClassVar[str] = "spectralcit"

    d_z: int = 3
    confounding: float = 3.0
    strength: float = 0.1

    def __post_init__(self) -> None:
        positive(self.d_z, "d_z")

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = rng.standard_normal((n, self.d_z))
        own, other = rng.standard_cauchy((2, n))
        index = self.confounding * z.sum(axis=1) / np.sqrt(self.d_z)
        return index + own, index + other + dependent * self.strength * own, z
