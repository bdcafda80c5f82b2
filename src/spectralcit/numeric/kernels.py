"""Kernels, their widths, centring and kernel ridge residuals: what the kernel tests share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import linalg
from scipy.spatial.distance import pdist

from ..errors import ParameterError
from ..parameters import choice, real

__all__ = [
    "center",
    "empirical_width",
    "empirical_width_unconditional",
    "gaussian_gram",
    "linear_gram",
    "median_width",
    "ridge_residual_gram",
    "squared_distances",
    "standardize",
    "width_option",
]

_ROWS_FOR_MEDIAN = 1000  # by hand: half a million distances, whose median varies little
_COLUMNS_FOR_PAIRS = 16  # by hand: up to here pairs are quicker than a matrix product
# The columns have unit variance: a kernel outside this range is the identity or a constant to the last digit.
_WIDTHS = (1e-9, 1e9)


def width_option(default: str, doc: str, *rules: str, n_kernels: int) -> Any:
    """Field for the widths of kernels: the name of a rule, one number for all, or one for each."""
    least, most = _WIDTHS
    number = real(1.0, "", least=least, most=most).metadata["allowed"]

    def accepts(value: Any) -> bool:
        if np.ndim(value) == 0:
            return number.accepts(value)
        return np.shape(value) == (n_kernels,) and all(map(number.accepts, value))

    words = f"a number from {least:g} to {most:g}, or {n_kernels} such numbers"
    return choice(default, doc, *rules, other=words, accepts=accepts)


def standardize(values: np.ndarray) -> np.ndarray:
    """Centre the columns and divide by their standard deviation (divisor n - 1); constants become zero."""
    means = values.mean(axis=0)
    centred = values - means
    scale = np.sqrt(np.einsum("ij,ij->j", centred, centred) / max(len(values) - 1, 1))
    varying = scale > 1e-14 * np.abs(means)
    centred *= np.where(varying, 1.0 / np.where(varying, scale, 1.0), 0.0)
    return centred


def squared_distances(a: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
    """Squared Euclidean distances between the rows of `a` and of `b` (of `a` itself when not given)."""
    other = a if b is None else b
    distances = a @ other.T
    distances *= -2.0
    distances += (a * a).sum(axis=1)[:, None]
    distances += (other * other).sum(axis=1)
    np.maximum(distances, 0.0, out=distances)  # rounding can make them slightly negative
    if b is None:
        np.fill_diagonal(distances, 0.0)
    return distances


def gaussian_gram(a: np.ndarray, width: float, b: np.ndarray | None = None) -> np.ndarray:
    """Gaussian kernel exp(-distance² / (2 width²)) between the rows of `a` and `b`."""
    gram = squared_distances(a, b)
    gram *= -0.5 / width**2
    return np.exp(gram, out=gram)


def linear_gram(a: np.ndarray) -> np.ndarray:
    """Linear kernel: inner products of the rows of `a`."""
    return a @ a.T


def median_width(values: np.ndarray) -> float:
    """Median distance between different points, on at most 1000 evenly spaced rows.

    When more than half of the rows coincide the median is that of the positive distances; one when there are
    none.

    Examples
    --------
    >>> median_width(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    n = len(values)
    rows = np.linspace(0, n - 1, _ROWS_FOR_MEDIAN).astype(int) if n > _ROWS_FOR_MEDIAN else slice(None)
    # Pairs are quicker for few columns, the matrix product for many. In the matrix equal rows come out as
    # rounding errors, not as exact zeros, and the other pairs appear twice, which leaves the median as it is.
    few = values.shape[1] <= _COLUMNS_FOR_PAIRS
    distances = pdist(values[rows], "sqeuclidean") if few else squared_distances(values[rows]).ravel()
    largest = float(distances.max(initial=0.0))
    smallest = 1e-12 * max(largest, 1e-300)
    positive = distances if distances.min(initial=0.0) > smallest else distances[distances > smallest]
    return math.sqrt(float(np.median(positive))) if positive.size else 1.0


def empirical_width(n: int, n_columns: int) -> float:
    """Width recommended by the authors of KCIT for `n` rows of `n_columns` standardised columns."""
    return (1.2 if n < 200 else 0.7 if n < 1200 else 0.4) * math.sqrt(n_columns)


def empirical_width_unconditional(n: int, n_columns: int) -> float:
    """Width recommended by the authors of KCIT when there is nothing to condition on."""
    return (0.8 if n < 200 else 0.5 if n < 1200 else 0.3) / math.sqrt(n_columns)


def center(gram: np.ndarray) -> np.ndarray:
    """Gram matrix of the features minus their mean."""
    means = gram.mean(axis=0)
    return gram - means - (means[:, None] - means.mean())


def ridge_residual_gram(gram: np.ndarray, gram_z: np.ndarray, ridge: float) -> np.ndarray:
    """Gram matrix of the residuals of kernel ridge regression on ``z``.

    It is R K R with R = ridge (Kz + ridge I)^-1, computed with one Cholesky factorisation and
    two solves; the inverse is never formed.
    """
    system = gram_z.copy()
    system.flat[:: len(system) + 1] += ridge
    try:
        factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError as error:
        raise ParameterError(f"ridge must be larger for these data: {ridge!r} is lost in rounding") from error
    once = linalg.cho_solve(factor, gram, check_finite=False)
    twice = linalg.cho_solve(factor, once.T, overwrite_b=True, check_finite=False)
    twice *= ridge**2
    return 0.5 * (twice + twice.T)
