"""One column given others, as a distribution: it proposes values for missing cells and weighs proposals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .regression import Regression, fit_regression

__all__ = ["Levels", "Numbers", "fit_levels", "fit_numbers"]

_LEAST_SPREAD = 0.2  # of the mean spread, by hand: a regression of the spread may say zero where rows are few
# Of a uniform law over the levels, or of a wide bell over the numbers: a model is never sure beyond its rows.
_DOUBT = 0.01
_QUANTILES = 400  # points that stand for the noise, and over which its density is smoothed; by hand
_ROWS_AT_ONCE = 200_000  # predicted together: the kernel matrix of these stays below 200 megabytes


@dataclass(frozen=True, eq=False)
class Numbers:
    """Columns of numbers: smooth means plus smooth spreads times noise shaped like the residuals."""

    means_and_spreads: Regression | None
    centre: np.ndarray
    scale: np.ndarray
    noise: list[np.ndarray]  # of each column, its quantiles at the midpoints of equal shares
    log_noise: list[tuple[np.ndarray, np.ndarray]]  # of each column, a grid and the log density there

    def location_and_spread(self, design: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and spread at each row of the design, a column for each column."""
        shape = len(design), len(self.centre)
        if self.means_and_spreads is None:
            return np.broadcast_to(self.centre, shape), np.broadcast_to(self.scale, shape)
        both = _predicted(self.means_and_spreads, design)
        return both[:, : shape[1]], self.scale * np.maximum(both[:, shape[1] :], _LEAST_SPREAD)

    def log_density(self, values: np.ndarray, location: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Log density of values of the first column, which broadcast against location and spread."""
        return np.interp((values - location) / spread, *self.log_noise[0]) - np.log(spread)

    def propose(self, design: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
        """`count` values of the first column for each row, from as many equal shares of the distribution."""
        location, spread = self.location_and_spread(design)
        shares = (np.arange(count) + rng.random((len(design), count))) / count
        midpoints = (np.arange(len(self.noise[0])) + 0.5) / len(self.noise[0])
        return location[:, :1] + spread[:, :1] * np.interp(shares, midpoints, self.noise[0])


def fit_numbers(values: np.ndarray, design: np.ndarray) -> Numbers:
    """Fit the law of each column of `values` given the rows of `design`, which may have no columns."""
    centre, scale = values.mean(axis=0), _positive(values.std(axis=0))
    both = None
    noise = (values - centre) / scale
    if design.shape[1]:
        mean = fit_regression(design, values)
        scale = _positive(np.abs(mean.left_out).mean(axis=0))
        spread = fit_regression(design, np.abs(mean.left_out) / scale)
        both = mean.beside(spread)
        fitted = np.maximum(_predicted(spread, design), _LEAST_SPREAD)
        noise = mean.left_out / (scale * fitted)
    count = min(len(noise), _QUANTILES)
    quantiles = list(np.quantile(noise, (np.arange(count) + 0.5) / count, axis=0).T)
    return Numbers(both, centre, scale, quantiles, [_smoothed(each, len(noise)) for each in quantiles])


def _positive(scale: np.ndarray) -> np.ndarray:
    return np.where(scale > 0, scale, 1.0)


def _smoothed(quantiles: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Log density of the noise on a grid: kernels by Silverman's rule, and a little of a wide bell."""
    spread = float(np.std(quantiles)) or 1.0
    low, high = np.quantile(quantiles, [0.25, 0.75])
    width = 0.9 * min(spread, (high - low) / 1.34 or spread) * n**-0.2
    reach = 4 * spread + np.abs(quantiles).max()
    grid = np.linspace(-reach, reach, 2 * _QUANTILES)
    width = max(width, grid[1] - grid[0])
    quantiles = quantiles * spread / np.hypot(spread, width)  # so that the kernels do not widen the noise
    kernels = np.exp(-0.5 * ((grid[:, None] - quantiles) / width) ** 2).mean(axis=1) / width
    wide = np.exp(-0.5 * (grid / (3 * spread)) ** 2) / (3 * spread)
    return grid, np.log((1 - _DOUBT) * kernels + _DOUBT * wide + 1e-12 * wide.max())


@dataclass(frozen=True, eq=False)
class Levels:
    """Few distinct values with probabilities that are smooth functions of the design."""

    levels: np.ndarray
    shares: np.ndarray
    regression: Regression | None

    def log_probabilities(self, design: np.ndarray) -> np.ndarray:
        """Log probability of every level at each row of the design."""
        fitted = np.tile(self.shares, (len(design), 1))
        if self.regression is not None:
            fitted = np.maximum(_predicted(self.regression, design), 0.0)
            fitted /= np.maximum(fitted.sum(axis=1, keepdims=True), _DOUBT)
        return np.log((1 - _DOUBT) * fitted + _DOUBT * self.shares)

    def log_density(self, values: np.ndarray, log_probabilities: np.ndarray) -> np.ndarray:
        """Log probability of the value of each row, which is one of the levels."""
        codes = np.searchsorted(self.levels, values)
        return np.take_along_axis(log_probabilities, codes[:, None], axis=1)[:, 0]


def fit_levels(values: np.ndarray, design: np.ndarray) -> Levels:
    """Fit the probabilities of the distinct `values` given the rows of `design`."""
    levels, codes = np.unique(values, return_inverse=True)
    indicators = np.eye(len(levels))[codes]
    regression = fit_regression(design, indicators) if design.shape[1] else None
    return Levels(levels, indicators.mean(axis=0), regression)


def _predicted(regression: Regression, design: np.ndarray) -> np.ndarray:
    pieces = range(0, len(design), _ROWS_AT_ONCE)
    return np.concatenate([regression.predict(design[start : start + _ROWS_AT_ONCE]) for start in pieces])
