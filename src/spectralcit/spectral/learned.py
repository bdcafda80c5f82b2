"""Learned features of sides with several columns: which directions, which shapes, and whether by chance.

Sums of squares over all features drown dependence through one direction of many columns, and splitting the
rows to learn directions gives half of them away. Here directions are learned from all rows, and learned again
under vectors of random signs: under the null hypothesis the signs change nothing, so the search among
noise is as lucky as the search among the data. Directions are sought among leading principal components, in
several numbers of them at once: with few, less noise competes; with many, more directions are seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..null.bootstrap import Multipliers
from ..null.search import smallest_p
from .dictionary import SideFeatures, null_rows
from .ridge_pairs import Components, RidgePair, largest_ridge_pairs, leading_components, products, width

__all__ = ["LearnedEvidence", "learned_evidence"]

_DRAWS = 400  # by hand: sign vectors under which directions are learned again, enough for three moments
_MOST_COMPONENTS = 40  # by hand: of a side that enters by its 820 products of two
_MOST_LINEAR = 20  # by hand: of a side that enters linearly
_MOST_BOTH_SQUARE = 10  # products on both sides: the number of forms grows with the fourth power
_FORM_SIZE = 4200  # products × components, by hand: that of 20 components on either side
_CELLS = 20_000_000  # of a matrix of products of all rows: 160 MB
_ROWS_PER_COMPONENT = 15  # by hand: with fewer rows the last components are noise
_FEW = (4, 10)  # by hand: numbers of components tried beside the largest

_SHAPES = {False: "linear", True: "square"}  # how a result names the two kinds of ridge functions


@dataclass(frozen=True)
class LearnedEvidence:
    """The p-value of the search for directions."""

    pvalue: float  # calibrated for having searched
    table: dict[str, float]  # the smallest p-value of each kind of pair, calibrated likewise
    leading: dict[str, Any]  # the most surprising pair, JSON-safe


@dataclass(frozen=True, eq=False)
class _Family:
    """Forms of one kind of pair: observed first, then one for each vector of signs."""

    squares: tuple[bool, bool]
    components: tuple[Components, Components]
    forms: np.ndarray

    @property
    def name(self) -> str:
        return "learned {} × {}".format(*(_SHAPES[square] for square in self.squares))

    def sizes(self) -> list[tuple[int, int]]:
        most = tuple(part.scores.shape[1] for part in self.components)
        return sorted({(min(k, most[0]), min(k, most[1])) for k in (*_FEW, max(most))})

    def part(self, size: tuple[int, int]) -> np.ndarray:
        p, q = (width(k, square) for k, square in zip(size, self.squares, strict=True))
        return self.forms[:, :p, :q]


@dataclass(frozen=True, eq=False)
class _Found:
    """One statistic of the search under all signs, and the directions of the observed maximum, if any."""

    family: _Family
    values: np.ndarray
    pair: RidgePair | None


def learned_evidence(x: SideFeatures, y: SideFeatures, multipliers: Multipliers) -> LearnedEvidence | None:
    """Search for dependent directions; ``None`` where both sides have a single column."""
    found = [one for family in _families(x, y, multipliers) for one in _statistics(family)]
    if not found:
        return None
    values = np.column_stack([one.values for one in found])
    searched = smallest_p(values[0], values[1:])
    table: dict[str, float] = {}
    for one, p in zip(found, searched.pvalues, strict=True):
        table[one.family.name] = min(float(p), table.get(one.family.name, 1.0))
    ridges = [k for k, one in enumerate(found) if one.pair is not None]
    best = min(ridges, key=lambda k: searched.pvalues[k])
    leading = _described(found[best], (x, y), float(searched.pvalues[best]))
    return LearnedEvidence(searched.pvalue, table, leading)


def _families(x: SideFeatures, y: SideFeatures, multipliers: Multipliers) -> Iterator[_Family]:
    """Pair linear and quadratic features of the components; a single column has no directions to learn."""
    several = tuple(side.linear.shape[1] > 1 for side in (x, y))
    n = len(x.linear)
    if several[0] or several[1]:
        yield _family(x, y, (False, False), (_MOST_LINEAR, _MOST_LINEAR), multipliers)
    if several[0]:
        yield _family(x, y, (True, False), (_affordable(n, y), _MOST_LINEAR), multipliers)
    if several[1]:
        yield _family(x, y, (False, True), (_MOST_LINEAR, _affordable(n, x)), multipliers)
    if several[0] and several[1]:
        most = min(_MOST_BOTH_SQUARE, _affordable(n, y))
        yield _family(x, y, (True, True), (most, most), multipliers)


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
) -> _Family:
    components = (leading_components(x.linear, most[0]), leading_components(y.linear, most[1]))
    left, right = (
        side.fit.remove(products(part.scores)) if square else part.scores
        for side, part, square in zip((x, y), components, squares, strict=True)
    )
    noise, partner = null_rows(left, right, x.fit, x.allowance * y.allowance)
    sums = np.stack([noise[rows].T @ partner[rows] for rows in multipliers.groups]).astype(np.float32)
    signs = multipliers.signs[:_DRAWS].astype(np.float32)
    drawn = (signs @ sums.reshape(len(sums), -1)).reshape(len(signs), *sums.shape[1:])
    observed = (left.T @ right).astype(np.float32)  # as the draws: its last digits are far below their spread
    return _Family(
        squares, components, np.concatenate([observed[None], drawn]) / np.sqrt(np.float32(len(left)))
    )


def _statistics(family: _Family) -> Iterator[_Found]:
    """Norms of the forms, from everything to one pair of directions, at several numbers of components."""
    for size in family.sizes():
        forms = family.part(size)
        pair = largest_ridge_pairs(forms, family.squares)
        yield _Found(family, pair.sizes, pair)
        if any(family.squares):
            yield _Found(family, np.sqrt(np.einsum("mpq,mpq->m", forms, forms)), None)
            if min(forms.shape[1:]) > 1:
                yield _Found(family, _largest_singular_values(forms), None)
    for axis, (part, square) in enumerate(zip(family.components, family.squares, strict=True)):
        k, p = part.inverse.shape
        if not square and 1 < k == p:
            yield _Found(family, _largest_column(family.forms, part.inverse, axis), None)


def _largest_column(forms: np.ndarray, inverse: np.ndarray, axis: int) -> np.ndarray:
    """Return the largest norm of one side's single columns against all features of the other side."""
    by_column = np.swapaxes(forms, 1, 2) if axis == 0 else forms
    unit = (inverse / np.sqrt(np.square(inverse).sum(axis=0))).astype(np.float32)
    return np.sqrt(np.square(by_column @ unit).sum(axis=1).max(axis=1))


def _largest_singular_values(forms: np.ndarray) -> np.ndarray:
    small = forms if forms.shape[1] <= forms.shape[2] else forms.transpose(0, 2, 1)
    gram = small @ small.transpose(0, 2, 1)
    return np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[:, -1], 0.0))


def _described(found: _Found, sides: tuple[SideFeatures, SideFeatures], pvalue: float) -> dict[str, Any]:
    """Say which columns and which shapes the most surprising pair has."""
    assert found.pair is not None
    described: dict[str, Any] = {"pvalue": pvalue}
    for label, side, part, direction, square in zip(
        "xy",
        sides,
        found.family.components,
        (found.pair.left[0], found.pair.right[0]),
        found.family.squares,
        strict=True,
    ):
        loadings = part.loadings[:, : len(direction)] @ direction
        shares = np.square(loadings) * np.square(side.linear).mean(axis=0)
        shares = shares / max(float(shares.sum()), 1e-300)
        top = np.argsort(-shares)[:3]
        described[label] = {
            "shape": _SHAPES[square],
            "components": len(direction),
            "columns": {side.names[j].removesuffix(": linear"): round(float(shares[j]), 4) for j in top},
        }
    return described
