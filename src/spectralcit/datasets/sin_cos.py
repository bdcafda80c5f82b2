"""The sine and cosine model, in which Y depends on X directly."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..parameters import integer, real
from .base import Dataset, Sample, draw_noise, law_option
from .registry import declared

__all__ = ["SinCos"]


@declared("sin-cos")
class SinCos(Dataset):
    """X = sin(a·Z + ε_X/2), Y = cos(a'·Z + bX + ε_Y/2); b = 0 under the null hypothesis.

    The entries of a and a' are uniform on [0, 1), divided by their sum, and drawn anew in each sample.

    References
    ----------
    Shi, Xu, Bergsma and Li (2021), "Double generative adversarial networks for conditional independence
    testing", as used by Fröhlich et al. (2026), section 5.1.
    """

    paper: ClassVar[str] = "Shi et al. (2021); Fröhlich et al. (2026), section 5.1"

    d_z: int = integer(50, "Columns of Z.")
    b: float = real(2.0, "Coefficient of X in the equation of Y under the alternative.")
    noise: str = law_option("the noises")
    z_law: str = law_option("the columns of Z; Shi et al. use ``'normal'`` and ``'laplace'``")
    noise_scale: float = real(0.5, "The factor 1/2 of the equations.")

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = draw_noise(rng, self.z_law, (n, self.d_z))
        weights_x, weights_y = (w / w.sum() for w in rng.uniform(size=(2, self.d_z)))
        x = np.sin(z @ weights_x + self.noise_scale * draw_noise(rng, self.noise, n))
        effect = self.b * x if dependent else 0.0
        return x, np.cos(z @ weights_y + effect + self.noise_scale * draw_noise(rng, self.noise, n)), z
