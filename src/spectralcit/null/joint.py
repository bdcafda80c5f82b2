"""One p-value for several statistics whose null distributions were drawn under the same signs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from .bounds import as_pvalue

__all__ = ["Combination", "JointNull", "JointP", "Null", "joint_p"]

Combination = Literal["harmonic-mean", "min"]

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
