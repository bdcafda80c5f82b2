"""What every model of X given Z offers, whether the user brings it, it is fitted, or it is learned."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol

import numpy as np

__all__ = ["ConditionalDensity", "ConditionalDraw", "ConditionalSampler", "LearnedSampler"]

#: ``draw(rng)`` returns one X for every row of a fixed Z.
ConditionalDraw = Callable[[np.random.Generator], np.ndarray]


class ConditionalSampler(Protocol):
    """A distribution of X given Z that can be drawn from."""

    def sample(self, z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw a new x for every row of `z`, independent of y; shape (n, p) or (n,).

        Parameters
        ----------
        z
            Array of shape (n, d).
        rng
            Source of the draws.
        """


class ConditionalDensity(Protocol):
    """A distribution of X given Z whose density is known."""

    def log_density(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Matrix of log q(x_i | z_j), row i and column j; terms of i alone or j alone may be left out.

        Parameters
        ----------
        x, z
            Arrays of shape (n, p) and (m, d).
        """


class LearnedSampler(ConditionalSampler):
    """A sampler that makes many draws for the same z faster when it may prepare for that z."""

    @abstractmethod
    def given(self, z: np.ndarray) -> ConditionalDraw:
        """The function that draws one X for every row of `z`."""

    def sample(self, z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw one X for every row of `z`."""
        return self.given(z)(rng)
