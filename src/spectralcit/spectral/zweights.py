"""A small basis of functions of Z, for dependence whose strength or sign changes with Z."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..inputs import Block
from ..nuisance.maps import normal_scores, random_cosines
from ..numeric.standardize import standardized

__all__ = ["ZWeights", "z_weights"]

_MAX_LINEAR = 20  # by hand: columns of Z that get a weight of their own; more are summed up by cosines
_N_COSINES = 10  # by hand: slopes that change sign a few times over the range of Z
_CLIP = 3.0  # standard deviations: no row's weight outvotes the others


@dataclass(frozen=True, eq=False)
class ZWeights:
    """Functions of Z by which products of features are multiplied."""

    # Columns of Z on the normal-score scale (leading principal components when there are many), mean square
    # one in total
    linear: np.ndarray
    all: np.ndarray  # these and random cosines of Z


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
    return ZWeights(linear, np.hstack([linear, _cosines(values, rng)]))


def _cosines(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return standardized(random_cosines(values, _N_COSINES, (1.0, 2.0), rng)) / np.sqrt(_N_COSINES)
