"""Hard cases: confounding under which tests break their error rate, each with a weak alternative.

Every generator takes ``(n, rng, dependent=..., strength=...)``. `strength` scales the dependence that is
added under the alternative; the defaults are chosen so that at a thousand rows good tests find it
sometimes. Each is registered as a data set too: ``linear_20`` as ``"hard-linear-20"``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .base import Sample
from .registry import register_family

__all__ = ["HARD_CASES"]

HARD_CASES: dict[str, Callable[..., tuple[Any, Any, Any]]] = {}  # by the names of the functions below


def _case(function: Callable[..., Any]) -> Callable[..., Any]:
    HARD_CASES[function.__name__] = function
    return register_family("hard", paper="spectralcit, calibration study")(function)


@_case
def linear_20(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.08) -> Sample:
    """Strong linear confounding by twenty columns; a weak linear effect."""
    z = rng.standard_normal((n, 20))
    index = z.sum(axis=1) * 2 / np.sqrt(20)
    own, other = rng.standard_normal((2, n))
    return index + own, index + other + dependent * strength * own, z


@_case
def nonlinear_2(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.08) -> Sample:
    """Strong smooth nonlinear confounding by two columns; a weak linear effect."""
    z = rng.standard_normal((n, 2))
    index = np.sin(1.5 * z[:, 0]) + z[:, 1] ** 2 / 2
    own, other = 0.5 * rng.standard_normal((2, n))
    return index + own, np.cos(z[:, 0]) + index + other + dependent * strength * own, z


@_case
def interaction_2(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.15) -> Sample:
    """As nonlinear_2, with an effect whose sign is that of the first column of Z."""
    z = rng.standard_normal((n, 2))
    index = np.sin(1.5 * z[:, 0]) + z[:, 1] ** 2 / 2
    own, other = 0.5 * rng.standard_normal((2, n))
    effect = strength * np.sign(z[:, 0]) * own
    return index + own, np.cos(z[:, 0]) + index + other + dependent * effect, z


@_case
def staircase_1(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.15) -> Sample:
    """Confounding by the steps of one column; a weak linear effect."""
    z = rng.uniform(-2.0, 2.0, size=(n, 1))
    steps = np.floor(2 * z[:, 0]) % 2
    own, other = 0.3 * rng.standard_normal((2, n))
    return steps + own, steps + other + dependent * strength * own, z


@_case
def thresholds_5(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.15) -> Sample:
    """Confounding by thresholds in three of five columns; a weak linear effect."""
    z = rng.standard_normal((n, 5))
    index = 2.0 * ((z[:, 0] > 0) & (z[:, 1] > 0)) - (z[:, 2] > 1)
    own, other = 0.4 * rng.standard_normal((2, n))
    return index + own, index + other + dependent * strength * own, z


@_case
def single_index_10(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.1) -> Sample:
    """Confounding by one nonlinear index of ten columns; a weak linear effect."""
    z = rng.standard_normal((n, 10))
    index = z.sum(axis=1) / np.sqrt(10)
    own, other = 0.5 * rng.standard_normal((2, n))
    return (
        np.sin(2 * index) + own,
        2 * np.cos(index) + np.sin(2 * index) + other + dependent * strength * own,
        z,
    )


@_case
def thresholds_trend_4(
    n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.15
) -> Sample:
    """Confounding by thresholds on top of a linear trend in four columns; a weak linear effect."""
    z = rng.standard_normal((n, 4))
    index = z @ np.array([1.0, 0.5, -0.5, 0.3]) + (z[:, 0] > 0) + (z[:, 1] > 0.5)
    own, other = 0.3 * rng.standard_normal((2, n))
    return index + own, index + other + dependent * strength * own, z


@_case
def sparse_50(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.1) -> Sample:
    """Confounding by nonlinear functions of two out of fifty columns; a weak linear effect."""
    z = rng.standard_normal((n, 50))
    index = np.sin(2 * z[:, 0]) + z[:, 1] ** 2
    own, other = 0.5 * rng.standard_normal((2, n))
    return index + own, index + other + dependent * strength * own, z


@_case
def three_of_300(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.5) -> Sample:
    """Confounding by three out of three hundred columns; a linear effect."""
    z = rng.standard_normal((n, 300))
    index = np.sin(2 * z[:, 0]) + z[:, 1] + z[:, 2]
    own, other = rng.standard_normal((2, n))
    return index + own, index + other + dependent * strength * own, z


@_case
def all_of_300(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.5) -> Sample:
    """Confounding by the sum of three hundred columns; a linear effect."""
    z = rng.standard_normal((n, 300))
    index = 1.5 * z.sum(axis=1) / np.sqrt(300)
    own, other = rng.standard_normal((2, n))
    return index + own, index + other + dependent * strength * own, z


@_case
def additive_10(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.1) -> Sample:
    """Confounding by a rough additive function of ten columns; a weak linear effect."""
    z = rng.standard_normal((n, 10))
    index = np.abs(z[:, :5]).sum(axis=1) + np.sin(3 * z[:, 5:]).sum(axis=1)
    own, other = rng.standard_normal((2, n))
    return index + own, index + other + dependent * strength * own, z


@_case
def variance_2(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.08) -> Sample:
    """Z drives the variance of X and of Y; a weak quadratic effect."""
    z = rng.standard_normal((n, 2))
    spread = np.exp(0.7 * z[:, 0])
    own, other = rng.standard_normal((2, n))
    effect = strength * (own**2 - 1)
    return z[:, 1] + spread * own, -z[:, 1] + spread * (other + dependent * effect), z


@_case
def shared_variance(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.35) -> Sample:
    """Confounded means; under the alternative X and Y share a random variance, uncorrelated otherwise."""
    z = rng.standard_normal((n, 3))
    own, other, volatility = rng.standard_normal((3, n))
    spread = np.exp(dependent * strength * volatility)
    return z[:, 0] + spread * own, z[:, 0] + z[:, 1] + spread * other, z


@_case
def quadratic_3(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.08) -> Sample:
    """A weak quadratic effect; X and Y depend on different columns of Z."""
    z = rng.standard_normal((n, 3))
    own, other = rng.standard_normal((2, n))
    return z[:, 0] + own, z[:, 1] ** 2 + other + dependent * strength * (own**2 - 1), z


@_case
def heavy_tails(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.1) -> Sample:
    """Everything, Z included, has three degrees of freedom in Student's t."""
    z = rng.standard_t(3, (n, 5))
    own, other = rng.standard_t(3, (2, n))
    index = z.sum(axis=1)
    return index + own, index + other + dependent * strength * own, z


