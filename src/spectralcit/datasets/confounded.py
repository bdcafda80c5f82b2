"""`Confounded`: X and Y follow the same function of Z, plus noise.

`Confounded.confounder` is public: with what it returns, a test of the data set subtracts the truth.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..parameters import real
from .base import Dataset, Sample

__all__ = ["Confounded"]


@dataclass(frozen=True, kw_only=True)
class Confounded(Dataset):
    """Base: X = f(Z) + noise e, Y = f(Z) + noise (u + strength e), the last term under the alternative."""

    paper: ClassVar[str] = "spectralcit, attack on the default test"

    noise: float = real(0.4, "Standard deviation of what Z does not explain.", above=0.0)
    strength: float = real(0.3, "Of the linear effect under the alternative, in units of the noise.")

    @abstractmethod
    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw Z, and f(Z) as a column; the first thing that a draw does."""
        raise NotImplementedError

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z, index = self.confounder(n, rng)
        own, other = rng.standard_normal((2, n))
        other = other + dependent * self.strength * own
        return self.measured(index, own), self.measured(index, other), z

    def measured(self, index: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Either side, from f(Z) and its own error."""
        return index + self.noise * error
