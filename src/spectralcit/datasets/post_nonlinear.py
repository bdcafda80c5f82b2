"""Post-nonlinear models: an index of Z plus noise, passed through a nonlinearity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..parameters import choice, integer, real
from .base import Dataset, Sample, draw_noise, law_option
from .registry import declared

__all__ = ["NONLINEARITIES", "PostNonlinear", "ZhangPostNonlinear"]

# The paper has cube and tanh; the others by hand, smooth functions of both symmetries.
NONLINEARITIES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda w: w,
    "square": lambda w: w**2,
    "cube": lambda w: w**3,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
}


def _nonlinearity_option(default: str, of: str) -> Any:
    words = f"Nonlinearity of {of}; ``'random'`` draws one of the others anew in each sample."
    return choice(default, words, *NONLINEARITIES, "random")


@declared("post-nonlinear")
class PostNonlinear(Dataset):
    """X = f(mean Z + ε_X/4), Y = g(mean Z + ε_Y/4); the alternative adds ε/2 to both.

    References
    ----------
    Yang et al. (2025), AAAI, as used by Fröhlich et al. (2026), section 5.1 (cube, tanh, normal).
    """

    paper: ClassVar[str] = "Yang et al. (2025); Fröhlich et al. (2026), section 5.1"

    d_z: int = integer(50, "Columns of Z.")
    f: str = _nonlinearity_option("cube", "X")
    g: str = _nonlinearity_option("tanh", "Y")
    noise: str = law_option("the three noises")
    z_law: str = law_option("the columns of Z")
    noise_scale: float = real(0.25, "The factor 1/4 of the equations.")
    strength: float = real(0.5, "The factor 1/2 of the alternative.")

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = draw_noise(rng, self.z_law, (n, self.d_z))
        noise_x, noise_y, shared = draw_noise(rng, self.noise, (3, n))
        f, g = (_nonlinearity(name, rng) for name in (self.f, self.g))
        index = z.mean(axis=1)
        common = self.strength * shared if dependent else 0.0
        return (
            f(index + self.noise_scale * noise_x) + common,
            g(index + self.noise_scale * noise_y) + common,
            z,
        )


def _nonlinearity(name: str, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
    # The generator is touched for "random" only, so that the paper's model keeps its stream.
    chosen = rng.choice(list(NONLINEARITIES)) if name == "random" else name
    return NONLINEARITIES[str(chosen)]


@declared("zhang-2012")
class ZhangPostNonlinear(Dataset):
    """X = G(F(Z) + E), with F and G random mixtures of linear, cubic and tanh, different for X and Y.

    The alternative adds the same normal noise to X and Y. Columns of Z that are not effective are noise.

    References
    ----------
    Zhang, Peters, Janzing and Schölkopf (2012), "Kernel-based conditional independence test", section 4.1.
    """

    paper: ClassVar[str] = "Zhang et al. (2012), section 4.1"

    d_z: int = integer(3, "Columns of Z.")
    effective: str = choice(
        "one",
        "``'one'``: X and Y depend on the first column only (case I). ``'all'``: on every column (case II).",
        "one",
        "all",
    )
    noise: str = law_option("E; the paper has ``'normal'`` and ``'uniform'``")
    noise_scale: float = real(0.5, "Factor of E.")
    strength: float = real(
        0.5, "Standard deviation of the shared noise. The paper only says that it is small."
    )

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = rng.standard_normal((n, self.d_z))
        used = z[:, :1] if self.effective == "one" else z
        shared = self.strength * rng.standard_normal(n)
        x, y = (self._side(used, rng) for _ in range(2))
        return x + dependent * shared, y + dependent * shared, z

    def _side(self, used: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        inner = sum(_mixture(column, rng) for column in used.T) / np.sqrt(used.shape[1])
        outer = _mixture(inner + self.noise_scale * draw_noise(rng, self.noise, len(used)), rng)
        # A cube of a cube can be huge; one scale for all samples makes `strength` mean the same in each.
        return outer / outer.std()


def _mixture(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    linear, cubic, bounded = rng.dirichlet(np.ones(3))
    return linear * values + cubic * values**3 + bounded * np.tanh(values)
