"""Image patches whose orientation drives Y; their phase is random, so that no sum of pixels knows it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..parameters import choice, integer, real
from .base import Dataset, Sample
from .registry import declared

__all__: list[str] = []


@declared("image-orientation")
class ImageOrientation(Dataset):
    """X is a patch at a random angle θ and phase, Y = z_1 + strength (cos 2θ or sin 2θ) + noise u.

    A grating is contrast cos(frequency (h cos θ + v sin θ) + phase) at the places (h, v) of [-1, 1]²; a bar
    is a line, light or dark, of that angle at a random distance from the centre: ± contrast exp(-(distance
    to it)² frequency² / 8). z_1 is added to all pixels, exp(z_2 / 4) multiplies the contrast. Under the null
    the θ of Y is another angle, independent of the patch.
    """

    paper: ClassVar[str] = "spectralcit, attack on the default test"

    side: int = integer(12, "Pixels of a side.", least=2)
    stimulus: str = choice("grating", "What is seen.", "grating", "bar")
    target: str = choice("cosine", "What Y is told of 2θ; ``'both'`` has two columns.", "cosine", "both")
    frequency: float = real(6.0, "Of the grating, in radians over half a side; of the bar its sharpness.")
    contrast: float = real(1.0, "Of what is seen.")
    pixel_noise: float = real(0.5, "Standard deviation of each pixel's noise.", least=0.0)
    noise: float = real(0.5, "Standard deviation of the noise of Y.", above=0.0)
    d_z: int = integer(2, "Columns of Z.", least=2)
    strength: float = real(1.0, "Of the dependence under the alternative.")

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = rng.standard_normal((n, self.d_z))
        seen, unseen = rng.uniform(0.0, np.pi, (2, n))
        phase, polarity = rng.uniform(0.0, 1.0, n), rng.choice([-1.0, 1.0], n)
        contrast = self.contrast * np.exp(z[:, 1] / 4) * polarity
        picture = contrast[:, None] * self._stimulus(seen, phase)
        x = z[:, :1] + picture + self.pixel_noise * rng.standard_normal(picture.shape)
        angle = 2 * (seen if dependent else unseen)
        told = np.column_stack([np.cos(angle), np.sin(angle)])
        y = z[:, :1] + self.strength * told + self.noise * rng.standard_normal(told.shape)
        return x, y if self.target == "both" else y[:, 0], z

    def _stimulus(self, angle: np.ndarray, phase: np.ndarray) -> np.ndarray:
        """Patches of given angles, one a row; `phase` in [0, 1)."""
        line = np.linspace(-1.0, 1.0, self.side)
        across, down = (grid.ravel() for grid in np.meshgrid(line, line))
        along = np.outer(np.cos(angle), across) + np.outer(np.sin(angle), down)
        if self.stimulus == "grating":
            return np.cos(self.frequency * along + 2 * np.pi * phase[:, None])
        return np.exp(-((along - (2 * phase - 1)[:, None] / 2) ** 2) * self.frequency**2 / 8)
