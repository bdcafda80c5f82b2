"""Null distribution of a sum of squares: the tail of its first three moments, variances known or not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from .student import student_square, with_known_variance

__all__ = ["QuadraticNull", "three_moment_sf"]


def three_moment_sf(
    statistic: np.ndarray | float,
    mean: np.ndarray | float,
    variance: np.ndarray | float,
    third: np.ndarray | float,
) -> np.ndarray:
    """Return the tail of the shifted chi-squared distribution with these cumulants; arrays go together."""
    q, mean, variance = (np.asarray(each, dtype=float) for each in (statistic, mean, variance))
    usable = (mean > 0.0) & (variance > 0.0)
    mean, variance = np.where(usable, mean, 1.0), np.where(usable, variance, 1.0)
    df = _degrees_of_freedom(mean, variance, third)
    shifted = df + (q - mean) * np.sqrt(2.0 * df / variance)
    tail = special.gammaincc(df / 2.0, np.maximum(shifted, 0.0) / 2.0)
    return np.where(usable, np.maximum(tail, np.finfo(float).tiny), 1.0)


def _three_moment_isf(tail: np.ndarray, mean: float, variance: float, third: float) -> np.ndarray:
    """Return what has these tails under `three_moment_sf`."""
    df = _degrees_of_freedom(mean, variance, third)
    return mean + (2.0 * special.gammainccinv(df / 2.0, tail) - df) * np.sqrt(variance / (2.0 * df))


def _degrees_of_freedom(
    mean: np.ndarray | float, variance: np.ndarray | float, third: np.ndarray | float
) -> np.ndarray:
    # No weights have a smaller third moment than equal ones: what is below is rounding or few groups.
    third = np.maximum(third, 2.0 * np.square(variance) / mean)
    return 8.0 * np.power(variance, 3) / np.square(third)


@dataclass(frozen=True, eq=False)
class QuadraticNull:
    """Null of one quadratic statistic: draws under random signs, and moments over all signs exactly."""

    draws: np.ndarray  # values under random signs, shape (n_draws,)
    mean: float  # the first three cumulants over all signs, in closed form
    variance: float
    third: float
    freedom: float = np.inf  # degrees of freedom of the variances in them, where these were estimated

    def sf(self, statistic: np.ndarray | float) -> np.ndarray:
        """Return the tail of the shifted chi-squared distribution with these moments (Hall-Buckley-Eagleson).

        With mean and variance alone it would decay as if all weights were equal, faster than the largest of
        them allows: at 1e-4 p-values would be half of what they should be. Estimated variances make the tail
        heavier, as Student's is.
        """
        if self._is_estimated:
            unit, count = self._largest_weight
            statistic = unit * with_known_variance(np.asarray(statistic) / unit, self.freedom, count)
        return three_moment_sf(statistic, self.mean, self.variance, self.third)

    def with_mean(self, mean: float) -> QuadraticNull:
        """Return the distribution rescaled to this mean, known better than from groups of rows."""
        if self.mean <= 0.0:
            return self
        factor = mean / self.mean
        return replace(
            self,
            draws=factor * self.draws,
            mean=mean,
            variance=factor**2 * self.variance,
            third=factor**3 * self.third,
        )

    def with_estimated_variance(self, freedom: float) -> QuadraticNull:
        """Return the distribution of the statistic if its moments rest on so many degrees of freedom."""
        estimated = replace(self, freedom=freedom)
        if not estimated._is_estimated:
            return estimated
        unit, count = self._largest_weight
        return replace(estimated, draws=unit * student_square(self.draws / unit, freedom, count))

    def of_counts(self, variances: np.ndarray, expected: np.ndarray) -> QuadraticNull:
        """Return the distribution if the squares are of sums with these variances and few whole steps each.

        Of a Poisson variable with mean m in units of its deviation, the square has variance 2 + 1/m and third
        moment 8 + 22/m + 1/m² (Pearson's test in sparse tables). An infinite `expected` is for a normal sum.
        """
        if self.mean <= 0.0 or self.variance <= 0.0:
            return self
        rate = 1.0 / expected
        variance = self.variance + float(np.square(variances) @ rate)
        third = self.third + float(variances**3 @ (22.0 * rate + np.square(rate)))
        draws = _three_moment_isf(self.sf(self.draws), self.mean, variance, third)
        return replace(self, draws=draws, variance=variance, third=third)

    @property
    def _is_estimated(self) -> bool:
        return bool(np.isfinite(self.freedom)) and self.mean > 0.0 and self.variance > 0.0

    @property
    def _largest_weight(self) -> tuple[float, float]:
        """About the largest weight of the chi-squared mixture, and how many as large have its mean."""
        third = max(self.third, 2.0 * self.variance**2 / self.mean)
        unit = third / (4.0 * self.variance)
        return unit, self.mean / unit
