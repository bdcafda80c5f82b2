"""Nulls that an attack broke: what Z explains is jagged, hidden in mixed columns, or beyond the rows at hand.

Each states a *kind*; constants are parameters, so that another member of the kind is one line of a suite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..parameters import choice, integer, real
from .base import Sample
from .confounded import Confounded
from .registry import declared

_WAVES = 300  # of a random field, by hand: its law is within a few percent of a Gaussian field's


@declared("attack-rounded")
class Rounded(Confounded):
    """Rounded measurements that follow Z: X = round(slope z_1 + noise e) to a resolution, Y alike.

    The values of X are X* = slope z_1 + noise e, or slope sin(2 z_1) + noise e, on a lattice whose step is
    the resolution.
    """

    d_z: int = integer(1, "Columns of Z; the first one matters.")
    curve: str = choice("line", "How X* follows Z.", "line", "sine")
    slope: float = real(3.0, "Of X* in Z.")
    resolution: float = real(1.0, "Step of the lattice.", above=0.0)
    how: str = choice(
        "nearest",
        "Which point of the lattice: the nearest, the one below, or the nearest for half of the values (by "
        "a coin of each value's own) and a lattice ten times as fine for the others.",
        "nearest",
        "floor",
        "heaped",
    )
    noise: float = real(0.35, "Standard deviation of what Z does not explain, before rounding.", above=0.0)

    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw Z, and the measurement without error."""
        z = rng.standard_normal((n, self.d_z))
        return z, self.slope * (z[:, 0] if self.curve == "line" else np.sin(2 * z[:, 0]))

    def measured(self, index: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Either side on its lattice."""
        exact = (index + self.noise * error) / self.resolution
        if self.how == "floor":
            return self.resolution * np.floor(exact)
        if self.how == "nearest":
            return self.resolution * np.round(exact)
        # The digits far behind the point are a coin that needs no generator, so that Y keeps its stream.
        coarse = np.floor(1e6 * error) % 2 == 0
        return self.resolution * np.where(coarse, np.round(exact), np.round(10 * exact) / 10)


@declared("attack-thresholds")
class Thresholds(Confounded):
    """Thresholds in wide Z: f = height Σ_j ± 1{z_j > cut} over the first columns, signs alternating.

    As ``"and"`` it is height 1{all of those columns > cut}.
    """

    d_z: int = integer(30, "Columns of Z.")
    steps: int = integer(2, "Columns that have a threshold; at most `d_z`.")
    cut: float = real(0.3, "Where it is.")
    height: float = real(2.0, "Of a step.")
    joined: str = choice("sum", "How the steps are put together.", "sum", "and")

    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw Z, and the steps."""
        z = rng.standard_normal((n, self.d_z))
        above = z[:, np.arange(self.steps)] > self.cut
        if self.joined == "and":
            return z, np.where(above.all(axis=1), self.height, 0.0)
        signs = (-1.0) ** np.arange(self.steps)
        return z, self.height * np.where(above, signs, 0.0).sum(axis=1)


@declared("attack-mixed-columns")
class MixedColumns(Confounded):
    """Correlated columns: Z = S A with a Gaussian matrix A; f = sin(frequency s_1) + s_2² / 2.

    S is standard normal and A square, drawn anew in each sample: an invertible map of columns of which each
    would be easy.
    """

    d_z: int = integer(4, "Columns of Z and of S.", least=2)
    frequency: float = real(2.0, "Of the sine.")

    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw the mixed columns, and the function of those before."""
        sources = rng.standard_normal((n, self.d_z))
        mixing = rng.standard_normal((self.d_z, self.d_z))
        return sources @ mixing, np.sin(self.frequency * sources[:, 0]) + sources[:, 1] ** 2 / 2


@declared("attack-near-copies")
class NearCopies(Confounded):
    """Near-copies: Z = (z, z + gap e) in pairs; f = Σ cos(frequency e) over the pairs.

    The difference of a pair is all that matters, and gap² / 2 of its variance.
    """

    pairs: int = integer(1, "Pairs of columns.")
    gap: float = real(0.01, "Standard deviation of the difference.", above=0.0)
    frequency: float = real(2.0, "Of the cosine, in units of the gap.")

    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw the pairs, and the cosines of their differences."""
        first, difference = rng.standard_normal((2, n, self.pairs))
        z = np.hstack([first, first + self.gap * difference])
        return z, np.cos(self.frequency * difference).sum(axis=1)


@dataclass(frozen=True, kw_only=True)
class _Pattern(Confounded):
    """A pattern of Z, +1 or -1, in the mean of X and Y or in their spread."""

    moment: str = choice("mean", "What the pattern drives.", "mean", "variance")
    height: float = real(1.0, "Of the pattern; of the logarithm of the spread where it drives that.")

    def measured(self, index: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Either side: shifted or stretched by the pattern."""
        if self.moment == "mean":
            return self.height * index + self.noise * error
        return np.exp(self.height * index) * self.noise * error


@declared("attack-xor")
class Xor(_Pattern):
    """XOR: f = sign(z_1 z_2 ... z_order) of wide Z, in the mean or in the variance of both sides."""

    d_z: int = integer(8, "Columns of Z.", least=2)
    order: int = integer(2, "Columns that are multiplied; at most `d_z`.", least=2)
    shown: str = choice("own columns", "What is seen: Z, or a random linear map.", "own columns", "mixed")

    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw Z, and the sign of the product."""
        z = rng.standard_normal((n, self.d_z))
        sign = np.sign(z[:, np.arange(self.order)].prod(axis=1))
        return z if self.shown == "own columns" else z @ rng.standard_normal((self.d_z, self.d_z)), sign


@declared("attack-ball")
class Ball(_Pattern):
    """A ball: f = 1 where |z|² exceeds the number of columns, and -1 inside."""

    d_z: int = integer(5, "Columns of Z.", least=2)

    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw Z, and on which side of the ball's edge it is."""
        z = rng.standard_normal((n, self.d_z))
        return z, np.where(np.square(z).sum(axis=1) > self.d_z, 1.0, -1.0)


@declared("attack-checkerboard")
class Checkerboard(_Pattern):
    """A checkerboard: f = sign(sin(frequency z_1) sin(frequency z_2)), in the mean or in the variance."""

    d_z: int = integer(2, "Columns of Z.", least=2)
    frequency: float = real(3.0, "Fields of the board have the side π / frequency.", above=0.0)

    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw Z, and the colour of its field."""
        z = rng.standard_normal((n, self.d_z))
        return z, np.sign(np.sin(self.frequency * z[:, :2]).prod(axis=1))


@declared("attack-ratio")
class Ratio(Confounded):
    """A ratio: f = z_1 / z_2, where |z_2| = least + |normal|, of any sign or positive."""

    d_z: int = integer(2, "Columns of Z.", least=2)
    least: float = real(0.0, "Smallest |z_2|; at 0 the ratio is Cauchy.", least=0.0)
    denominator: str = choice("any sign", "Sign of z_2.", "any sign", "positive")

    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw Z, and the ratio."""
        z = rng.standard_normal((n, self.d_z))
        size = self.least + np.abs(z[:, 1])
        z[:, 1] = size * (np.sign(z[:, 1]) if self.denominator == "any sign" else 1.0)
        return z, z[:, 0] / z[:, 1]


@declared("attack-field")
class Field(Confounded):
    """A rough spatial field: f = √(2/M) Σ_k cos(w_k'z / length + b_k), Z uniform on the unit cube.

    M = 300 waves, drawn anew in each sample. With normal w_k it is smooth at the scale of `length`; with
    Student's t of three degrees of freedom it is a Matérn field that has one derivative.
    """

    d_z: int = integer(2, "Columns of Z: a line, a map, a volume.")
    length: float = real(0.05, "Over which the field forgets itself.", above=0.0)
    waves: str = choice("gauss", "Law of the w_k.", "gauss", "matern")

    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw places, and the field there."""
        z = rng.uniform(size=(n, self.d_z))
        waves = rng.standard_normal((self.d_z, _WAVES))
        if self.waves == "matern":
            waves /= np.sqrt(rng.chisquare(3, _WAVES) / 3)
        phases = rng.uniform(0.0, 2 * np.pi, _WAVES)
        return z, np.sqrt(2 / _WAVES) * np.cos(z @ waves / self.length + phases).sum(axis=1)


@declared("attack-index")
class Index(Confounded):
    """An index of many columns: f = g(w'z), w a random unit vector; g a sine, a cosine, a square, a sign."""

    d_z: int = integer(30, "Columns of Z.")
    g: str = choice("sine", "Function of the index.", "sine", "cosine", "square", "sign")
    frequency: float = real(2.0, "Factor of w'z inside sine and cosine.")

    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw Z, and the function of its index."""
        z = rng.standard_normal((n, self.d_z))
        weights = rng.standard_normal(self.d_z)
        index = z @ weights / np.linalg.norm(weights)
        if self.g == "square":
            return z, (index**2 - 1) / np.sqrt(2)
        if self.g == "sign":
            return z, np.sign(index)
        return z, (np.sin if self.g == "sine" else np.cos)(self.frequency * index)


@declared("attack-bilinear")
class Bilinear(Confounded):
    """A bilinear form of many columns: f = Σ_k (a_k'z) (b_k'z) / √rank, random unit vectors a_k, b_k."""

    d_z: int = integer(30, "Columns of Z.", least=2)
    rank: int = integer(15, "Of the form.")

    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw Z, and the form."""
        z = rng.standard_normal((n, self.d_z))
        left, right = rng.standard_normal((2, self.d_z, self.rank))
        left, right = left / np.linalg.norm(left, axis=0), right / np.linalg.norm(right, axis=0)
        return z, ((z @ left) * (z @ right)).sum(axis=1) / np.sqrt(self.rank)


@declared("attack-interactions")
class Interactions(Confounded):
    """Interactions, for few rows: f = sin(frequency z_1) + product z_2 z_3 among several columns."""

    d_z: int = integer(8, "Columns of Z.", least=3)
    frequency: float = real(2.0, "Of the sine.")
    product: float = real(1.0, "Factor of the product.")

    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw Z, and the sum."""
        z = rng.standard_normal((n, self.d_z))
        return z, np.sin(self.frequency * z[:, 0]) + self.product * z[:, 1] * z[:, 2]


@declared("attack-duplicated")
class Duplicated(Confounded):
    """Duplicated rows: every row stands there `copies` times; f = sin(2 z_1) + z_2 among several columns.

    Given Z the two sides of a row are independent, but the rows are not: no test of independent rows can
    keep its level, and only a warning helps.
    """

    d_z: int = integer(3, "Columns of Z.", least=2)
    copies: int = integer(2, "Of each row.")

    def confounder(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw Z, and the function of it."""
        z = rng.standard_normal((n, self.d_z))
        return z, np.sin(2 * z[:, 0]) + z[:, 1]

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        x, y, z = super()._draw(-(-n // self.copies), rng, dependent)
        rows = rng.permutation(np.arange(n) // self.copies)
        return x[rows], y[rows], None if z is None else z[rows]
