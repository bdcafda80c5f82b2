"""The law of X given Z, or of Y given Z, as a likelihood of z: columns together, of numbers and of levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from .models import Levels, Numbers, fit_levels, fit_numbers

__all__ = ["Side", "fit_side"]

_SHRINKAGE = (
    0.05  # of the correlations of the noise towards none; by hand, so that copies do not divide by zero
)


@dataclass(frozen=True, eq=False)
class Side:
    """The columns of one side given z: those of numbers together, and each one that has levels."""

    numbers: Numbers | None
    levels: Sequence[Levels]
    has_levels: Sequence[bool]
    factor: np.ndarray | None  # of the covariance of the noise, when there are several columns of numbers

    def log_density(self, values: Sequence[np.ndarray], design: np.ndarray, count: int) -> np.ndarray:
        """Log density of each row's values at its `count` proposals, which are rows of `design` in a row.

        Returns an array of shape (rows, count).
        """
        total = np.zeros(len(design))
        of_numbers, of_levels = _apart(values, self.has_levels)
        for model, given in zip(self.levels, of_levels, strict=True):
            total += model.log_density(np.repeat(given, count), model.log_probabilities(design))
        if self.numbers is not None:
            repeated = np.repeat(np.column_stack(of_numbers), count, axis=0)
            location, spread = self.numbers.location_and_spread(design)
            if self.factor is None:
                total += self.numbers.log_density(repeated[:, 0], location[:, 0], spread[:, 0])
            else:
                noise = ((repeated - location) / spread).T
                whitened = linalg.solve_triangular(self.factor, noise, lower=True, check_finite=False)
                total -= 0.5 * (whitened**2).sum(axis=0) + np.log(spread).sum(axis=1)
        return total.reshape(-1, count)


def fit_side(values: Sequence[np.ndarray], has_levels: Sequence[bool], design: np.ndarray) -> Side:
    """Fit the columns of one side given the rows of `design`."""
    of_numbers, of_levels = _apart(values, has_levels)
    levels = [fit_levels(each, design) for each in of_levels]
    if not of_numbers:
        return Side(None, levels, has_levels, None)
    given = np.column_stack(of_numbers)
    numbers = fit_numbers(given, design)
    if len(of_numbers) == 1:
        return Side(numbers, levels, has_levels, None)
    location, spread = numbers.location_and_spread(design)
    noise = (given - location) / spread
    covariance = np.cov(noise.T) * (1 - _SHRINKAGE) + _SHRINKAGE * np.diag(noise.var(axis=0))
    return Side(numbers, levels, has_levels, np.linalg.cholesky(covariance))


def _apart(
    values: Sequence[np.ndarray], has_levels: Sequence[bool]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Columns of numbers, and columns that have levels."""
    sorted_out: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for each, levels in zip(values, has_levels, strict=True):
        sorted_out[levels].append(each)
    return sorted_out
