"""Kernels, their widths, centring and kernel ridge residuals: what the kernel tests share."""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg
from scipy.spatial.distance import pdist

from ..errors import ParameterError

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
]

_ROWS_FOR_MEDIAN = 1000
_COLUMNS_FOR_PAIRS = 16


def standardize(values: np.ndarray) -> np.ndarray:
    """Centre the columns and divide by their standard deviation (divisor n - 1); constants become zero.

    Parameters
    ----------
    values
        Array of shape (n, p).

    Examples
    --------
    >>> standardize(np.array([[1.0, 5.0], [3.0, 5.0]])).round(3).tolist()
    [[-0.707, 0.0], [0.707, 0.0]]
    """
    means = values.mean(axis=0)
    centred = values - means
    scale = np.sqrt(np.einsum("ij,ij->j", centred, centred) / max(len(values) - 1, 1))
    varying = scale > 1e-14 * np.abs(means)
    centred *= np.where(varying, 1.0 / np.where(varying, scale, 1.0), 0.0)
    return centred


def squared_distances(a: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
    """Squared Euclidean distances between the rows of `a` and of `b` (of `a` itself when not given).

    Parameters
    ----------
    a, b
        Arrays of shape (n, p) and (m, p).
    """
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
    """Gaussian kernel exp(-distance² / (2 width²)) between the rows of `a` and `b`.

    Parameters
    ----------
    a, b
        Arrays of shape (n, p) and (m, p); `b` is `a` when not given.
    width
        Positive standard deviation of the kernel.

    Examples
    --------
    >>> float(gaussian_gram(np.array([[0.0], [2.0]]), width=1.0)[0, 1].round(6))
    0.135335
    """
    if not (math.isfinite(width) and width > 0):
        raise ParameterError(f"a kernel width must be a positive number, got {width!r}")
    gram = squared_distances(a, b)
    gram *= -0.5 / width**2
    return np.exp(gram, out=gram)


def linear_gram(a: np.ndarray) -> np.ndarray:
    """Linear kernel: inner products of the rows of `a`.

    Parameters
    ----------
    a
        Array of shape (n, p).
    """
    return a @ a.T


def median_width(values: np.ndarray) -> float:
    """Median distance between different points, on at most 1000 evenly spaced rows.

    Parameters
    ----------
    values
        Array of shape (n, p). When more than half of the rows coincide the median is taken over the positive
        distances; one is returned when there are none.

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
    """Width recommended by the authors of KCIT for `n` rows of `n_columns` standardised columns.

    Parameters
    ----------
    n, n_columns
        Shape of the conditioning variables.
    """
    return (1.2 if n < 200 else 0.7 if n < 1200 else 0.4) * math.sqrt(n_columns)


def empirical_width_unconditional(n: int, n_columns: int) -> float:
    """Width recommended by the authors of KCIT when there is nothing to condition on.

    Parameters
    ----------
    n, n_columns
        Shape of the tested variable.
    """
    return (0.8 if n < 200 else 0.5 if n < 1200 else 0.3) / math.sqrt(n_columns)


def center(gram: np.ndarray) -> np.ndarray:
    """Gram matrix of the features minus their mean.

    Parameters
    ----------
    gram
        Symmetric matrix.
    """
    means = gram.mean(axis=0)
    return gram - means - (means[:, None] - means.mean())


def ridge_residual_gram(gram: np.ndarray, gram_z: np.ndarray, ridge: float) -> np.ndarray:
    """Gram matrix of the residuals of kernel ridge regression on ``z``.

    It is R K R with R = ridge (Kz + ridge I)^-1, computed with one Cholesky factorisation and
    two solves; the inverse is never formed.

    Parameters
    ----------
    gram
        Gram matrix K of the features to be regressed.
    gram_z
        Gram matrix of the regressors.
    ridge
        Positive regularisation.
    """
    if not ridge > 0:
        raise ParameterError(f"the ridge must be positive, got {ridge!r}")
    system = gram_z.copy()
    system.flat[:: len(system) + 1] += ridge
    factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    once = linalg.cho_solve(factor, gram, check_finite=False)
    twice = linalg.cho_solve(factor, once.T, overwrite_b=True, check_finite=False)
    twice *= ridge**2
    return 0.5 * (twice + twice.T)
