"""Multiplier bootstrap of several quadratic statistics at once, and one p-value for all of them.

Each statistic is ``|sum_g S_g|² / n`` with sums S_g over groups of rows. Under the null hypothesis the S_g
have mean zero and are as good as independent, so random signs in front of them imitate the null
distribution. The same signs for all statistics keep their dependence, which is what calibrates their
combination without a Bonferroni loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from scipy import special

from .bounds import as_pvalue
from .search import effective_number, joint_sf
from .signs import drawn_signs, more_signs, whole_clusters
from .student import student_square, with_known_variance

__all__ = [
    "Combination",
    "JointNull",
    "JointP",
    "MaximumNull",
    "Multipliers",
    "Null",
    "QuadraticNull",
    "joint_p",
    "three_moment_sf",
]

Combination = Literal["harmonic-mean", "min"]

_FEW_PRODUCTS = 150  # by hand: up to here the products of all rows are formed at once
_TAIL_SHARE = 0.05  # below this share of the draws, p-values follow the analytic tail instead of counts


class Null(Protocol):
    """Null distribution of one statistic, drawn under the shared signs."""

    @property
    def draws(self) -> np.ndarray:
        """Values under random signs, shape (n_draws,)."""
        ...

    def sf(self, statistic: np.ndarray | float) -> np.ndarray:
        """Return the tail probability, smooth and positive."""
        ...


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
    # No weights have a smaller third moment than equal ones: what is below is rounding or few groups.
    third = np.maximum(third, 2.0 * variance**2 / mean)
    df = 8.0 * variance**3 / third**2
    shifted = df + (q - mean) * np.sqrt(2.0 * df / variance)
    tail = special.gammaincc(df / 2.0, np.maximum(shifted, 0.0) / 2.0)
    return np.where(usable, np.maximum(tail, np.finfo(float).tiny), 1.0)


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
        them allows: at 1e-4 p-values would be half of what they should be.
        """
        if self._has_tail:
            unit, count = self._largest_weight
            statistic = unit * with_known_variance(np.asarray(statistic) / unit, self.freedom, count)
        return three_moment_sf(statistic, self.mean, self.variance, self.third)

    def with_mean(self, mean: float) -> QuadraticNull:
        """Return the distribution rescaled to this mean, known better than from groups of rows."""
        if self.mean <= 0.0:
            return self
        factor = mean / self.mean
        return QuadraticNull(factor * self.draws, mean, factor**2 * self.variance, factor**3 * self.third)

    def with_estimated_variance(self, freedom: float) -> QuadraticNull:
        """Return the distribution of the statistic if its moments rest on so many degrees of freedom."""
        estimated = replace(self, freedom=freedom)
        if not estimated._has_tail:
            return estimated
        unit, count = self._largest_weight
        return replace(estimated, draws=unit * student_square(self.draws / unit, freedom, count))

    @property
    def _has_tail(self) -> bool:
        return bool(np.isfinite(self.freedom)) and self.mean > 0.0 and self.variance > 0.0

    @property
    def _largest_weight(self) -> tuple[float, float]:
        """About the largest weight of the chi-squared mixture, and how many as large have its mean."""
        third = max(self.third, 2.0 * self.variance**2 / self.mean)
        unit = third / (4.0 * self.variance)
        return unit, self.mean / unit


@dataclass(frozen=True, eq=False)
class MaximumNull:
    """Null distribution of the largest of several studentised sums."""

    draws: np.ndarray  # values under random signs, shape (n_draws,)
    number: float  # how many independent normal variables have such a largest absolute value

    def sf(self, statistic: np.ndarray | float) -> np.ndarray:
        """Return the tail of the largest of that many normal variables, in absolute value."""
        two_sided = 2.0 * special.ndtr(-np.asarray(statistic, dtype=float))
        return np.maximum(joint_sf(two_sided, self.number), np.finfo(float).tiny)


