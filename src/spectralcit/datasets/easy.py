"""Easy cases: one for each kind of test, which has the right level there and finds the dependence.

``(n, rng, dependent=..., strength=...)`` as in `hard`; the defaults of `strength` are large.
"""

from __future__ import annotations

import numpy as np

from .base import Sample
from .registry import register_family

__all__: list[str] = []


_easy = register_family("easy", paper="spectralcit, classical study")


@_easy
def linear(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.35) -> Sample:
    """Three linear Gaussian confounders; a linear effect."""
    z = rng.normal(size=(n, 3))
    x = z @ [1.0, 0.5, -0.5] + rng.normal(size=n)
    return x, z @ [0.5, -1.0, 0.5] + rng.normal(size=n) + dependent * strength * x, z


@_easy
def heavy(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.5) -> Sample:
    """A linear confounder and Student t noise with two degrees of freedom; a linear effect."""
    z = rng.normal(size=n)
    x = 0.5 * z + rng.standard_t(2, size=n)
    return x, 0.5 * z + rng.standard_t(2, size=n) + dependent * strength * x, z


def _smooth(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    z = rng.normal(size=n)
    x = np.sin(z) + 0.7 * rng.normal(size=n)
    return x, np.cos(z) + 0.7 * rng.normal(size=n), z


@_easy
def smooth(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 1.0) -> Sample:
    """One confounder acting smoothly on both; a linear effect."""
    x, y, z = _smooth(n, rng)
    return x, y + dependent * strength * x, z


@_easy
def sign_change(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 1.0) -> Sample:
    """As easy-smooth, but the effect has the sign of the confounder: no residual correlation on average."""
    x, y, z = _smooth(n, rng)
    return x, y + dependent * strength * np.sign(z) * (x - np.sin(z)), z


@_easy
def even(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 1.5) -> Sample:
    """As easy-smooth, but the effect is even in what is left of X: no residual correlation at all."""
    x, y, z = _smooth(n, rng)
    return x, y + dependent * strength * (x - np.sin(z)) ** 2, z


@_easy
def unconditional(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.7) -> Sample:
    """No confounder; a quadratic effect."""
    x = rng.normal(size=n)
    return x, rng.normal(size=n) + dependent * strength * x**2, None


@_easy
def discrete(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.35) -> Sample:
    """Three levels each, one discrete confounder; so large a share of the rows copies X."""
    z = rng.integers(0, 3, n)
    x = (z + (rng.random(n) < 0.5)) % 3
    y = (z + 2 * (rng.random(n) < 0.5)) % 3
    return x, np.where(rng.random(n) < dependent * strength, x, y), z