@_case
def cauchy_noise(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.1) -> Sample:
    """Linear confounding under Cauchy noise."""
    z = rng.standard_normal((n, 3))
    own, other = rng.standard_cauchy((2, n))
    index = 2 * z.sum(axis=1)
    return index + own, index + other + dependent * strength * own, z


@_case
def heavy_z_20(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.1) -> Sample:
    """Linear confounding by twenty heavy-tailed columns."""
    z = rng.standard_t(3, (n, 20))
    own, other = rng.standard_normal((2, n))
    index = z.sum(axis=1) / 2
    return index + own, index + other + dependent * strength * own, z


@_case
def near_function(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.1) -> Sample:
    """X is nearly a function of Z: what Z does not explain is a twentieth of its spread."""
    z = rng.standard_normal((n, 2))
    index = np.sin(z[:, 0]) + z[:, 1]
    own, other = rng.standard_normal((2, n))
    return index + 0.05 * own, index + 0.5 * other + dependent * strength * own / 2, z


@_case
def post_nonlinear_2(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.1) -> Sample:
    """Noise inside the nonlinearity: an exponential and a signed cube."""
    z = rng.standard_normal((n, 2))
    own, other = 0.5 * rng.standard_normal((2, n))
    inner = z[:, 0] + other + dependent * strength * own
    return np.exp(z[:, 0] + own), inner**3 * np.sign(z[:, 1]), z


