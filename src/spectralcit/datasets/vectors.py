"""X and Y of many columns: hidden directions, single columns, an embedding; what sums over columns miss."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..parameters import choice, integer, real
from .base import Dataset, Sample
from .registry import declared

__all__ = ["EFFECTS"]

# What Y feels of the noise e of X, given unit vectors a; variance one where e is standard normal, but for
# the maximum, which is only centred and scaled over the rows.
EFFECTS = ("linear", "square", "cosine", "product", "maximum", "one linear", "one square")


@declared("vector-effect")
class VectorEffect(Dataset):
    """Vectors with a hidden effect: X = tanh(Z A) + e, Y = tanh(Z B) + u + strength t(e) b'.

    t is a'e (``"linear"``), its square or cosine, for a random direction a of all columns; e_1 e_2; the
    maximum of e; or e_1 or e_1² alone. b is a random direction of Y, or its first column where t has to do
    with single columns. Under the null t(e) is that of a vector of its own: Y has the same law.
    """

    paper: ClassVar[str] = "spectralcit, attack on the default test"

    d_x: int = integer(20, "Columns of X.", least=2)
    d_y: int = integer(20, "Columns of Y.")
    d_z: int = integer(5, "Columns of Z.")
    effect: str = choice("square", "The function t.", *EFFECTS)
    strength: float = real(1.0, "Standard deviation of t(e), where that of u is one.")
    spread: float = real(
        0.0,
        "Heteroscedasticity: the noise of both sides is multiplied by exp(spread z_1).",
        least=0.0,
    )

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = rng.standard_normal((n, self.d_z))
        to_x = rng.standard_normal((self.d_z, self.d_x)) / np.sqrt(self.d_z)
        to_y = rng.standard_normal((self.d_z, self.d_y)) / np.sqrt(self.d_z)
        own, unseen = rng.standard_normal((2, n, self.d_x))
        other = rng.standard_normal((n, self.d_y))
        source, target = (_direction(d, rng) for d in (self.d_x, self.d_y))
        if self.effect in ("product", "maximum", "one linear", "one square"):
            target = np.eye(1, self.d_y)[0]
        felt = _effect(self.effect, own if dependent else unseen, source)
        scale = np.exp(self.spread * z[:, :1])
        y = np.tanh(z @ to_y) + scale * (other + self.strength * np.outer(felt, target))
        return np.tanh(z @ to_x) + scale * own, y, z


def _direction(d: int, rng: np.random.Generator) -> np.ndarray:
    vector = rng.standard_normal(d)
    return vector / np.linalg.norm(vector)


def _effect(name: str, noise: np.ndarray, direction: np.ndarray) -> np.ndarray:
    along = noise[:, 0] if name.startswith("one") else noise @ direction
    if name.endswith("linear"):
        return along
    if name.endswith("square"):
        return (along**2 - 1) / np.sqrt(2)
    if name == "cosine":
        return np.sqrt(2) * np.cos(2 * along)
    if name == "product":
        return noise[:, 0] * noise[:, 1]
    largest = noise.max(axis=1)
    return (largest - largest.mean()) / max(largest.std(), 1e-12)  # one row has no spread


@declared("vector-embedding")
class VectorEmbedding(Dataset):
    """An embedding: X = tanh((s, t) A) + noise e of many columns, Y = g(s) + u + strength (t_1² - 1) / √2.

    s are traits that Z holds, t traits of the row's own; A is a Gaussian matrix, drawn anew in each sample.
    Y has one column, or as many as asked for, each with its own mixture of tanh(s). Under the null t_1 is
    replaced by a variable of its own.
    """

    paper: ClassVar[str] = "spectralcit, attack on the default test"

    d_x: int = integer(384, "Columns of the embedding.")
    d_y: int = integer(1, "Columns of Y; the effect is in the first.")
    d_z: int = integer(8, "Traits s, the columns of Z.")
    own: int = integer(8, "Traits t, which Z does not hold.")
    noise: float = real(0.3, "Standard deviation of the noise of the embedding.", above=0.0)
    strength: float = real(1.0, "Of the dependence under the alternative.")

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z, own = rng.standard_normal((n, self.d_z)), rng.standard_normal((n, self.own))
        mixing = rng.standard_normal((self.d_z + self.own, self.d_x)) / np.sqrt(self.d_z + self.own)
        x = np.tanh(np.hstack([z, own]) @ mixing) + self.noise * rng.standard_normal((n, self.d_x))
        weights = rng.standard_normal((self.d_z, self.d_y)) / np.sqrt(self.d_z)
        y = 2 * np.tanh(z) @ weights + rng.standard_normal((n, self.d_y))
        unseen = rng.standard_normal(n)
        y[:, 0] += self.strength * ((own[:, 0] if dependent else unseen) ** 2 - 1) / np.sqrt(2)
        return x, y[:, 0] if self.d_y == 1 else y, z
