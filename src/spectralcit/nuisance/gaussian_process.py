"""Kernel width and noise of a Gaussian process on ``z``, by marginal likelihood."""

from __future__ import annotations

import numpy as np

from ..numeric.kernels import center, gaussian_gram, median_width

__all__ = ["marginal_likelihood_kernel"]

_MAX_ROWS = 400  # by hand: two numbers need far fewer rows than the regression itself
_WIDTHS = 2.0 ** np.arange(-3.0, 4.0)  # in units of the median distance, by hand
_NOISES = 10.0 ** np.arange(-5.0, 3.01, 0.25)  # noise variance over signal variance: all signal to all noise


def marginal_likelihood_kernel(z: np.ndarray, gram: np.ndarray) -> tuple[float, float]:
    """Width and ridge under which the features behind `gram` are most likely as functions of ``z``.

    The leading kernel principal components are the outputs of independent processes with a common Gaussian
    kernel and a common ratio of noise to signal. The signal variance has a closed-form maximum, and one
    eigendecomposition per width serves all the ratios, so the whole likelihood surface is searched on a grid.

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams. Gaussian Processes for Machine Learning, section 5.4. MIT Press,
    2006.
    """
    n = len(z)
    rows = np.arange(n) if n <= _MAX_ROWS else np.linspace(0, n - 1, _MAX_ROWS).astype(int)
    z, n = z[rows], len(rows)
    values, vectors = np.linalg.eigh(center(gram[np.ix_(rows, rows)]))
    leading = slice(max(0, n - max(n // 4, 1)), n)
    values, vectors = values[leading], vectors[:, leading]
    kept = values > 1e-5 * max(values[-1], 1e-300)
    targets = vectors[:, kept] * np.sqrt(values[kept])

    unit = median_width(z)
    best = (-np.inf, unit, 1e-3)
    for width in unit * _WIDTHS:
        spectrum, directions = np.linalg.eigh(gaussian_gram(z, float(width)))
        power = ((directions.T @ targets) ** 2).sum(axis=1)
        total = np.maximum(spectrum, 0.0)[:, None] + _NOISES
        m = targets.shape[1]
        signal = (power[:, None] / total).sum(axis=0) / (n * m)
        likelihood = -0.5 * m * (n * np.log(signal) + np.log(total).sum(axis=0))
        top = int(np.argmax(likelihood))
        if likelihood[top] > best[0]:
            best = (float(likelihood[top]), float(width), float(_NOISES[top]))
    return best[1], best[2]