@_case
def gamma_shape(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.1) -> Sample:
    """Z drives the whole shape of two gamma variables, not only mean and variance."""
    z = rng.standard_normal((n, 2))
    shape = np.exp(z[:, 0]) + 0.2
    x = rng.gamma(shape)
    tilt = 1 + dependent * strength * np.tanh((x - shape) / np.sqrt(shape))
    return x, rng.gamma(shape * tilt), z


@_case
def discrete_z(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.08) -> Sample:
    """Z is one categorical variable with six levels and large differences between them."""
    level = rng.integers(0, 6, n)
    means = np.array([0.0, 3.0, -2.0, 1.0, 5.0, -4.0])[level]
    own, other = rng.standard_normal((2, n))
    z = (level[:, None] == np.arange(6)).astype(float)
    return means + own, -means + other + dependent * strength * own, z


@_case
def binary_y(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.2) -> Sample:
    """Y is binary, with nonlinear confounding."""
    z = rng.standard_normal((n, 3))
    own = rng.standard_normal(n)
    index = np.sin(z[:, 0]) + z[:, 1]
    chance = 1 / (1 + np.exp(-(index + np.sin(z[:, 0]) + dependent * strength * own)))
    return index + own, (rng.uniform(size=n) < chance).astype(float), z


@_case
def both_binary(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.5) -> Sample:
    """X and Y are binary, and Z acts through an interaction."""
    z = rng.standard_normal((n, 5))
    index = 1.5 * z[:, 0] + z[:, 1] * z[:, 2]
    x = (rng.uniform(size=n) < 1 / (1 + np.exp(-index))).astype(float)
    chance = 1 / (1 + np.exp(-index - dependent * strength * (x - 0.5)))
    return x, (rng.uniform(size=n) < chance).astype(float), z


@_case
def five_classes(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.25) -> Sample:
    """X has five unordered classes."""
    z = rng.standard_normal((n, 3))
    scores = z @ np.array([[1, -1, 0, 1, 2], [0, 1, -1, 2, -1], [1, 0, 1, -1, 0]]) + rng.gumbel(size=(n, 5))
    label = scores.argmax(axis=1)
    y = 2 * np.sin(z[:, 0]) + z[:, 1] + rng.standard_normal(n) + dependent * strength * (label == 2)
    return (label[:, None] == np.arange(5)).astype(float), y, z


@_case
def mixed_types(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.1) -> Sample:
    """A categorical and a continuous Z that interact; Y is a count."""
    label, first = rng.integers(0, 3, n), rng.standard_normal(n)
    slope = np.array([-1.0, 0.0, 2.0])[label]
    own = rng.standard_normal(n)
    counts = rng.poisson(np.exp(0.5 * slope * np.tanh(first) + dependent * strength * own))
    z = np.column_stack([first, label[:, None] == np.arange(3)]).astype(float)
    return slope * first + own, counts.astype(float), z


@_case
def vector_20(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.3) -> Sample:
    """Twenty columns on either side; one pair depends."""
    z = rng.standard_normal((n, 5))
    own, other = rng.standard_normal((2, n, 20))
    x, y = np.tanh(z @ rng.standard_normal((5, 20))) + own, np.sin(z @ rng.standard_normal((5, 20))) + other
    y[:, 0] += dependent * strength * own[:, 0]
    return x, y, z


@_case
def vector_200(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.2) -> Sample:
    """Two hundred columns on either side; twenty pairs depend."""
    z = rng.standard_normal((n, 5))
    own, other = rng.standard_normal((2, n, 200))
    x, y = z @ rng.standard_normal((5, 200)) + own, np.tanh(z @ rng.standard_normal((5, 200))) + other
    y[:, :20] += dependent * strength * own[:, :20]
    return x, y, z


@_case
def independent(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.1) -> Sample:
    """Mutually independent normal variables."""
    own, other = rng.standard_normal((2, n))
    return own, other + dependent * strength * own, rng.standard_normal((n, 5))


@_case
def no_z(n: int, rng: np.random.Generator, *, dependent: bool, strength: float = 0.1) -> Sample:
    """An unconditional test."""
    own, other = rng.standard_normal((2, n))
    return own, other + dependent * strength * own, None
