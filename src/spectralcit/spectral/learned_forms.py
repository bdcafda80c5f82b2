"""Forms of pairs of components: the means of products whose largest values `learned` searches for.

A side enters linearly or by products of two of its components; what signs are put in front of comes along.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..null.bootstrap import Multipliers
from ..null.whole_steps import as_normal
from .ridge_pairs import Components, leading_components, products, width
from .side_features import SideFeatures, null_rows
from .variances import rows_of_independent, steps_of_pairs

__all__ = ["SHAPES", "Family", "form_families"]

_MOST_COMPONENTS = 40  # by hand: of a side that enters by its 820 products of two
_MOST_LINEAR = 20  # by hand: of a side that enters linearly
_MOST_BOTH_SQUARE = 10  # products on both sides: the number of forms grows with the fourth power
_FORM_SIZE = 4200  # products × components, by hand: that of 20 components on either side
_CELLS = 20_000_000  # of a matrix of products of all rows: 160 MB
_ROWS_PER_COMPONENT = 15  # by hand: with fewer rows the last components are noise
_FEW = (4, 10)  # by hand: numbers of components tried beside the largest

SHAPES = {False: "linear", True: "square"}  # how a result names the two kinds of ridge functions


@dataclass(frozen=True, eq=False)
class Family:
    """Forms of one kind of pair."""

    squares: tuple[bool, bool]
    components: tuple[Components, Components]
    observed: np.ndarray
    sums: np.ndarray  # what signs are put in front of: the form of each group of rows

    @property
    def name(self) -> str:
        return "learned {} × {}".format(*(SHAPES[square] for square in self.squares))

    def sizes(self) -> list[tuple[int, int]]:
        most = tuple(part.scores.shape[1] for part in self.components)
        return sorted({(min(k, most[0]), min(k, most[1])) for k in (*_FEW, max(most))})

    def forms(self, signs: np.ndarray) -> np.ndarray:
        """Return the observed form, then one for each vector of signs."""
        flat = self.sums.reshape(len(self.sums), -1)
        drawn = (signs.astype(np.float32) @ flat).reshape(len(signs), *self.sums.shape[1:])
        return np.concatenate([self.observed[None], drawn])

    def part(self, forms: np.ndarray, size: tuple[int, int]) -> np.ndarray:
        p, q = (width(k, square) for k, square in zip(size, self.squares, strict=True))
        return forms[:, :p, :q]

    def deviation(self, chosen: np.ndarray) -> float:
        """Return the standard deviation under random signs of the inner product of a form with `chosen`."""
        p, q = chosen.shape
        return float(np.linalg.norm(np.einsum("gpq,pq->g", self.sums[:, :p, :q], chosen)))


def form_families(x: SideFeatures, y: SideFeatures, multipliers: Multipliers) -> Iterator[Family]:
    """Pair linear and quadratic features of the components.

    A single column has no directions to learn. Products of rare columns are rarer still, and what few rows
    show of them is chance; products of the levels of one category have nothing to add.
    """
    curved = [np.count_nonzero(_multiplied(side)) > 1 for side in (x, y)]
    n = len(x.linear)
    if x.linear.shape[1] > 1 or y.linear.shape[1] > 1:
        yield _family(x, y, (False, False), (_MOST_LINEAR, _MOST_LINEAR), multipliers)
    if curved[0]:
        yield _family(x, y, (True, False), (_affordable(n, y), _MOST_LINEAR), multipliers)
    if curved[1]:
        yield _family(x, y, (False, True), (_MOST_LINEAR, _affordable(n, x)), multipliers)
    if all(curved):
        most = min(_MOST_BOTH_SQUARE, _affordable(n, y))
        yield _family(x, y, (True, True), (most, most), multipliers)


def _multiplied(side: SideFeatures) -> np.ndarray:
    """Tell of which linear columns products are looked at."""
    return np.zeros(side.linear.shape[1], dtype=bool) if side.one_category else ~side.rare


def _components(side: SideFeatures, most: int, square: bool) -> Components:
    """Return leading components, for products of those columns that may be multiplied."""
    kept = _multiplied(side)
    if not square or kept.all():
        return side.components(most)
    found = leading_components(side.linear[:, kept], most)
    loadings = np.zeros((len(kept), found.loadings.shape[1]))
    loadings[kept] = found.loadings
    inverse = np.zeros((found.inverse.shape[0], len(kept)))
    inverse[:, kept] = found.inverse
    return replace(found, loadings=loadings, inverse=inverse)


def _affordable(n: int, partner: SideFeatures) -> int:
    """Return how many components of one side may have all their products, given the other side."""
    most_products = min(_FORM_SIZE / min(partner.linear.shape[1], _MOST_LINEAR), _CELLS / n)
    return max(1, min(int(np.sqrt(2.0 * most_products)), _MOST_COMPONENTS, n // _ROWS_PER_COMPONENT))


def _family(
    x: SideFeatures,
    y: SideFeatures,
    squares: tuple[bool, bool],
    most: tuple[int, int],
    multipliers: Multipliers,
) -> Family:
    components = (_components(x, most[0], squares[0]), _components(y, most[1], squares[1]))
    if not any(squares) and x.rare.any() and y.rare.any():
        return _rare_family(x, y, components, multipliers)
    left, right = (
        side.fit.remove(products(part.scores) / side.root) if square else part.scores
        for side, part, square in zip((x, y), components, squares, strict=True)
    )
    noise, partner = null_rows(left, right, x.fit, x.allowance * y.allowance)
    return _signed_family(squares, components, left.T @ right, noise, partner, multipliers)


def _rare_family(
    x: SideFeatures, y: SideFeatures, components: tuple[Components, Components], multipliers: Multipliers
) -> Family:
    """Pair components of rare columns: see `variances`. Pairs are counted before columns are mixed."""
    noise, partner = null_rows(x.linear, y.linear, x.fit, x.allowance * y.allowance)
    rows = rows_of_independent(noise, partner, x.fit, multipliers.rows)
    steps = steps_of_pairs(x.linear, y.linear, (x.rare, y.rare), x.fit.design)
    counted = as_normal(x.linear.T @ y.linear, rows.variances_of_sums(), steps)
    first, second = (part.loadings for part in components)
    observed = first.T @ counted @ second
    return _signed_family(
        (False, False), components, observed, rows.left @ first, rows.right @ second, multipliers
    )


def _signed_family(
    squares: tuple[bool, bool],
    components: tuple[Components, Components],
    observed: np.ndarray,
    noise: np.ndarray,
    partner: np.ndarray,
    multipliers: Multipliers,
) -> Family:
    scale = np.sqrt(len(noise))
    sums = multipliers.forms(noise, partner) / scale
    sums = sums.astype(np.float32)  # forms of noise: their last digits are far below their spread
    return Family(squares, components, (observed / scale).astype(np.float32), sums)
