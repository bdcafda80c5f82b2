"""The sine and cosine model, in which Y depends on X directly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .base import LAWS, Dataset, Sample, choice, draw_noise, positive
from .registry import register_dataset

__all__ = ["SinCos"]


@register_dataset("sin-cos")
@dataclass(frozen=True, kw_only=True)
class SinCos(Dataset):
    """X = sin(a·Z + ε_X/2), Y = cos(a'·Z + bX + ε_Y/2); b = 0 under the null hypothesis.

    The entries of a and a' are uniform on [0, 1), divided by their sum, and drawn anew in each sample.

    Parameters
    ----------
    d_z
        Columns of Z.
    b
        Coefficient of X in the equation of Y under the alternative.
    noise, z_law
        Laws of the noises and of the columns of Z; Shi et al. use ``"normal"`` and ``"laplace"`` for Z.
    noise_scale
        The factor 1/2 of the equations.
    standardize
        As in `Dataset`.

    References
    ----------
    Shi, Xu, Bergsma and Li (2021), "Double generative adversarial networks for conditional independence
    testing", as used by Fröhlich et al. (2026), section 5.1.
    """

    paper: ClassVar[str] = "Shi et al. (2021); Fröhlich et al. (2026), section 5.1"

    d_z: int = 50
    b: float = 2.0
    noise: str = "normal"
    z_law: str = "normal"
    noise_scale: float = 0.5

    def __post_init__(self) -> None:
        positive(self.d_z, "d_z")
        choice(self.noise, LAWS, "noise")
        choice(self.z_law, LAWS, "z_law")

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = draw_noise(rng, self.z_law, (n, self.d_z))
        weights_x, weights_y = (w / w.sum() for w in rng.uniform(size=(2, self.d_z)))
        x = np.sin(z @ weights_x + self.noise_scale * draw_noise(rng, self.noise, n))
        effect = self.b * x if dependent else 0.0
        return x, np.cos(z @ weights_y + effect + self.noise_scale * draw_noise(rng, self.noise, n)), z
