"""Conditional mean embeddings: kernel ridge regression of RKHS features on ``z``, tuned by leave-one-out.

The targets are features of which only inner products are known, and every row is a kernel centre. `Smoother`
takes targets as columns; to share its algebra would change digits of the tests that stand here.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..numeric.kernels import gaussian_gram, median_width

__all__ = ["choose_regression", "prediction_weights", "residual_gram"]

_WIDTHS = 2.0 ** np.arange(-2.0, 2.0)  # in units of the median distance, by hand
_RIDGES = 10.0 ** np.arange(-5.0, 1.01, 0.5)  # by hand: from interpolation to nearly the mean
_MAX_LEVERAGE = 0.97  # beyond it a leave-one-out residual is a ratio of two roundings


def choose_regression(z: np.ndarray, gram: np.ndarray) -> tuple[float, float]:
    """Width and ridge with the smallest leave-one-out error of the features behind `gram`.

    The error is measured in the feature space: for the hat matrix H it is the mean of the diagonal of
    (I - H) K (I - H), each entry divided by the squared one minus the leverage.
    """
    unit = median_width(z)
    best = (np.inf, unit, 1.0)
    for width in unit * _WIDTHS:
        values, vectors = np.linalg.eigh(gaussian_gram(z, float(width)))
        rotated = vectors.T @ gram @ vectors
        for ridge in _RIDGES:
            kept = ridge / (np.maximum(values, 0.0) + ridge)
            slack = (vectors**2) @ kept  # one minus the leverage
            if slack.min() < 1.0 - _MAX_LEVERAGE:
                continue
            scaled = vectors * kept
            errors = np.einsum("ij,ij->i", scaled @ rotated, scaled) / slack**2
            if errors.mean() < best[0]:
                best = (float(errors.mean()), float(width), float(ridge))
    return best[1], best[2]


def prediction_weights(z_train: np.ndarray, z_new: np.ndarray, width: float, ridge: float) -> np.ndarray:
    """Weights of the training rows in the predictions of new rows, of shape (new, train)."""
    system = gaussian_gram(z_train, width)
    system.flat[:: len(system) + 1] += ridge
    factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    return linalg.cho_solve(factor, gaussian_gram(z_train, width, z_new), check_finite=False).T


def residual_gram(
    values: np.ndarray,
    width: float,
    first: tuple[np.ndarray, np.ndarray],
    second: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """Inner products of the residuals of new rows under one or two fitted regressions.

    A regression is given by its training rows of the variable and its prediction weights. With two of them
    from different rows, row i is predicted by the first and row j by the second, so that their errors are
    independent; the result is made symmetric.
    """
    rows_a, weights_a = first
    rows_b, weights_b = first if second is None else second
    left = gaussian_gram(values, width) - weights_a @ gaussian_gram(rows_a, width, values)
    left -= gaussian_gram(values, width, rows_b) @ weights_b.T
    left += weights_a @ gaussian_gram(rows_a, width, rows_b) @ weights_b.T
    return 0.5 * (left + left.T)
