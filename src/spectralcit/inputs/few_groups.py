"""Few groups of rows, and whether those of a group have more in common than chance explains.

With ten groups one side's correlation often looks small by chance. So each side is given a chance of its own,
which takes few groups into account, and both chances together must be small. The sides are made uncorrelated
first: what x and y have in common would otherwise be counted twice.
"""

from __future__ import annotations

import numpy as np

from ..numeric.grouped import sums_by_group
from .left import Left

__all__ = ["FEWEST_GROUPS", "chance_of", "few_are_alike", "is_few", "uncorrelated_sides"]

FEWEST_GROUPS = 8  # by hand: fewer are a covariate, not a list of subjects
# With more, correlations are known well enough to tell rows alike on one side, which do no harm, from others.
_MOST_GROUPS = 16
_LARGEST_CHANCE = 0.5  # of either side, by hand: ten groups of ten with a correlation of .3 are hardly above
_LEAST_SHARE = 1e-6  # of the variance along a direction of all columns: below, it is one that others explain


def uncorrelated_sides(x: np.ndarray, y: np.ndarray, basis: np.ndarray) -> tuple[Left, Left]:
    """Remove a basis from both sides, and mix all columns as little as makes them uncorrelated."""
    both = Left.of(np.hstack([x, y]), basis)
    unit = both.columns / np.sqrt(both.variance)
    shares, directions = np.linalg.eigh(unit.T @ unit / (len(unit) - basis.shape[1]))
    mixed = unit @ (directions / np.sqrt(np.maximum(shares, _LEAST_SHARE))) @ directions.T
    return Left(mixed[:, : x.shape[1]], basis), Left(mixed[:, x.shape[1] :], basis)


def chance_of(side: Left, codes: np.ndarray) -> float:
    """Return the chance that independent rows have as much in common within groups.

    Squares of the groups' sums have about a scaled chi-square law, as a share of all squares a beta law, with
    the degrees of freedom that its first two moments give (Satterthwaite).
    """
    from scipy import stats  # half a second that `spectralcit --help` need not wait

    sizes = np.bincount(codes)
    sums, lost = sums_by_group(side.columns, codes), sums_by_group(side.basis, codes)
    of_codes = np.square(lost).sum(axis=1)
    mean = len(codes) - float(of_codes.sum())
    square = float(sizes @ (sizes - 2.0 * of_codes)) + float(np.square(lost.T @ lost).sum())
    freedom, all_freedom = mean**2 / square, float(side.basis.shape[0] - side.basis.shape[1])
    if freedom >= all_freedom:
        return 1.0
    share = float((np.square(sums).sum(axis=0) / side.variance).mean()) / mean * freedom / all_freedom
    columns = _independent_columns(side)
    halves = columns * freedom / 2, columns * (all_freedom - freedom) / 2
    return float(stats.beta.sf(min(share, 1.0), *halves))


def _independent_columns(side: Left) -> float:
    """How many uncorrelated columns those of a side are worth."""
    unit = side.columns / np.sqrt(np.square(side.columns).sum(axis=0) + 1e-300)
    return side.columns.shape[1] ** 2 / max(float(np.square(unit.T @ unit).sum()), 1e-300)


def is_few(codes: np.ndarray) -> bool:
    """Tell whether there are so few groups, though not too few, that they are judged here."""
    return bool(FEWEST_GROUPS <= codes.max() + 1 <= _MOST_GROUPS)


def few_are_alike(codes: np.ndarray, sides: tuple[Left, Left], both: float) -> bool:
    """Judge whether rows of a few groups are alike on both sides, the product of the chances below `both`."""
    if not is_few(codes):
        return False
    one, other = (chance_of(side, codes) for side in sides)
    return max(one, other) <= _LARGEST_CHANCE and one * other <= both