class Multipliers:
    """Random signs for groups of rows, shared by all statistics; `max_groups` bounds the cost at any n.

    Rows of one of the `clusters` are not independent and share their sign; without clusters rows are
    gathered at random.
    """

    def __init__(
        self,
        n: int,
        n_draws: int,
        rng: np.random.Generator,
        *,
        max_groups: int = 400,
        order: np.ndarray | None = None,
        clusters: np.ndarray | None = None,
    ) -> None:
        self.n = n
        self.clustered = clusters is not None
        if clusters is not None:
            self.groups = whole_clusters(clusters, max_groups, rng, order)
            self.signs = rng.choice(np.array([-1.0, 1.0]), size=(n_draws, len(self.groups)))
            return
        drawn, self.signs = drawn_signs(rng, n, min(n, max_groups), n_draws)
        self.groups = np.array_split(drawn if order is None else order[drawn], min(n, max_groups))

    def with_more_signs(self, rng: np.random.Generator) -> Multipliers:
        """Return the same groups with more sign vectors, of which these are the first."""
        extended = copy(self)
        extended.signs = more_signs(self.signs, rng)
        return extended

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows of all groups, one group after the other, and where each begins."""
        return np.concatenate(self.groups), np.cumsum([0, *(len(rows) for rows in self.groups[:-1])])

    @property
    def least_pvalue(self) -> float:
        """What so many groups can show at most: the chance that all signs agree."""
        return 2.0 ** (1 - len(self.groups))

    def sums_of_products(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return, for every group, the sums over its rows of all products of a left and a right column."""
        if left.shape[1] * right.shape[1] > _FEW_PRODUCTS:
            return np.stack([(left[rows].T @ right[rows]).ravel() for rows in self.groups])
        # One pass over all rows; a matrix product for every group costs more than it computes.
        order, starts = self._rows
        products = np.einsum("ni,nj->nij", left[order], right[order]).reshape(len(order), -1)
        return np.add.reduceat(products, starts, axis=0)

    def null_of_sums(self, sums: np.ndarray) -> QuadraticNull:
        """Return the null distribution of ``|sum of rows of sums|² / n``; `sums` has one row per group."""
        if sums.shape[1] > sums.shape[0]:
            return self._null_of_inner_products(sums @ sums.T)
        draws = np.square(self.signs @ sums).sum(axis=1)
        moments = sums.T @ sums
        own = np.square(sums).sum(axis=1)
        rotated = sums @ moments
        off_cube = (
            np.einsum("ij,jk,ki->", moments, moments, moments, optimize=True)
            - 3.0 * float(own @ np.einsum("ij,ij->i", rotated, sums))
            + 2.0 * (own**3).sum()
        )
        return self._null(draws, own.sum(), np.square(moments).sum() - np.square(own).sum(), off_cube)

    def null_of_products(self, left: np.ndarray, right: np.ndarray) -> QuadraticNull:
        """Return the null distribution of the sum of squares of all ``left' right / sqrt(n)``.

        As `null_of_sums` of `sums_of_products`, through n × n matrices: for many products of few rows.
        """
        order, starts = self._rows
        # Single precision: a thousand products of noise are summed, and a p-value needs few digits.
        u, v = left[order].astype(np.float32), right[order].astype(np.float32)
        gram = (u @ u.T) * (v @ v.T)
        halved = np.add.reduceat(gram, starts, axis=0)
        return self._null_of_inner_products(np.add.reduceat(halved, starts, axis=1, dtype=float))

    def null_of_largest(self, sums: np.ndarray) -> MaximumNull:
        """Return the null distribution of the largest ``|sum| / sqrt(sum of squares)`` of a column."""
        spread = np.sqrt(np.square(sums).sum(axis=0))
        unit = sums[:, spread > 0] / spread[spread > 0]
        if unit.shape[1] == 0:
            return MaximumNull(np.zeros(len(self.signs)), 1.0)
        draws = np.abs(self.signs @ unit).max(axis=1)
        return MaximumNull(draws, effective_number(2.0 * special.ndtr(-draws)))

    def _null_of_inner_products(self, gram: np.ndarray) -> QuadraticNull:
        draws = np.einsum("ij,ij->i", self.signs @ gram, self.signs)
        own = np.diag(gram)
        off = gram - np.diag(own)
        single = off.astype(np.float32)  # the third moment needs few digits, and this is the costly product
        off_cube = float(np.einsum("ij,ij->", single @ single, single))
        return self._null(draws, own.sum(), np.square(off).sum(), off_cube)

    def _null(self, draws: np.ndarray, trace: float, off_square: float, off_cube: float) -> QuadraticNull:
        """Signs leave the diagonal of the Gram matrix alone, so only what is off it varies."""
        n = self.n
        return QuadraticNull(
            draws / n, trace / n, 2.0 * max(off_square, 0.0) / n**2, 8.0 * max(off_cube, 0.0) / n**3
        )


