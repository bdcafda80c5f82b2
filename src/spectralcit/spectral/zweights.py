"""A small basis of functions of Z, for dependence whose strength or sign changes with Z."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, special

from ..inputs import Block
from ..nuisance.maps import normal_scores, random_cosines
from ..numeric.coordinates import invariant_coordinates
from ..numeric.standardize import standardized

__all__ = ["ZWeights", "z_weights"]

_MAX_LINEAR = 20  # by hand: columns of Z that get a weight of their own; more are summed up by cosines
_N_COSINES = 10  # by hand: slopes that change sign a few times over the range of Z
_CLIP = 3.0  # standard deviations: no row's weight outvotes the others
# By hand. Functions of single columns: their number decides how large the largest of them is by chance.
_MAX_SINGLE = 100
_FRAME_FREE = 4  # columns: so many directions are within 30 degrees of any direction of four columns
_MAX_OSCILLATING = 20
_MAX_PRODUCTS = 12
_ORDERS = range(2, 7)  # cosines of ranks: up to three periods
_DOUBLE_CELLS = 20_000_000  # more values than this (160 MB) are kept in single precision


@dataclass(frozen=True, eq=False)
class ZWeights:
    """Functions of Z by which products of features are multiplied."""

    # Up to twenty columns of Z in coordinates that no linear map of the continuous ones changes (of more,
    # leading principal components of their normal scores), mean square one in total
    linear: np.ndarray
    all: np.ndarray  # these and random cosines of Z
    # What is looked at one by one, mean square one each: columns of Z (of few, directions);
    # cosines of the columns' ranks and products of two of them, as far as Z has few
    columns: np.ndarray
    functions: np.ndarray


def z_weights(z: Block, rng: np.random.Generator) -> ZWeights:
    """Build the basis."""
    values = standardized(z.values)
    continuous = [j for j, kind in enumerate(z.kinds) if kind == "continuous"]
    if continuous:
        values[:, continuous] = standardized(normal_scores(values[:, continuous]))
    frame = linear = _framed(z.values, values, continuous)
    if values.shape[1] > _MAX_LINEAR:
        _, vectors = linalg.eigh(values.T @ values, check_finite=False)
        linear = standardized(values @ vectors[:, -_MAX_LINEAR:])
    linear = np.clip(linear, -_CLIP, _CLIP) / np.sqrt(linear.shape[1])
    return ZWeights(
        linear,
        np.hstack([linear, _cosines(frame, rng)]),
        _singles(values, frame, linear),
        _functions(values, continuous),
    )


def _framed(raw: np.ndarray, scores: np.ndarray, continuous: list[int]) -> np.ndarray:
    """Return the scores, the continuous ones in coordinates that no linear map of these columns changes.

    Sums of squares over these do not depend on the units and mixtures in which Z happens to be given.
    """
    if not 2 <= len(continuous) <= scores.shape[1] <= _MAX_LINEAR:
        return scores
    others = np.delete(scores, continuous, axis=1)
    return np.hstack([invariant_coordinates(raw[:, continuous]), others])


def _singles(values: np.ndarray, frame: np.ndarray, linear: np.ndarray) -> np.ndarray:
    """Return the columns; of two to four, directions that are the same in every frame and near to each."""
    if frame is not values and values.shape[1] <= _FRAME_FREE:
        directions = np.random.default_rng(values.shape[1]).standard_normal((frame.shape[1], _MAX_SINGLE))
        return standardized(frame @ directions)
    return standardized(np.clip(values, -_CLIP, _CLIP) if values.shape[1] <= _MAX_SINGLE else linear)


def _cosines(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return standardized(random_cosines(values, _N_COSINES, (1.0, 2.0), rng)) / np.sqrt(_N_COSINES)


def _functions(values: np.ndarray, continuous: list[int]) -> np.ndarray:
    """Return cosines of the ranks of single columns, and products of two columns."""
    n, d = values.shape
    oscillating = continuous if d <= _MAX_OSCILLATING else []
    low, high = np.triu_indices(d if d <= _MAX_PRODUCTS else 1, 1)
    width = len(_ORDERS) * len(oscillating) + len(low)
    long = n * width > _DOUBLE_CELLS
    functions = np.empty((n, width), dtype=np.float32 if long else np.float64)
    # A few columns at a time, of a long table one: all of them and their copies would be the largest arrays
    # of the whole test.
    begin = 0
    for some in [[j] for j in oscillating] if long else [oscillating]:
        angles = np.pi * special.ndtr(values[:, some])
        for k, order in enumerate(_ORDERS):
            start = k * len(oscillating) + begin
            functions[:, start : start + len(some)] = standardized(np.cos(order * angles))
        begin += len(some)
    end = len(_ORDERS) * len(oscillating)
    for i, j in zip(low, high, strict=True):
        product = np.clip(values[:, [i]] * values[:, [j]], -(_CLIP**2), _CLIP**2)
        start, end = end, end + 1
        functions[:, start:end] = standardized(product)
    return functions
