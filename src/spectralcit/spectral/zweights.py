"""A small basis of functions of Z, for dependence whose strength or sign changes with Z."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, special

from ..inputs import Block
from ..nuisance.maps import normal_scores, random_cosines
from ..numeric.standardize import standardized

__all__ = ["ZWeights", "z_weights"]

_MAX_LINEAR = 20  # by hand: columns of Z that get a weight of their own; more are summed up by cosines
_N_COSINES = 10  # by hand: slopes that change sign a few times over the range of Z
_CLIP = 3.0  # standard deviations: no row's weight outvotes the others
# By hand. Functions of single columns: their number decides how large the largest of them is by chance.
_MAX_SINGLE = 100
_MAX_OSCILLATING = 20
_MAX_PRODUCTS = 12
_ORDERS = range(2, 7)  # cosines of ranks: up to three periods


@dataclass(frozen=True, eq=False)
class ZWeights:
    """Functions of Z by which products of features are multiplied."""

    # Columns of Z on the normal-score scale (leading principal components when there are many), mean square
    # one in total
    linear: np.ndarray
    all: np.ndarray  # these and random cosines of Z
    # What is looked at one by one, mean square one each: columns of Z; cosines of their ranks and products of
    # two of them, as far as Z has few
    columns: np.ndarray
    functions: np.ndarray


def z_weights(z: Block, rng: np.random.Generator) -> ZWeights:
    """Build the basis."""
    values = standardized(z.values)
    continuous = [j for j, kind in enumerate(z.kinds) if kind == "continuous"]
    if continuous:
        values[:, continuous] = standardized(normal_scores(values[:, continuous]))
    linear = values
    if values.shape[1] > _MAX_LINEAR:
        _, vectors = linalg.eigh(values.T @ values, check_finite=False)
        linear = standardized(values @ vectors[:, -_MAX_LINEAR:])
    linear = np.clip(linear, -_CLIP, _CLIP) / np.sqrt(linear.shape[1])
    return ZWeights(
        linear,
        np.hstack([linear, _cosines(values, rng)]),
        standardized(np.clip(values, -_CLIP, _CLIP) if values.shape[1] <= _MAX_SINGLE else linear),
        _functions(values, continuous),
    )


def _cosines(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return standardized(random_cosines(values, _N_COSINES, (1.0, 2.0), rng)) / np.sqrt(_N_COSINES)


def _functions(values: np.ndarray, continuous: list[int]) -> np.ndarray:
    """Return cosines of the ranks of single columns, and products of two columns."""
    n, d = values.shape
    functions = [np.zeros((n, 0))]
    if d <= _MAX_OSCILLATING:
        angles = np.pi * special.ndtr(values[:, continuous])
        functions += [np.cos(order * angles) for order in _ORDERS]
    if 1 < d <= _MAX_PRODUCTS:
        low, high = np.triu_indices(d, 1)
        functions.append(np.clip(values[:, low] * values[:, high], -(_CLIP**2), _CLIP**2))
    return standardized(np.hstack(functions))