@dataclass(frozen=True, eq=False)
class JointP:
    """Several p-values in one: minus the log of their combination, that calibrated by `draws`, and they."""

    statistic: float
    pvalue: float
    draws: np.ndarray
    pvalues: np.ndarray
    error: float  # standard error of the p-value from drawing finitely many signs


class JointNull:
    """Null distribution of the combined p-value of statistics that were drawn under the same signs.

    Counts over the shared signs give the p-value down to 0.05; beyond, it follows the combined p-value
    itself, scaled to meet the counts at 0.05. The smaller it is, the less likely do two statistics share it,
    and the combination comes to be the p-value itself: the scale fades with its square root, which fits a
    million draws (benchmarks/tails.py). A larger weight gives a statistic a larger share of the error
    rate. ``"min"`` takes the smallest ``p / weight``, best when one statistic alone sees the dependence;
    ``"harmonic-mean"`` is nearly the same then, and better when several see it.
    """

    def __init__(
        self, nulls: Sequence[Null], weights: np.ndarray, combination: Combination = "harmonic-mean"
    ) -> None:
        self._nulls = nulls
        self._weights = np.asarray(weights, dtype=float)[:, None] / np.sum(weights)
        self._combination = combination
        self.draws = np.sort(self.combined(self.pvalues([null.draws for null in nulls])))

    def pvalues(self, statistics: Iterable[np.ndarray]) -> np.ndarray:
        """Return the p-value of each statistic by itself, shape (statistics, data sets)."""
        return np.array([null.sf(t) for null, t in zip(self._nulls, statistics, strict=True)])

    def combined(self, pvalues: np.ndarray) -> np.ndarray:
        """Return the combination of each column of p-values."""
        if self._combination == "min":
            return (pvalues / self._weights).min(axis=0)
        return 1.0 / (self._weights / pvalues).sum(axis=0)

    def sf(self, combined: np.ndarray) -> np.ndarray:
        """Return the chance of so small a combination."""
        n = len(self.draws)
        counted = (1.0 + np.searchsorted(self.draws, combined, side="right")) / (1.0 + n)
        at_knee = self.draws[self._knee - 1]
        return np.where(combined >= at_knee, counted, self._followed(combined, at_knee))

    def error(self, combined: float) -> float:
        """Return the standard error of `sf` from drawing no more signs.

        Counts vary binomially; below them everything hangs on the draw at the knee, an order statistic.
        """
        n, at_knee = len(self.draws), self.draws[self._knee - 1]
        if combined >= at_knee:
            p = float(self.sf(np.array(combined)))
            return float(np.sqrt(p * (1.0 - p) / n))
        spread = np.sqrt((1.0 - _TAIL_SHARE) / self._knee)  # relative, of a nearly uniform variable
        low, high = (self._followed(np.array(combined), at_knee * (1.0 + sign * spread)) for sign in (1, -1))
        return float(high - low) / 2.0

    @property
    def _knee(self) -> int:
        return max(int(_TAIL_SHARE * len(self.draws)), 1)

    def _followed(self, combined: np.ndarray, at_knee: float) -> np.ndarray:
        """Return p-values beyond the counts, which meet these at the knee."""
        scale = (1.0 + self._knee) / (1.0 + len(self.draws)) / at_knee
        # A scale below one comes from cautious nulls; nothing says that they are less so further out.
        fading = np.sqrt(np.minimum(combined / at_knee, 1.0)) if scale > 1.0 else 1.0
        return combined * (1.0 + (scale - 1.0) * fading)


def joint_p(
    statistics: np.ndarray,
    nulls: Sequence[Null],
    weights: np.ndarray,
    combination: Combination = "harmonic-mean",
) -> JointP:
    """Combine statistics that were drawn under the same signs; see `JointNull`."""
    joint = JointNull(nulls, weights, combination)
    pvalues = joint.pvalues(np.asarray(statistics, dtype=float)[:, None])
    combined = joint.combined(pvalues)
    pvalue = as_pvalue(float(joint.sf(combined)[0]))
    error = joint.error(float(combined[0]))
    return JointP(-float(np.log(combined[0])), pvalue, -np.log(joint.draws), pvalues[:, 0], error)
