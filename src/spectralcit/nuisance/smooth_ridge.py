"""Default regression of the residual-based tests: the common smoother, asked about rows it has not seen."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from ..inputs import RowDesign
from ..numeric.linear import orthonormal_columns
from ..numeric.standardize import Standardizer
from .designed import DesignedSmoother, make_smoother
from .maps import FeatureMap, GaussianFeatures, LinearFeatures
from .selection import select
from .smoother import PENALTIES, Smoother
from .sums import SumOfMaps

__all__ = ["SmoothRidge"]

# By hand: with fewer rows a column, least squares follows the noise more than the columns.
_ROWS_PER_FREE_COLUMN = 4
# Beyond it a leave-one-out residual is a ratio of two roundings, and the least penalised fit would follow the
# noise of lonely rows: without this bound "pcm" loses half of its statistic on y = x² and three columns.
_MAX_LEVERAGE = 0.97
# Of the range of the targets, by hand. Beyond the training rows the kernel part fades and leaves its linear
# counterweight alone: one such row can outweigh all the others in a mean of products.
_OVERSHOOT = 0.1


class SmoothRidge(RegressorMixin, BaseEstimator):
    """Least squares on the columns plus ridge on a Gaussian kernel with at most `n_landmarks` centres.

    The linear part is not penalised while there are at least four rows per column: a shrunken linear fit
    leaves the same remainder in both residuals of a conditional independence test, where it looks like
    dependence. Width (one of `widths`, in units of the median distance) and penalty are chosen per target, by
    leave-one-out error: see `select`.

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

    def fit(self, X: Any, y: Any, rows: RowDesign | None = None) -> SmoothRidge:
        """Fit to rows `X` of shape (n, p) and targets `y` of shape (n,) or (n, t).

        With `rows`, those that belong together are left out together, and each counts by its weight.
        """
        X, targets = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        self.one_target_ = targets.ndim == 1
        targets = targets.reshape(len(X), -1)
        self.scaling_ = Standardizer.fit(X)
        design = self.scaling_.transform(X)
        self.free_linear_ = _ROWS_PER_FREE_COLUMN * (design.shape[1] + 1) <= len(design)
        smoothers = self._smoothers(design, rows)
        root = 1.0 if rows is None or rows.root is None else rows.root[:, None]
        # One target at a time: the choice for x must not look at y.
        chosen = [select(smoothers, targets[:, [j]]) for j in range(targets.shape[1])]
        self.parts_ = []
        for smoother in smoothers:
            columns = [j for j, fit in enumerate(chosen) if fit.smoother is smoother]
            if columns:
                parts = [smoother.parts(targets[:, [j]], chosen[j].penalty) for j in columns]
                straight, weights = (np.hstack(part) for part in zip(*parts, strict=True))
                line = np.linalg.lstsq(self._free_columns(design) * root, straight, rcond=1e-8)[0]
                self.parts_.append(_Part(columns, line, smoother.feature_map, weights))
        low, high = targets.min(axis=0), targets.max(axis=0)
        self.range_ = low - _OVERSHOOT * (high - low), high + _OVERSHOOT * (high - low)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the targets of new rows, within the range of those seen and a little beyond."""
        design = self.scaling_.transform(X)
        free = self._free_columns(design)
        predicted = np.empty((len(design), len(self.range_[0])))
        for part in self.parts_:
            predicted[:, part.columns] = free @ part.line
            if part.feature_map is not None:
                predicted[:, part.columns] += part.feature_map(design) @ part.weights
        predicted = np.clip(predicted, *self.range_)
        return predicted[:, 0] if self.one_target_ else predicted

    def _free_columns(self, design: np.ndarray) -> np.ndarray:
        ones = np.ones((len(design), 1))
        return np.hstack([ones, design]) if self.free_linear_ else ones

    def _smoothers(self, design: np.ndarray, rows: RowDesign | None) -> list[Smoother]:
        """One candidate per width; least squares alone where no two rows differ."""
        n, p = design.shape
        root = None if rows is None else rows.root
        fixed = orthonormal_columns(design if self.free_linear_ else np.empty((n, 0)), root)
        kind = _Honest if rows is None else _HonestDesigned
        # Evenly spaced rows, all of them landmarks: nothing is drawn.
        centres = design[np.linspace(0, n - 1, min(n, self.n_landmarks)).astype(int)]
        smoothers: list[Smoother] = []
        for width in self.widths:
            gaussian = GaussianFeatures.fit(centres, np.eye(p), width, len(centres), np.random.default_rng(0))
            if gaussian is not None:
                feature_map = gaussian if self.free_linear_ else _with_columns(gaussian, design)
                smoothers.append(kind(fixed, design, feature_map, name=f"gaussian({width:g})", design=rows))
        return smoothers or [make_smoother(fixed, name="linear", design=rows)]


class _Honest(Smoother):
    """Smoothers without those in which a row nearly determines its own fit."""

    @cached_property
    def _least_penalty(self) -> float:
        honest = bisect_left(PENALTIES, True, key=lambda p: bool(self.leverage(p).max() <= _MAX_LEVERAGE))
        return float(PENALTIES[min(honest, len(PENALTIES) - 1)])

    def loss_path(self, targets: np.ndarray) -> list[tuple[float, np.ndarray]]:
        return [step for step in super().loss_path(targets) if step[0] >= self._least_penalty]


class _HonestDesigned(_Honest, DesignedSmoother):
    """The same for rows that belong together."""


@dataclass(frozen=True, eq=False)
class _Part:
    """Coefficients of the targets that share a kernel: of the free columns and of its features."""

    columns: list[int]
    line: np.ndarray
    feature_map: FeatureMap | None
    weights: np.ndarray


def _with_columns(gaussian: GaussianFeatures, design: np.ndarray) -> SumOfMaps:
    columns = LinearFeatures()
    return SumOfMaps.fit(gaussian, columns, (gaussian(design), columns(design)))
