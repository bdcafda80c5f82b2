"""P-values of sums over rows that belong together or do not count alike: Student's tails, and signs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from ..inputs import RowDesign
from ..numeric.grouped import sums_by_group
from ..numeric.streams import generator
from .bounds import as_pvalue
from .max_statistic import MaxStatistic
from .permutation import permutation_pvalue

__all__ = ["ClusteredMean", "cluster_sums", "clustered_mean", "signed_max_statistic", "student_of_sums"]

_CELLS_PER_BLOCK = 4_000_000  # keeps a block of products below 32 MB


@dataclass(frozen=True)
class ClusteredMean:
    """A studentised mean: nearly Student's under the null hypothesis."""

    statistic: float
    degrees_of_freedom: float

    def sf(self, side: Literal["two-sided", "greater"] = "two-sided") -> float:
        """Return the tail probability."""
        if side == "greater":
            return as_pvalue(float(stats.t.sf(self.statistic, self.degrees_of_freedom)))
        return as_pvalue(2.0 * float(stats.t.sf(abs(self.statistic), self.degrees_of_freedom)))


def cluster_sums(products: np.ndarray, design: RowDesign) -> np.ndarray:
    """Return the weighted sums of rows over clusters; without clusters the weighted rows."""
    if design.weights is not None:
        products = products * (design.weights if products.ndim == 1 else design.weights[:, None])
    return products if design.clusters is None else sums_by_group(products, design.clusters)


def clustered_mean(products: np.ndarray, design: RowDesign) -> ClusteredMean | None:
    """Studentise the mean of one column of products of residuals; ``None`` when its sums do not vary.

    Fits take something of every cluster's noise from the others, which makes their sums vary too little by
    a share of about one over their number: hence the factor of their number over one less.
    """
    sums = cluster_sums(products, design)
    return student_of_sums(float(sums.sum()), sums, design, slack=len(sums) / (len(sums) - 1))


def student_of_sums(
    total: float, sums: np.ndarray, design: RowDesign, *, slack: float = 1.0
) -> ClusteredMean | None:
    """Turn `total` into a variable that is Student's if the sums are normal with mean zero.

    Their squares are taken without subtracting the mean, as the null hypothesis has it, and the ratio, at
    most the root of their number, is spread out to Student's: for equal sums of squares the two are the
    same test.
    """
    square = float(np.square(sums).sum()) * design.inflation * slack
    if square <= (1e-14 * float(np.abs(sums).max(initial=0.0))) ** 2:
        return None
    if design.clusters is not None:
        freedom = design.degrees_of_freedom
    else:
        assert design.weights is not None
        freedom = max(float(design.weights.sum() ** 2 / np.square(design.weights).sum()) - 1.0, 1.0)
    count = len(sums)
    ratio = total / math.sqrt(square)
    room = max(count - ratio**2, 1e-12)
    return ClusteredMean(ratio * math.sqrt((count - 1) / room), freedom)


def signed_max_statistic(
    first: np.ndarray, second: np.ndarray, design: RowDesign, *, n_bootstrap: int, seed: int
) -> MaxStatistic | None:
    """Test that all means of products of a column of each are zero, by random signs of clusters.

    As `max_statistic`, but sums are studentised without subtracting their mean, and signs, which are exact
    for symmetric sums however few, take the place of normal variables.
    """
    pairs = [(j, k) for j in range(first.shape[1]) for k in range(second.shape[1])]
    count = len(first) if design.members is None else len(design.members)
    signs = generator(seed, "multipliers").choice(np.array([-1.0, 1.0]), size=(n_bootstrap, count))
    size = max(1, _CELLS_PER_BLOCK // len(first))
    slack = math.sqrt(design.inflation * count / (count - 1))
    draws = np.zeros(n_bootstrap)
    best, where, varying = -1.0, (0, 0), 0
    for start in range(0, len(pairs), size):
        block = pairs[start : start + size]
        products = first[:, [j for j, _ in block]] * second[:, [k for _, k in block]]
        sums = cluster_sums(products, design)
        spread = np.sqrt(np.square(sums).sum(axis=0))
        kept = np.flatnonzero(spread > 1e-14 * np.abs(sums).max(axis=0))
        if len(kept) == 0:
            continue
        varying += len(kept)
        unit = sums[:, kept] / spread[kept]
        found = np.abs(unit.sum(axis=0)) / slack
        if found.max() > best:
            best, where = float(found.max()), block[kept[int(np.argmax(found))]]
        draws = np.maximum(draws, np.abs(signs @ unit).max(axis=1))
    if varying == 0:
        return None
    return MaxStatistic(best, permutation_pvalue(best, draws), where, len(pairs) - varying)
