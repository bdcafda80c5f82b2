"""Coordinates of a point cloud that are the same whatever invertible linear map its columns went through.

Scatter by a multivariate Student distribution, which outliers do not decide, makes the cloud round; the
eigenvectors of its fourth moments then fix the axes (invariant coordinate selection), and its third moments
the signs. Of a normal cloud the axes are noise, but still the same noise in every frame.

References
----------
Tyler, Critchley, Dümbgen, Oja (2009). Invariant co-ordinate selection. JRSS B 71.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, stats

from .standardize import standardized

__all__ = ["invariant_coordinates", "leverages"]

_DEGREES_OF_FREEDOM = 3.0  # by hand, of the Student distribution: heavy tails count little, normal ones fully
_STEPS = 10  # by hand: an outlier a thousand times as far out as the rest has lost its weight after three
_MAX_ROWS = 4000  # by hand: enough for a scatter matrix, and the cost stays that of so many at any n
_SMALLEST = 1e-10  # share of the largest eigenvalue below which a direction is rounding
_FARTHEST = 0.997  # of a normal cloud is within this radius, as three standard deviations are in one column


def leverages(values: np.ndarray) -> np.ndarray:
    """Return each row's squared distance from the mean in uncorrelated coordinates.

    Examples
    --------
    >>> cloud = np.random.default_rng(0).normal(size=(50, 2))
    >>> bool(np.allclose(leverages(cloud), leverages(cloud @ np.array([[1.0, 3.0], [0.0, 2.0]]))))
    True
    """
    unit = standardized(values)
    return np.square(unit @ _inverse_root(unit.T @ unit / len(unit))).sum(axis=1)


def invariant_coordinates(values: np.ndarray) -> np.ndarray:
    """Return round coordinates of the rows, those far out drawn in; as many as the columns have rank."""
    unit = standardized(values)
    few = unit[:: -(-len(unit) // _MAX_ROWS)]
    centre, root = _student(few)
    width = root.shape[1]
    rounded = (unit - centre) @ root
    radius = np.sqrt(np.square(rounded).sum(axis=1))
    farthest = np.sqrt(stats.chi2.ppf(_FARTHEST, width))
    rounded *= np.minimum(1.0, farthest / np.maximum(radius, 1e-300))[:, None]
    rounded -= rounded.mean(axis=0)
    rounded = rounded @ _inverse_root(rounded.T @ rounded / len(rounded))
    weighted = rounded * np.square(rounded).sum(axis=1)[:, None]
    _, axes = linalg.eigh(weighted.T @ rounded, check_finite=False)
    signs = np.sign(weighted.sum(axis=0) @ axes)
    return np.asarray(rounded @ (axes * np.where(signs == 0, 1.0, signs)))


def _student(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return centre and inverse root of the scatter that fit best, by expectation maximisation."""
    weights = np.ones(len(rows))
    for _ in range(_STEPS):
        centre = weights @ rows / weights.sum()
        centred = rows - centre
        root = _inverse_root((centred * weights[:, None]).T @ centred / len(rows))
        distances = np.square(centred @ root).sum(axis=1)
        weights = (_DEGREES_OF_FREEDOM + root.shape[1]) / (_DEGREES_OF_FREEDOM + distances)
    return centre, root


def _inverse_root(scatter: np.ndarray) -> np.ndarray:
    """Return L with ``L' scatter L = I`` on the directions that are more than rounding."""
    values, vectors = linalg.eigh(scatter, check_finite=False)
    keep = values > _SMALLEST * max(values[-1], 1e-300)
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]))
