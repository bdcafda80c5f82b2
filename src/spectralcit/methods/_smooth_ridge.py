"""Default regression of the residual-based tests: linear part plus Gaussian kernel, tuned in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from ._kernels import gaussian_gram, median_width

__all__ = ["SmoothRidge"]

_RIDGES = 10.0 ** np.arange(-6.0, 2.0, 0.5)  # per row
_MAX_LEVERAGE = 0.97  # beyond it a leave-one-out residual is a ratio of two roundings
_MAX_MEAN_LEVERAGE = 0.7
_ROWS_PER_FREE_COLUMN = 4
# Beyond the training rows the kernel part fades and leaves its linear counterweight alone: one such row can
# outweigh all the others in a mean of products. Predictions stay near the range of the training targets.
_OVERSHOOT = 0.1


class SmoothRidge(RegressorMixin, BaseEstimator):
    """Least squares on the columns plus kernel ridge on what they leave, with leave-one-out tuning.

    The linear part is not penalised while there are at least four rows per column: a shrunken linear fit
    leaves the same remainder in both residuals of a conditional independence test, where it looks like
    dependence. The kernel part uses Gaussian kernels centred at `n_landmarks` rows at most (Nyström), so
    that the time is linear in the number of rows. Width and ridge are chosen per target: the least penalised
    fit whose leave-one-out error is not worse than the best one by more than a standard error of the
    difference.

    Parameters
    ----------
    n_landmarks
        Largest number of kernel centres.
    widths
        Kernel widths to choose from, in units of the median distance.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(300, 1))
    >>> y = np.sin(2 * z[:, 0]) + 0.1 * rng.normal(size=300)
    >>> SmoothRidge().fit(z[:200], y[:200]).score(z[200:], y[200:]) > 0.95
    True
    """

    def __init__(self, n_landmarks: int = 200, widths: tuple[float, ...] = (0.3, 0.7, 1.5)) -> None:
        self.n_landmarks = n_landmarks
        self.widths = widths

    def fit(self, X: Any, y: Any) -> SmoothRidge:
        """Fit to rows `X` and one or several targets `y`.

        Parameters
        ----------
        X
            Array of shape (n, p).
        y
            Array of shape (n,) or (n, t).
        """
        X = np.asarray(X, dtype=np.float64)
        targets = np.asarray(y, dtype=np.float64)
        self.one_target_ = targets.ndim == 1
        targets = targets.reshape(len(X), -1)
        scale = X.std(axis=0)
        self.mean_ = X.mean(axis=0)
        self.scale_ = np.where(scale > 1e-14 * np.abs(X).max(axis=0), scale, 1.0)
        design = (X - self.mean_) / self.scale_
        self.free_linear_ = _ROWS_PER_FREE_COLUMN * (design.shape[1] + 1) <= len(design)
        self.centres_ = design[np.linspace(0, len(X) - 1, min(len(X), self.n_landmarks)).astype(int)]

        free = self._free_columns(design)
        basis = _orthonormal(free)
        left = targets - basis @ (basis.T @ targets)
        unit = median_width(design)
        smooths = [self._smooth(design, unit * width, basis) for width in self.widths]
        low, high = targets.min(axis=0), targets.max(axis=0)
        self.range_ = low - _OVERSHOOT * (high - low), high + _OVERSHOOT * (high - low)
        self.fits_ = []
        for t in range(targets.shape[1]):
            smooth, ridge = _least_penalised(smooths, left[:, t], (basis**2).sum(axis=1))
            weights = smooth.coefficients(left[:, t], ridge * len(X))
            remainder = targets[:, t] - smooth.features @ weights
            line = np.linalg.lstsq(free, remainder, rcond=1e-10)[0]
            self.fits_.append(_Fit(line, smooth.width, smooth.to_features @ weights))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the targets of new rows.

        Parameters
        ----------
        X
            Array of shape (m, p).
        """
        design = (np.asarray(X, dtype=np.float64) - self.mean_) / self.scale_
        free = self._free_columns(design)
        penalised = {fit.width: self._penalised_columns(design, fit.width) for fit in self.fits_}
        columns = [free @ fit.line + penalised[fit.width] @ fit.weights for fit in self.fits_]
        predicted = np.clip(np.column_stack(columns), *self.range_)
        return predicted[:, 0] if self.one_target_ else predicted

    def _free_columns(self, design: np.ndarray) -> np.ndarray:
        ones = np.ones((len(design), 1))
        return np.hstack([ones, design]) if self.free_linear_ else ones

    def _penalised_columns(self, design: np.ndarray, width: float) -> np.ndarray:
        gram = gaussian_gram(design, width, self.centres_)
        return gram if self.free_linear_ else np.hstack([gram, design / np.sqrt(design.shape[1])])

    def _smooth(self, design: np.ndarray, width: float, basis: np.ndarray) -> _Smooth:
        """Nyström features of one kernel, plus the columns themselves when those are penalised."""
        values, vectors = np.linalg.eigh(gaussian_gram(self.centres_, width))
        kept = values > 1e-10 * values[-1]
        to_features = vectors[:, kept] / np.sqrt(values[kept])
        if not self.free_linear_:
            p = design.shape[1]
            zeros = np.zeros((len(to_features), p))
            to_features = np.block([[to_features, zeros], [np.zeros((p, to_features.shape[1])), np.eye(p)]])
        features = self._penalised_columns(design, width) @ to_features
        left = features - basis @ (basis.T @ features)
        spectrum, rotation = np.linalg.eigh(left.T @ left)
        kept = spectrum > 1e-12 * max(float(spectrum[-1]), 1e-300)
        spectrum, rotation = spectrum[kept], rotation[:, kept]
        return _Smooth(width, to_features, features, spectrum, rotation, left @ rotation / np.sqrt(spectrum))


