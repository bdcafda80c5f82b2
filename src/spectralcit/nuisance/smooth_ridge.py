"""Default regression of the residual-based tests: linear part plus Gaussian kernel, tuned in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from ..numeric.kernels import gaussian_gram, median_width

__all__ = ["SmoothRidge"]

_RIDGES = 10.0 ** np.arange(-6.0, 2.0, 0.5)  # per row
_MAX_LEVERAGE = 0.97  # beyond it a leave-one-out residual is a ratio of two roundings
_MAX_MEAN_LEVERAGE = 0.7
_ROWS_PER_FREE_COLUMN = 4
# Beyond the training rows the kernel part fades and leaves its linear counterweight alone: one such row can
# outweigh all the others in a mean of products. Predictions stay near the range of the training targets.
_OVERSHOOT = 0.1
# Leave-one-out errors in memory per kernel: targets share matrix products up to this size.
_ERRORS_AT_ONCE = 2_000_000


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
        kernels, ridges = _least_penalised(smooths, left, (basis**2).sum(axis=1))
        self.fits_ = []
        for k in np.unique(kernels):
            smooth, columns = smooths[k], np.flatnonzero(kernels == k)
            weights = smooth.coefficients(left[:, columns], ridges[columns] * len(X))
            remainder = targets[:, columns] - smooth.features @ weights
            line = np.linalg.lstsq(free, remainder, rcond=1e-10)[0]
            self.fits_.append(_Fit(columns, line, smooth.width, smooth.to_features @ weights))
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
        predicted = np.empty((len(design), len(self.range_[0])))
        for fit in self.fits_:
            smooth = self._penalised_columns(design, fit.width) @ fit.weights
            predicted[:, fit.columns] = free @ fit.line + smooth
        predicted = np.clip(predicted, *self.range_)
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
    """Coefficients of the targets that share a kernel."""

    columns: np.ndarray
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

    def coefficients(self, left: np.ndarray, ridges: np.ndarray) -> np.ndarray:
        """Weights of the features, one column per target and its ridge."""
        root, spectrum = np.sqrt(self.spectrum)[:, None], self.spectrum[:, None]
        return self.rotation @ (root / (spectrum + ridges) * (self.directions.T @ left))

    def leverages(self, free_leverage: np.ndarray) -> np.ndarray:
        """Leverage of every row, one row per ridge; the same for all targets."""
        return free_leverage + self._shrink() @ (self.directions**2).T

    def squared_errors(self, left: np.ndarray, leverage: np.ndarray, ridges: np.ndarray) -> np.ndarray:
        """Squared leave-one-out errors, shape (ridges, targets, rows), for some of the ridges."""
        shrink, projected = self._shrink()[ridges], (self.directions.T @ left).T
        shrunk = (shrink[:, None, :] * projected).reshape(-1, len(self.spectrum))
        errors = (shrunk @ self.directions.T).reshape(len(ridges), *left.T.shape)
        np.subtract(left.T, errors, out=errors)
        errors /= np.maximum(1.0 - leverage[ridges], 1.0 - _MAX_LEVERAGE)[:, None, :]
        return np.square(errors, out=errors)

    def _shrink(self) -> np.ndarray:
        return self.spectrum / (self.spectrum + len(self.directions) * _RIDGES[:, None])


def _least_penalised(
    smooths: list[_Smooth], left: np.ndarray, free_leverage: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Per target: kernel with the smallest leave-one-out error, and its smallest ridge not clearly worse."""
    leverages = [smooth.leverages(free_leverage) for smooth in smooths]
    # Fits that nearly interpolate are refused, whatever the target.
    usable = [
        np.flatnonzero((v.max(axis=1) <= _MAX_LEVERAGE) & (v.mean(axis=1) <= _MAX_MEAN_LEVERAGE))
        for v in leverages
    ]
    n, n_targets = left.shape
    kernels = np.zeros(n_targets, dtype=int)
    ridges = np.full(n_targets, _RIDGES[-1])  # when none is usable: penalise as much as possible
    at_once = max(_ERRORS_AT_ONCE // (len(_RIDGES) * n), 1)
    for targets in np.split(np.arange(n_targets), range(at_once, n_targets, at_once)):
        errors = [
            smooth.squared_errors(left[:, targets], leverage, some)
            for smooth, leverage, some in zip(smooths, leverages, usable, strict=True)
        ]
        best = np.argmin([e.mean(axis=2).min(axis=0, initial=np.inf) for e in errors], axis=0)
        kernels[targets] = best
        for k in np.unique(best):
            if usable[k].size:
                ridges[targets[best == k]] = _RIDGES[usable[k]][_least_ridges(errors[k][:, best == k])]
    return kernels, ridges


def _least_ridges(errors: np.ndarray) -> np.ndarray:
    """Per target, first ridge whose mean error exceeds the least by at most its standard error."""
    n_ridges, n_targets, n = errors.shape
    winner = errors.mean(axis=2).argmin(axis=0)
    smallest = errors[winner, np.arange(n_targets)]
    found = np.full(n_targets, n_ridges)
    for i in range(n_ridges):
        searching = found == n_ridges
        if not searching.any():
            break
        difference = errors[i, searching] - smallest[searching]
        good = difference.mean(axis=1) <= difference.std(axis=1) / np.sqrt(n)
        found[np.flatnonzero(searching)[good]] = i
    return found


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    return u[:, s > 1e-10 * s[0]]
