"""Few groups of rows, and whether those of a group have more in common than chance explains.

With ten groups one side's correlation often looks small by chance. So each side is given a chance of its own,
which takes few groups into account, and both chances together must be small. The sides are made uncorrelated
first: what x and y have in common would otherwise be counted twice.
"""

from __future__ import annotations

import numpy as np

from .left import Basis, Left
from .together import Together

__all__ = ["FEWEST_GROUPS", "chance_of", "few_are_alike", "is_few", "uncorrelated_sides"]

FEWEST_GROUPS = 8  # by hand: fewer are a covariate, not a list of subjects
# With more, correlations are known well enough to tell rows alike on one side, which do no harm, from others.
_MOST_GROUPS = 16
_LARGEST_CHANCE = 0.5  # of either side, by hand: ten groups of ten with a correlation of .3 are hardly above
_LEAST_SHARE = 1e-6  # of the variance along a direction of all columns: below, it is one that others explain


def uncorrelated_sides(x: np.ndarray, y: np.ndarray, basis: Basis) -> tuple[Left, Left]:
    """Remove a basis from both sides, and mix all columns as little as makes them uncorrelated."""
    both = Left.of(np.hstack([x, y]), basis)
    unit = both.columns / np.sqrt(both.variance)
    shares, directions = np.linalg.eigh(unit.T @ unit / (len(unit) - basis.width))
    mixed = unit @ (directions / np.sqrt(np.maximum(shares, _LEAST_SHARE))) @ directions.T
    return Left(mixed[:, : x.shape[1]], basis), Left(mixed[:, x.shape[1] :], basis)


def chance_of(side: Left, groups: Together) -> float:
    """Return the chance that independent rows have as much in common within groups.

    Squares of the groups' sums have about a scaled chi-square law, as a share of all squares a beta law, with
    the degrees of freedom that its first two moments give (Satterthwaite).
    """
    from scipy import special  # half a second that `spectralcit --help` need not wait

    sums, lost = groups.sums(side.columns), side.basis.lost(groups)
    mean = lost.mean
    freedom, all_freedom = mean**2 / lost.square, float(len(side.columns) - side.basis.width)
    if freedom >= all_freedom:
        return 1.0
    share = float((np.square(sums).sum(axis=0) / side.variance).mean()) / mean * freedom / all_freedom
    columns = _independent_columns(side)
    halves = columns * freedom / 2, columns * (all_freedom - freedom) / 2
    return float(special.betaincc(*halves, min(share, 1.0)))


def _independent_columns(side: Left) -> float:
    """How many uncorrelated columns those of a side are worth."""
    unit = side.columns / np.sqrt(np.square(side.columns).sum(axis=0) + 1e-300)
    return side.columns.shape[1] ** 2 / max(float(np.square(unit.T @ unit).sum()), 1e-300)


def is_few(groups: Together) -> bool:
    """Tell whether there are so few groups, though not too few, that they are judged here."""
    return bool(FEWEST_GROUPS <= len(groups.sizes) <= _MOST_GROUPS)


def few_are_alike(groups: Together, sides: tuple[Left, Left], both: float) -> bool:
    """Judge whether rows of a few groups are alike on both sides, the product of the chances below `both`."""
    if not is_few(groups):
        return False
    one, other = (chance_of(side, groups) for side in sides)
    return max(one, other) <= _LARGEST_CHANCE and one * other <= both
