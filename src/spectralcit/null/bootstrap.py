"""Multiplier bootstrap of several quadratic statistics at once, and one p-value for all of them.

Each statistic is ``|sum_g S_g|² / n`` with sums S_g over groups of rows. Under the null hypothesis the S_g
have mean zero and are as good as independent, so random signs in front of them imitate the null
distribution. The same signs for all statistics keep their dependence, which is what calibrates their
combination without a Bonferroni loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from .bounds import as_pvalue

__all__ = ["Combination", "JointP", "Multipliers", "QuadraticNull", "joint_p"]

Combination = Literal["harmonic-mean", "min"]

# Below this share of the draws, p-values follow the analytic tail instead of counts. By hand.
_TAIL_SHARE = 0.02


@dataclass(frozen=True, eq=False)
class QuadraticNull:
    """Null of one quadratic statistic: draws under random signs, and moments over all signs exactly."""

    draws: np.ndarray
    mean: float
    variance: float

    def sf(self, statistic: np.ndarray | float) -> np.ndarray:
        """Return the tail of the scaled chi-squared distribution with these two moments."""
        if self.mean <= 0.0 or self.variance <= 0.0:
            return np.ones_like(np.asarray(statistic, dtype=float))
        df = 2.0 * self.mean**2 / self.variance
        return np.maximum(stats.chi2.sf(np.asarray(statistic) * df / self.mean, df), np.finfo(float).tiny)


class Multipliers:
    """Random signs for groups of rows, shared by all statistics; `max_groups` bounds the cost at any n."""

    def __init__(self, n: int, n_draws: int, rng: np.random.Generator, *, max_groups: int = 400) -> None:
        self.n = n
        self.groups = np.array_split(rng.permutation(n), min(n, max_groups))
        self.signs = rng.choice(np.array([-1.0, 1.0]), size=(n_draws, len(self.groups)))

    def null_of_sums(self, sums: np.ndarray) -> QuadraticNull:
        """Return the null distribution of ``|sum of rows of sums|² / n``; `sums` has one row per group."""
        few_columns = sums.shape[1] <= sums.shape[0]
        small = sums.T @ sums if few_columns else sums @ sums.T
        if few_columns:
            draws = np.square(self.signs @ sums).sum(axis=1)
        else:
            draws = np.einsum("ij,ij->i", self.signs @ small, self.signs)
        own = np.square(np.square(sums).sum(axis=1)).sum()
        return self._null(draws, np.trace(small), np.square(small).sum() - own)

    def null_of_gram(self, gram: np.ndarray) -> QuadraticNull:
        """Return the null distribution of ``1' gram 1 / n``; `gram` holds inner products of rows' terms."""
        order = np.concatenate(self.groups)
        starts = np.cumsum([0, *(len(rows) for rows in self.groups[:-1])])
        by_group = np.add.reduceat(np.add.reduceat(gram[order][:, order], starts, axis=0), starts, axis=1)
        draws = np.einsum("ij,ij->i", self.signs @ by_group, self.signs)
        own = np.square(np.diag(by_group)).sum()
        return self._null(draws, np.trace(by_group), np.square(by_group).sum() - own)

    def _null(self, draws: np.ndarray, trace: float, off_diagonal: float) -> QuadraticNull:
        """Signs leave the diagonal of the Gram matrix alone, so only what is off it varies."""
        return QuadraticNull(draws / self.n, trace / self.n, 2.0 * max(off_diagonal, 0.0) / self.n**2)


@dataclass(frozen=True, eq=False)
class JointP:
    """Several p-values in one: minus the log of their combination, that calibrated by `draws`, and they."""

    statistic: float
    pvalue: float
    draws: np.ndarray
    pvalues: np.ndarray


def joint_p(
    statistics: np.ndarray,
    nulls: list[QuadraticNull],
    weights: np.ndarray,
    combination: Combination = "harmonic-mean",
) -> JointP:
    """Combine quadratic statistics that were drawn under the same signs.

    Counts over the shared signs give the p-value down to 0.02; beyond, it follows the combined p-value
    itself, scaled to meet the counts at 0.02. A larger weight gives a statistic a larger share of the error
    rate. ``"min"`` takes the smallest ``p / weight``, best when one statistic alone sees the dependence;
    ``"harmonic-mean"`` is nearly the same then, and better when several see it.
    """
    weights = np.asarray(weights, dtype=float)[:, None] / np.sum(weights)
    pvalues = np.array([null.sf(t) for null, t in zip(nulls, statistics, strict=True)], dtype=float)
    observed = float(_combined(pvalues[:, None], weights, combination)[0])
    draws = np.sort(_combined(np.array([null.sf(null.draws) for null in nulls]), weights, combination))
    knee = max(int(_TAIL_SHARE * len(draws)), 1)
    if observed >= draws[knee - 1]:
        pvalue = (1.0 + np.count_nonzero(draws <= observed)) / (1.0 + len(draws))
    else:
        pvalue = (1.0 + knee) / (1.0 + len(draws)) * observed / draws[knee - 1]
    return JointP(-float(np.log(observed)), as_pvalue(pvalue), -np.log(draws), pvalues)


def _combined(pvalues: np.ndarray, weights: np.ndarray, combination: Combination) -> np.ndarray:
    if combination == "min":
        return (pvalues / weights).min(axis=0)
    return 1.0 / (weights / pvalues).sum(axis=0)
