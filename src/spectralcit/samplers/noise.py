"""What training returns: an object that draws X given Z, on the scale of the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..inputs import Block
from ..learning.mlp import MLP
from .protocol import ConditionalDraw, LearnedSampler

__all__ = ["NOISE_SCALE", "NoiseSampler", "UnitRange", "as_levels"]

# Standard deviation of the noise that generators start from, as in the programs of GCIT and DGCIT.
NOISE_SCALE = np.sqrt(1.0 / 3.0)


@dataclass(frozen=True, eq=False)
class UnitRange:
    """Map of each column to [0, 1] by its smallest and largest value.

    Examples
    --------
    >>> scale = UnitRange.fit(np.array([[2.0], [6.0]]))
    >>> scale.transform(np.array([[3.0]])).item(), scale.inverse(np.array([[0.25]])).item()
    (0.25, 3.0)
    """

    low: np.ndarray
    width: np.ndarray

    @classmethod
    def fit(cls, values: np.ndarray) -> UnitRange:
        """Learn the ranges of the columns; a constant column is shifted only."""
        low = values.min(axis=0, initial=np.inf)
        width = values.max(axis=0, initial=-np.inf) - low
        return cls(low, np.where(width > 0.0, width, 1.0))

    def transform(self, values: np.ndarray) -> np.ndarray:
        """From the scale of the data to [0, 1]."""
        return (values - self.low) / self.width

    def inverse(self, values: np.ndarray) -> np.ndarray:
        """From [0, 1] to the scale of the data."""
        return self.low + self.width * np.asarray(values, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class NoiseSampler(LearnedSampler):
    """Network that turns z on its unit range and columns of noise into x on its unit range."""

    network: MLP
    noise_dim: int
    x_range: UnitRange
    z_range: UnitRange

    def given(self, z: np.ndarray) -> ConditionalDraw:
        """The function that draws one X for every row of `z`."""
        n_z = z.shape[1]
        first = self.network.weights[0]
        # What z contributes to the first layer is the same in every draw.
        from_z = self.z_range.transform(z).astype(np.float32) @ first[:n_z] + self.network.biases[0]

        def draw(rng: np.random.Generator) -> np.ndarray:
            noise = rng.standard_normal((len(z), self.noise_dim), dtype=np.float32) * np.float32(NOISE_SCALE)
            return self.x_range.inverse(self.network.after_first(from_z + noise @ first[n_z:]))

        return draw


def as_levels(draw: ConditionalDraw, block: Block) -> ConditionalDraw:
    """Let draws of categorical and discrete columns take observed values only.

    The indicators of one categorical column become the level with the largest value; a single indicator or a
    discrete number becomes its nearest observed value. Continuous columns are left alone.
    """
    together = [
        [k for k, group in enumerate(block.groups) if group == one] for one in dict.fromkeys(block.groups)
    ]
    many = [columns for columns in together if len(columns) > 1]
    single = {
        columns[0]: np.unique(block.values[:, columns[0]])
        for columns in together
        if len(columns) == 1 and block.kinds[columns[0]] != "continuous"
    }
    if not many and not single:
        return draw

    def snapped(rng: np.random.Generator) -> np.ndarray:
        values = np.array(draw(rng), dtype=np.float64)
        for columns in many:
            values[:, columns] = np.eye(len(columns))[values[:, columns].argmax(axis=1)]
        for column, levels in single.items():
            nearest = np.abs(values[:, [column]] - levels).argmin(axis=1)
            values[:, column] = levels[nearest]
        return values

    return snapped
