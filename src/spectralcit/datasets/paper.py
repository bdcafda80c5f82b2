"""The synthetic models of the paper's experiments, under the null hypothesis and under the alternative."""

from __future__ import annotations

import numpy as np

__all__ = ["Sample", "high_dimensional", "nonsmooth", "post_nonlinear", "sachs_query", "sin_cos"]

Sample = tuple[np.ndarray, np.ndarray, np.ndarray]


def post_nonlinear(n: int, rng: np.random.Generator, *, dependent: bool, d_z: int = 50) -> Sample:
    """Draw from the post-nonlinear model with cube and tanh.

    Parameters
    ----------
    n
        Number of rows.
    rng
        Source of randomness.
    dependent
        Whether X and Y share noise beyond Z.
    d_z
        Columns of Z.

    References
    ----------
    Yang et al. (2025), with the coefficients of Fröhlich et al. (2026), section 5.1.
    """
    z = rng.standard_normal((n, d_z))
    noise_x, noise_y, shared = rng.standard_normal((3, n))
    index = z.mean(axis=1)
    common = shared / 2 if dependent else 0.0
    return (index + noise_x / 4) ** 3 + common, np.tanh(index + noise_y / 4) + common, z


def sin_cos(
    n: int, rng: np.random.Generator, *, dependent: bool, d_z: int = 50, strength: float = 2.0
) -> Sample:
    """Draw from the sin/cos model; `strength` is the paper's b.

    Parameters
    ----------
    n, rng, dependent, d_z
        As in `post_nonlinear`.
    strength
        Coefficient of X in the equation of Y under dependence.

    References
    ----------
    Shi et al. (2021), as used by Fröhlich et al. (2026), section 5.1.
    """
    z = rng.standard_normal((n, d_z))
    weights_x, weights_y = (w / w.sum() for w in rng.uniform(size=(2, d_z)))
    x = np.sin(z @ weights_x + rng.standard_normal(n) / 2)
    effect = strength * x if dependent else 0.0
    return x, np.cos(z @ weights_y + effect + rng.standard_normal(n) / 2), z


def high_dimensional(
    n: int,
    rng: np.random.Generator,
    *,
    dependent: bool,
    d_z: int = 50,
    str_z: float = 0.1,
    noise_str: float = 0.25,
    str_cond_dep: float = 0.15,
) -> Sample:
    """Draw X, Y and Z of the same dimension, coordinate by coordinate.

    Parameters
    ----------
    n, rng, dependent, d_z
        As in `post_nonlinear`.
    str_z, noise_str, str_cond_dep
        Standard deviations of Z, of the own noise and of the shared noise.

    References
    ----------
    Fröhlich et al. (2026), appendix, "New high-dimensional benchmark".
    """
    z = str_z * rng.standard_normal((n, d_z))
    noise_x, noise_y, shared = rng.standard_normal((3, n, d_z))
    common = str_cond_dep * shared if dependent else 0.0
    return np.sin(z + noise_str * noise_x) + common, np.cos(z + noise_str * noise_y) + common, z


def nonsmooth(n: int, rng: np.random.Generator, *, dependent: bool = False, d_z: int = 100) -> Sample:
    """Draw from the oscillating model, which the paper uses under the null hypothesis only.

    Parameters
    ----------
    n, rng, d_z
        As in `post_nonlinear`.
    dependent
        Must be false.

    References
    ----------
    Fröhlich et al. (2026), section 5.1, "On the role of structural assumptions".
    """
    if dependent:
        raise ValueError("the nonsmooth model has no alternative")
    z, noise_x, noise_y = rng.standard_normal((3, n, d_z))
    return _oscillating(z / 2 + noise_x, 2), _oscillating(z / 2 + noise_y, 3), z


def _oscillating(w: np.ndarray, power: int) -> np.ndarray:
    safe = np.where(w == 0.0, 1.0, w)
    inner = np.where(w == 0.0, 1.0, np.cos(2 * np.pi / safe))
    return np.where(np.abs(w) >= 1.0, w**power, inner)


def sachs_query(
    n: int, rng: np.random.Generator, *, dependent: bool, query: int = 1, d_z: int = 100
) -> Sample:
    """Draw from the Sachs-inspired graph and return the variables of one of its three queries.

    The paper does not give the matrices A_j nor the equation of Y1; here A_j has independent N(0, 1/d_z)
    entries and Y1 = cos(X1 + X2 + noise).

    Parameters
    ----------
    n, rng, d_z
        As in `post_nonlinear`.
    dependent
        Whether X1 and Y2 share noise. Query 3 stays conditionally independent.
    query
        1: X1 and Y2 given (X3, X4). 2: the same given (X3, X4, Z1). 3: Y1 and Y2 given (X1, X2, X3, X4).

    References
    ----------
    Fröhlich et al. (2026), appendix, "CI queries on a Sachs-inspired model".
    """
    z = rng.standard_normal((n, d_z))
    noise = 0.5 * rng.standard_normal((5, n))
    mixing = rng.standard_normal((2, d_z, d_z)) / np.sqrt(d_z)
    x1, x2 = np.tanh(z.mean(axis=1) + noise[0]), np.tanh(z.mean(axis=1) + noise[1])
    x3, x4 = z @ mixing + 0.5 * rng.standard_normal((2, n, d_z))
    y2 = np.cos(x3.mean(axis=1) + x4.mean(axis=1) + noise[2])
    if dependent:
        x1, y2 = x1 + noise[4], y2 + noise[4]
    y1 = np.cos(x1 + x2 + noise[3])
    if query == 1:
        return x1, y2, np.hstack([x3, x4])
    if query == 2:
        return x1, y2, np.hstack([x3, x4, z])
    if query == 3:
        return y1, y2, np.column_stack([x1, x2, x3, x4])
    raise ValueError(f"query must be 1, 2 or 3, got {query!r}")