@dataclass(frozen=True, eq=False)
class _Fit:
    line: np.ndarray
    width: float
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class _Smooth:
    """Features of one kernel and the eigendecomposition that serves all targets and all ridges."""

    width: float
    to_features: np.ndarray
    features: np.ndarray
    spectrum: np.ndarray
    rotation: np.ndarray
    directions: np.ndarray

    def coefficients(self, left: np.ndarray, ridge: float) -> np.ndarray:
        shrunk = np.sqrt(self.spectrum) / (self.spectrum + ridge) * (self.directions.T @ left)
        return self.rotation @ shrunk

    def squared_errors(self, left: np.ndarray, free_leverage: np.ndarray) -> np.ndarray:
        """Squared leave-one-out errors, one row per ridge; infinite where the fit nearly interpolates."""
        n = len(left)
        shrink = self.spectrum / (self.spectrum + n * _RIDGES[:, None])
        residual = left - (shrink * (self.directions.T @ left)) @ self.directions.T
        leverage = free_leverage + shrink @ (self.directions**2).T
        refused = (leverage.max(axis=1) > _MAX_LEVERAGE) | (leverage.mean(axis=1) > _MAX_MEAN_LEVERAGE)
        errors = (residual / np.maximum(1.0 - leverage, 1.0 - _MAX_LEVERAGE)) ** 2
        errors[refused] = np.inf
        return errors


def _least_penalised(
    smooths: list[_Smooth], left: np.ndarray, free_leverage: np.ndarray
) -> tuple[_Smooth, float]:
    """Kernel with the smallest leave-one-out error, and its smallest ridge that is not clearly worse."""
    best: tuple[float, _Smooth, np.ndarray] | None = None
    for smooth in smooths:
        errors = smooth.squared_errors(left, free_leverage)
        mean = errors.mean(axis=1)
        if best is None or mean.min() < best[0]:
            best = (float(mean.min()), smooth, errors)
    assert best is not None
    _, smooth, errors = best
    usable = np.isfinite(errors).all(axis=1)
    if not usable.any():  # the free columns alone nearly interpolate: penalise as much as possible
        return smooth, float(_RIDGES[-1])
    winner = int(np.argmin(errors.mean(axis=1)))
    for i in np.flatnonzero(usable):
        difference = errors[i] - errors[winner]
        if difference.mean() <= difference.std() / np.sqrt(len(left)):
            return smooth, float(_RIDGES[i])
    return smooth, float(_RIDGES[winner])


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    return u[:, s > 1e-10 * s[0]]
