"""The sum of squares of many products of linear features, whose mean must be known to a per mille.

Of 200 × 200 products the sum varies by less than a per cent of its mean, so what hardly moves one of them
decides here. Two things do. First, Z is removed from linear features twice, by the fits of location and of
features: a ridge shrinks twice what it shrinks, and noise E of X has become ``A E`` with A the product of
both. Second, functions of Z that are too small in each column to be worth a degree of freedom are left in all
columns of both sides, and their products add up. So functions of Z that are visibly left in the many columns
of Y together are taken out once more, by a projection, which Y and Z alone have chosen: under the null
hypothesis the noise of X knows nothing of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..nuisance import AugmentedFit, LinearFit
from ..nuisance.maps import squared_distances
from .side_features import SideFeatures

__all__ = ["LinearRows", "wide_linear_rows"]

# By hand: with fewer products the sum varies by a third of its mean, and neither cause shows.
_MANY_PRODUCTS = 20
_LANDMARKS = 200  # by hand: of the kernel whose leading functions may be taken out
_MOST_SHARE = 0.1  # of the rows, by hand: what taking out functions of Z may cost at most
_MOST_FUNCTIONS = 100  # by hand: all polynomials up to the third degree of six columns, and some
_LEFT = 1e-8  # share of a function's square: if a fit leaves less, it removes the function already
# By hand. Signs in front of rows that tell what a product of smoothers leaves of noise; up to so many rows
# it is computed exactly. Its error, 0.1 per cent at a thousand rows, is a seventh of what 200 × 200 show.
_PROBES = 250
_PROBE_SEED = 20_260_104  # any number: the same probes for every data set
_LEAST_VARIANCE = 0.1  # of unit noise in a row: probes cannot tell it from less


@dataclass(frozen=True, eq=False)
class LinearRows:
    """Linear features of X without the leftover functions of Z, and the rows that signs are put before."""

    left: np.ndarray
    noise: np.ndarray
    partner: np.ndarray


def wide_linear_rows(x: SideFeatures, y: SideFeatures, coordinates: np.ndarray) -> LinearRows | None:
    """Return the rows of the linear block; ``None`` where usual ones do: few products, other fits, designs.

    Parameters
    ----------
    x, y
        Both sides; Y has at least as many columns.
    coordinates
        Columns of Z, such that distances between rows mean something.
    """
    pairs = x.linear.shape[1] * y.linear.shape[1]
    if pairs < _MANY_PRODUCTS or not (_is_linear(x) and _is_linear(y)):
        return None
    probes = _probes(len(coordinates))
    functions = _leftover_functions(y, coordinates, probes)
    left = _without(functions, x.linear)
    variance = _row_variances(_without(functions, _twice_removed(x, probes)), probes)
    noise = left * np.sqrt(x.allowance * y.allowance / variance)[:, None]
    return LinearRows(left, noise, _adjoint(x, _without(functions, y.linear)))


def _is_linear(side: SideFeatures) -> bool:
    fits = (side.fit, side.residuals.location)
    return all(isinstance(fit, LinearFit | AugmentedFit) and fit.design is None for fit in fits)


def _twice_removed(side: SideFeatures, noise: np.ndarray) -> np.ndarray:
    """Return what becomes of noise in a side's columns on the way to its linear features: A times it."""
    location = side.residuals.location
    return side.fit.remove(location.remove(noise) / location.row_scale[:, None])


def _adjoint(side: SideFeatures, columns: np.ndarray) -> np.ndarray:
    """Return the transpose of A times some columns."""
    location = side.residuals.location
    return location.adjoint(side.fit.adjoint(columns) / location.row_scale[:, None])


def _without(functions: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return columns - functions @ (functions.T @ columns)


def _probes(n: int) -> np.ndarray:
    """Return columns whose mean outer product is the identity: exactly for few rows, else random signs."""
    if n <= _PROBES:
        return np.sqrt(n) * np.eye(n)
    return np.random.default_rng(_PROBE_SEED).choice(np.array([-1.0, 1.0]), size=(n, _PROBES))


def _row_variances(moved: np.ndarray, probes: np.ndarray) -> np.ndarray:
    """Return the variance that unit noise keeps in each row, from probes and what has become of them."""
    square = np.square(moved)
    # A row's mean square varies as much as that of its probes, which should be one.
    variances = np.maximum(1.0 + (square - np.square(probes)).mean(axis=1), _LEAST_VARIANCE)
    return variances * (square.mean() / variances.mean())


def _leftover_functions(y: SideFeatures, coordinates: np.ndarray, probes: np.ndarray) -> np.ndarray:
    """Return leading functions of Z, orthonormal, up to where they hold most more of Y than noise would."""
    functions = _leading_functions(y, coordinates)
    scale = np.square(y.linear).sum() / np.square(_twice_removed(y, probes)).mean() / len(probes)
    held = np.square(functions.T @ y.linear).sum(axis=1) / scale
    by_chance = np.square(_adjoint(y, functions)).sum(axis=0)
    excess = np.concatenate([[0.0], np.cumsum(held - by_chance)])
    return functions[:, : int(excess.argmax())]


def _leading_functions(y: SideFeatures, coordinates: np.ndarray) -> np.ndarray:
    """Return the leading functions of a Gaussian kernel of Z as far as the fit of Y leaves them."""
    n = len(coordinates)
    unit = coordinates / np.sqrt(np.maximum(np.square(coordinates).mean(axis=0), 1e-300))
    landmarks = unit[np.linspace(0, n - 1, min(n, _LANDMARKS)).astype(int)]
    distances = squared_distances(unit, landmarks)
    positive = distances[distances > 0.0]
    if positive.size == 0:
        return np.zeros((n, 0))
    left = y.fit.remove(np.exp(-distances / np.median(positive)))
    values, vectors = np.linalg.eigh(left.T @ left / n)
    most = min(int(_MOST_SHARE * n), _MOST_FUNCTIONS)
    kept = np.flatnonzero(values > _LEFT * len(landmarks))[::-1][:most]
    return left @ (vectors[:, kept] / np.sqrt(n * values[kept]))
