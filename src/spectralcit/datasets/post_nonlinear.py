"""Post-nonlinear models: an index of Z plus noise, passed through a nonlinearity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .base import LAWS, Dataset, Sample, choice, draw_noise, positive
from .registry import register_dataset

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


@register_dataset("post-nonlinear")
@dataclass(frozen=True, kw_only=True)
class PostNonlinear(Dataset):
    """X = f(mean Z + ε_X/4), Y = g(mean Z + ε_Y/4); the alternative adds ε/2 to both.

    Parameters
    ----------
    d_z
        Columns of Z.
    f, g
        Nonlinearities of X and of Y: ``"linear"``, ``"square"``, ``"cube"``, ``"tanh"``, ``"sin"`` or
        ``"cos"``; ``"random"`` draws one of them anew in each sample.
    noise, z_law
        Laws of the three noises and of the columns of Z; see `draw_noise`.
    noise_scale, strength
        The factors 1/4 and 1/2 of the equations.
    standardize
        As in `Dataset`.

    References
    ----------
    Yang et al. (2025), AAAI, as used by Fröhlich et al. (2026), section 5.1 (cube, tanh, normal).
    """

    paper: ClassVar[str] = "Yang et al. (2025); Fröhlich et al. (2026), section 5.1"

    d_z: int = 50
    f: str = "cube"
    g: str = "tanh"
    noise: str = "normal"
    z_law: str = "normal"
    noise_scale: float = 0.25
    strength: float = 0.5

    def __post_init__(self) -> None:
        positive(self.d_z, "d_z")
        choice(self.f, [*NONLINEARITIES, "random"], "f")
        choice(self.g, [*NONLINEARITIES, "random"], "g")
        choice(self.noise, LAWS, "noise")
        choice(self.z_law, LAWS, "z_law")

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


@register_dataset("zhang-2012")
@dataclass(frozen=True, kw_only=True)
class ZhangPostNonlinear(Dataset):
    """X = G(F(Z) + E), with F and G random mixtures of linear, cubic and tanh, different for X and Y.

    The alternative adds the same normal noise to X and Y. Columns of Z that are not effective are noise.

    Parameters
    ----------
    d_z
        Columns of Z.
    effective
        ``"one"``: X and Y depend on the first column only (case I). ``"all"``: on every column (case II).
    noise
        Law of E; the paper has ``"normal"`` and ``"uniform"``.
    noise_scale
        Factor of E.
    strength
        Standard deviation of the shared noise. The paper only says that it is small.
    standardize
        As in `Dataset`.

    References
    ----------
    Zhang, Peters, Janzing and Schölkopf (2012), "Kernel-based conditional independence test", section 4.1.
    """

    paper: ClassVar[str] = "Zhang et al. (2012), section 4.1"

    d_z: int = 3
    effective: str = "one"
    noise: str = "normal"
    noise_scale: float = 0.5
    strength: float = 0.5

    def __post_init__(self) -> None:
        positive(self.d_z, "d_z")
        choice(self.effective, ("one", "all"), "effective")
        choice(self.noise, LAWS, "noise")

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
