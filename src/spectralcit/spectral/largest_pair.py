"""The most correlated pair of single features, for dependence between few of many columns.

Sums of squares over all pairs see dependence that is spread out; when one of 400 pairs depends, the other
399 drown it. The largest studentised pair sees it, whether the dependence is linear or curved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import special, stats

from ..null.bootstrap import Multipliers
from ..null.search import SearchNull, joint_sf
from ..null.whole_steps import as_normal
from .side_features import SideFeatures, null_rows
from .variances import rare_columns, rows_of_independent, steps_of_pairs

__all__ = ["LargestPairs", "largest_pairs"]

# By hand: pairs that are drawn under random signs. With more, a part of them tells how many of a pair's
# fellows count as independent.
_DRAWN_PAIRS = 2500


@dataclass(frozen=True, eq=False)
class LargestPairs:
    """The most surprising pair of linear features, and the one in which a rank cosine takes part."""

    pvalues: dict[str, float]  # by the kind of pair, calibrated for having searched
    nulls: dict[str, SearchNull]  # of minus the logarithms of these
    x: str  # names of the more surprising pair of features
    y: str


def largest_pairs(x: SideFeatures, y: SideFeatures, multipliers: Multipliers) -> LargestPairs | None:
    """Search the pairs of linear features and rank cosines; ``None`` for a single pair of columns.

    Each pair's sum of products is divided by the root of its sum of squares (with the same correction for
    degrees of freedom as in the blocks), whose tails are no heavier than normal. Pairs of which the products
    seen tell too little are divided by what independent columns would give: see `_few_products`. Clusters
    count by their sums, and then tails are Student's.
    """
    p, q = x.linear.shape[1], y.linear.shape[1]
    if p * q < 2:
        return None
    left, right = (np.hstack([side.linear, side.curved]) for side in (x, y))
    noise, partner = null_rows(left, right, x.fit, x.allowance * y.allowance)
    tail: Callable[[np.ndarray], np.ndarray] = _two_sided
    if multipliers.clustered:
        spread = np.sqrt(sum(np.square(noise[rows].T @ partner[rows]) for rows in multipliers.groups))
        tail = partial(_student_two_sided, df=len(multipliers.groups) - 1)
    else:
        spread = np.sqrt(np.square(noise).T @ np.square(partner))
    sums = left.T @ right
    if (few := _few_products(x, y)).any():
        rows = rows_of_independent(noise, partner, x.fit, multipliers.rows)
        spread = np.where(few, np.sqrt(rows.variances_of_sums()), spread)
        sums = as_normal(
            sums, np.square(spread), steps_of_pairs(left, right, (_counted(x), _counted(y)), x.fit.design)
        )
        noise, partner = rows.left, rows.right
    z = np.divide(np.abs(sums), spread, out=np.zeros_like(sums), where=spread > 0)
    linear = np.zeros(z.shape, dtype=bool)
    linear[:p, :q] = True
    pvalues, nulls, places = {}, {}, {}
    for name, members in (("largest linear pair", linear), ("largest curved pair", ~linear)):
        if not members.any():
            continue
        place = np.unravel_index(int(np.where(members, z, -1.0).argmax()), z.shape)
        number, nulls[name] = _drawn(noise, partner, members, multipliers, tail)
        pvalues[name] = float(joint_sf(tail(z[place]), number))
        places[name] = place
    i, j = places[min(pvalues, key=lambda name: pvalues[name])]
    names = [(*side.names[: side.linear.shape[1]], *side.curved_names) for side in (x, y)]
    return LargestPairs(pvalues, nulls, names[0][i], names[1][j])


def _few_products(x: SideFeatures, y: SideFeatures) -> np.ndarray:
    """Tell of which pairs the products seen do not show how much they vary: few rows have large ones.

    One column is rare, or neither is continuous: with five levels on either side a hundred rows leave a pair
    of levels out in every third table, and its products hardly vary. Pearson's test of two categories has
    its variances from the margins, too.
    """
    return np.logical_or.outer(_rare(x), _rare(y)) | np.logical_and.outer(_counted(x), _counted(y))


def _rare(side: SideFeatures) -> np.ndarray:
    """Tell which linear and curved columns are rare."""
    return np.concatenate([side.rare, rare_columns(side.curved)])


def _counted(side: SideFeatures) -> np.ndarray:
    """Tell which of them are rare or not continuous: sums of products of two such grow by whole steps."""
    return np.concatenate([side.discrete, rare_columns(side.curved)])


def _drawn(
    noise: np.ndarray,
    partner: np.ndarray,
    members: np.ndarray,
    multipliers: Multipliers,
    tail: Callable[[np.ndarray], np.ndarray],
) -> tuple[float, SearchNull]:
    """Return how many independent pairs `members` are like, and draws of the p-value of the largest."""
    rows, columns = (np.flatnonzero(members.any(axis=axis)) for axis in (1, 0))
    share = min(1.0, np.sqrt(_DRAWN_PAIRS / (len(rows) * len(columns))))
    rows, columns = (_evenly(places, share) for places in (rows, columns))
    chosen = members[np.ix_(rows, columns)].ravel()
    largest = multipliers.null_of_largest(
        multipliers.sums_of_products(noise[:, rows], partner[:, columns])[:, chosen]
    )
    drawn = joint_sf(tail(largest.draws), largest.number)
    return largest.number * members.sum() / chosen.sum(), SearchNull(-np.log(drawn), 1.0)


def _evenly(places: np.ndarray, share: float) -> np.ndarray:
    return places[np.linspace(0, len(places) - 1, max(1, round(share * len(places)))).astype(int)]


def _student_two_sided(z: np.ndarray | float, df: int) -> np.ndarray:
    return 2.0 * stats.t.sf(z, df)


def _two_sided(z: np.ndarray | float) -> np.ndarray:
    return special.erfc(np.asarray(z) / np.sqrt(2.0))
