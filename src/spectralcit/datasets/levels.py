"""Categories whose levels hardly meet: nulls that the default rejected, most of them always."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy import special

from ..parameters import integer, real
from .base import Dataset, Sample
from .registry import declared

__all__: list[str] = []


@declared("attack-levels")
class Levels(Dataset):
    """Two categories that follow Z, as indicators: scores of levels are slope z_1 l + noise, l from -1 to 1.

    The noise is Gumbel's, so that the levels have the chances of a multinomial logit. The first level has a
    bonus. Under the alternative some rows of Y take the level that X has.
    """

    paper: ClassVar[str] = "spectralcit, attack on the default test"

    d_z: int = integer(1, "Columns of Z; the first one matters.")
    x_levels: int = integer(6, "Levels of X.", least=2)
    y_levels: int = integer(6, "Levels of Y.", least=2)
    common: float = real(0.9, "About the share of the first level; the others share the rest.", above=0.0)
    slope: float = real(1.0, "Of the scores in Z.")
    strength: float = real(0.05, "Share of the rows in which Y takes the level of X, under the alternative.")

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = rng.standard_normal((n, self.d_z))
        x, y = (self._category(z[:, 0], levels, rng) for levels in (self.x_levels, self.y_levels))
        alike = dependent & (rng.uniform(size=n) < self.strength)
        y = np.where(alike, x % self.y_levels, y)
        return _indicators(x, self.x_levels), _indicators(y, self.y_levels), z

    def _category(self, along: np.ndarray, levels: int, rng: np.random.Generator) -> np.ndarray:
        bonus = np.zeros(levels)
        bonus[0] = special.logit(self.common) + np.log(levels - 1)
        scores = bonus + self.slope * along[:, None] * np.linspace(-1.0, 1.0, levels)
        return np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)


def _indicators(levels: np.ndarray, count: int) -> np.ndarray:
    return (levels[:, None] == np.arange(count)).astype(float)
