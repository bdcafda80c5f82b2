"""The regression of the imputation models: straight lines plus a smooth part, quick to ask and not clipped.

`nuisance.SmoothRidge` is made for residuals: it predicts within the range of what it saw. Here cells are
missing where the values seen end, and the best guess there is that the lines go on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist

from ..numeric.standardize import Standardizer

__all__ = ["Regression", "fit_regression"]

_LANDMARKS = 50  # centres of the smooth part; by hand: a chain asks it about thousands of proposals per sweep
_WIDTH = 0.7  # of the kernel, in median distances; the middle one of the default regression's
_PENALTIES = np.geomspace(1e-3, 1e4, 15)  # from a free smooth part to none, on the scale of its eigenvalues
_ROWS_PER_FREE_COLUMN = 4  # by hand: with fewer rows a column the lines are penalised as well
_JITTER = 1e-8  # relative: landmarks that coincide leave a kernel matrix without an inverse


@dataclass(frozen=True, eq=False)
class Regression:
    """Fitted means of several targets, and the residuals of rows that their fits did not see."""

    scaling: Standardizer
    lines: np.ndarray  # coefficients of a constant and the standardised columns
    centres: np.ndarray
    weights: np.ndarray  # of the kernels at the centres
    gamma: float
    left_out: np.ndarray  # leave-one-out residuals of the rows fitted to

    def predict(self, design: np.ndarray) -> np.ndarray:
        """Means at the rows of `design`, of shape (rows, targets)."""
        return self._at(self.scaling.transform(design))

    def beside(self, other: Regression) -> Regression:
        """The targets of both, of which the other was fitted to the same design."""
        return replace(
            self,
            lines=np.hstack([self.lines, other.lines]),
            weights=np.hstack([self.weights, other.weights]),
            left_out=np.hstack([self.left_out, other.left_out]),
        )

    def _at(self, scaled: np.ndarray) -> np.ndarray:
        straight = self.lines[0] + scaled @ self.lines[1:]
        return straight + np.exp(-self.gamma * cdist(scaled, self.centres, "sqeuclidean")) @ self.weights


def fit_regression(design: np.ndarray, targets: np.ndarray) -> Regression:
    """Fit each column of `targets` to the rows of `design`; penalties by leave-one-out error, one per target.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(200, 2))
    >>> fit = fit_regression(z, (z @ [2.0, -1.0] + 0.1 * rng.normal(size=200))[:, None])
    >>> bool(abs(fit.predict(np.array([[9.0, 3.0]]))[0, 0] - 15) < 0.5)
    True
    """
    n, p = design.shape
    scaling = Standardizer.fit(design)
    scaled = scaling.transform(design)
    centres = scaled[np.linspace(0, n - 1, min(n, _LANDMARKS)).astype(int)]
    between = cdist(centres, centres, "sqeuclidean")
    gamma = 0.5 / (_WIDTH**2 * max(float(np.median(between[between > 0])) if between.any() else 1.0, 1e-12))
    kernel = np.exp(-gamma * cdist(scaled, centres, "sqeuclidean"))
    core = np.exp(-gamma * between)
    root = linalg.cholesky(core + _JITTER * len(core) * np.eye(len(core)), lower=True)
    features = linalg.solve_triangular(root, kernel.T, lower=True).T
    free = np.hstack([np.ones((n, 1)), scaled])
    if _ROWS_PER_FREE_COLUMN * (p + 1) > n:
        features, free = np.hstack([features, scaled]), free[:, :1]
    basis = linalg.qr(free, mode="economic")[0]
    u, s, vt = linalg.svd(features - basis @ (basis.T @ features), full_matrices=False)
    fitted_free, coordinates = basis @ (basis.T @ targets), u.T @ targets
    leverage_free, u_squared = (basis**2).sum(axis=1), u**2
    best = np.full(targets.shape[1], np.inf)
    kept = np.zeros((len(s), targets.shape[1]))
    left_out = np.empty_like(targets)
    for penalty in _PENALTIES[::-1]:  # the smoothest of equals
        shrunk = s**2 / (s**2 + penalty)
        room = np.maximum(1 - leverage_free - u_squared @ shrunk, 0.03)  # by hand: rows that fit themselves
        left = (targets - fitted_free - u @ (shrunk[:, None] * coordinates)) / room[:, None]
        error = (left**2).mean(axis=0)
        better = error < best
        best[better], left_out[:, better] = error[better], left[:, better]
        kept[:, better] = (s / (s**2 + penalty))[:, None] * coordinates[:, better]
    in_features = vt.T @ kept
    lines = np.zeros((p + 1, targets.shape[1]))
    of_kernel, of_columns = in_features[: len(core)], in_features[len(core) :]
    lines[: free.shape[1]] = linalg.lstsq(free, targets - features @ in_features)[0]
    if len(of_columns):
        lines[1:] += of_columns
    weights = linalg.solve_triangular(root, of_kernel, lower=True, trans="T")
    return Regression(scaling, lines, centres, weights, gamma, left_out)
