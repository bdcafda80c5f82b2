"""Learned features of sides with several columns: which directions, which shapes, and whether by chance.

Sums of squares over all features drown dependence through one direction of many columns, and splitting the
rows to learn directions gives half of them away. Here directions are learned from all rows, and learned again
under vectors of random signs: under the null hypothesis the signs change nothing, so the search among
noise is as lucky as the search among the data. Directions are sought among leading principal components, in
several numbers of them at once: with few, less noise competes; with many, more directions are seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..null.bootstrap import Multipliers
from ..null.search import Search, smallest_p
from .learned_forms import SHAPES, Family, form_families
from .ridge_pairs import RidgePair, largest_ridge_pairs
from .side_features import SideFeatures

__all__ = [
    "Direction",
    "LearnedEvidence",
    "LearnedPair",
    "LearnedSearch",
    "learned_evidence",
    "learned_search",
]

_POWER_STEPS = 8  # by hand: what depends clearly is found in fewer, and noise is searched in the same way


@dataclass(frozen=True, eq=False)
class Direction:
    """One function of a learned pair: a weighted sum of a side's linear features, or its square."""

    shape: str  # "linear" or "square"
    weights: np.ndarray  # of the side's linear features, shape (p,)
    components: int  # among how many leading components it was sought

    def values(self, side: SideFeatures) -> np.ndarray:
        """Return the function in all rows, with Z removed."""
        along = side.linear @ self.weights
        return side.fit.remove(np.square(along)[:, None])[:, 0] if self.shape == "square" else along

    def described(self, side: SideFeatures) -> dict[str, Any]:
        """Return the shape and the three columns that carry most of the direction, with their shares."""
        shares = np.square(self.weights) * np.square(side.linear).mean(axis=0)
        shares = shares / max(float(shares.sum()), 1e-300)
        top = np.argsort(-shares)[:3]
        return {
            "shape": self.shape,
            "components": self.components,
            "columns": {side.names[j].removesuffix(": linear"): round(float(shares[j]), 4) for j in top},
        }


@dataclass(frozen=True, eq=False)
class LearnedPair:
    """The most surprising pair of functions along learned directions."""

    pvalue: float  # calibrated for having searched
    x: Direction
    y: Direction

    def mirrored(self) -> LearnedPair:
        """Return the pair with X and Y exchanged."""
        return LearnedPair(self.pvalue, self.y, self.x)

    def described(self, x: SideFeatures, y: SideFeatures) -> dict[str, Any]:
        """Return what a result tells of the pair, JSON-safe."""
        return {"pvalue": self.pvalue, "x": self.x.described(x), "y": self.y.described(y)}


@dataclass(frozen=True, eq=False)
class LearnedEvidence:
    """The search for directions."""

    search: Search
    table: dict[str, float]  # the smallest p-value of each kind of pair, calibrated for having searched
    pair: LearnedPair


@dataclass(frozen=True, eq=False)
class _Found:
    """One statistic of the search under all signs, and what the observed one is."""

    family: Family
    values: np.ndarray
    chosen: np.ndarray  # the observed value is the inner product of the form with this unit matrix
    pair: RidgePair | None = None  # the directions of the observed maximum, if any

    def learned(self, pvalue: float) -> LearnedPair:
        """Return the pair in terms of the sides' linear features."""
        assert self.pair is not None
        x, y = (
            Direction(SHAPES[square], part.loadings[:, : len(direction)] @ direction, len(direction))
            for part, direction, square in zip(
                self.family.components,
                (self.pair.left[0], self.pair.right[0]),
                self.family.squares,
                strict=True,
            )
        )
        return LearnedPair(pvalue, x, y)


@dataclass(frozen=True, eq=False)
class LearnedSearch:
    """All statistics of the search under the signs drawn so far."""

    found: list[_Found]

    def further(self, signs: np.ndarray) -> LearnedSearch:
        """Return the search under these signs besides the earlier ones; what was observed stays as it is."""
        again = _searched(dict.fromkeys(one.family for one in self.found), signs)
        return LearnedSearch(
            [
                replace(one, values=np.concatenate([one.values, more.values[1:]]))
                for one, more in zip(self.found, again, strict=True)
            ]
        )

    def evidence(self) -> LearnedEvidence:
        """Return the most surprising statistic and what it is worth."""
        return _evidence(self.found)


def learned_search(x: SideFeatures, y: SideFeatures, multipliers: Multipliers) -> LearnedSearch | None:
    """Search for dependent directions; ``None`` where both sides have a single column."""
    found = _searched(form_families(x, y, multipliers), multipliers.signs)
    return LearnedSearch(found) if found else None


def learned_evidence(x: SideFeatures, y: SideFeatures, multipliers: Multipliers) -> LearnedEvidence | None:
    """Search for dependent directions, under one set of signs."""
    search = learned_search(x, y, multipliers)
    return None if search is None else search.evidence()


def _searched(families: Iterable[Family], signs: np.ndarray) -> list[_Found]:
    return [one for family in families for one in _statistics(family, family.forms(signs))]


def _evidence(found: list[_Found]) -> LearnedEvidence:
    values = np.column_stack([one.values for one in found]).astype(float)
    deviations = np.array([one.family.deviation(one.chosen) for one in found])
    search = smallest_p(values[0], values[1:], deviations)
    table: dict[str, float] = {}
    for one, p in zip(found, search.pvalues, strict=True):
        table[one.family.name] = min(float(p), table.get(one.family.name, 1.0))
    ridges = [k for k, one in enumerate(found) if one.pair is not None]
    best = min(ridges, key=lambda k: search.pvalues[k])
    return LearnedEvidence(search, table, found[best].learned(float(search.pvalues[best])))


def _statistics(family: Family, all_forms: np.ndarray) -> Iterator[_Found]:
    """Norms of the forms, from everything to one pair of directions, at several numbers of components."""
    for size in family.sizes():
        forms = family.part(all_forms, size)
        pair = largest_ridge_pairs(forms, family.squares)
        yield _Found(family, pair.sizes, pair.functional(family.squares), pair)
        if any(family.squares):
            norms = np.sqrt(np.einsum("mpq,mpq->m", forms, forms))
            yield _Found(family, norms, forms[0] / max(float(norms[0]), 1e-30))
            if min(forms.shape[1:]) > 1:
                yield _Found(family, *_largest_singular_values(forms))
    for axis, (part, square) in enumerate(zip(family.components, family.squares, strict=True)):
        k, p = part.inverse.shape
        if not square and 1 < k == p:
            yield _Found(family, *_largest_column(all_forms, part.inverse, axis))


def _largest_column(forms: np.ndarray, inverse: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest norm of one side's single columns against all features of the other side."""
    by_column = np.swapaxes(forms, 1, 2) if axis == 0 else forms
    unit = (inverse / np.sqrt(np.square(inverse).sum(axis=0))).astype(np.float32)
    norms = np.sqrt(np.square(by_column @ unit).sum(axis=1))
    best = int(norms[0].argmax())
    chosen = np.outer(by_column[0] @ unit[:, best] / max(float(norms[0, best]), 1e-30), unit[:, best])
    return norms.max(axis=1), chosen.T if axis == 0 else chosen


def _largest_singular_values(forms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return about the largest singular value of each form, by the power method, and the first one's pair."""
    small = forms if forms.shape[1] <= forms.shape[2] else forms.transpose(0, 2, 1)
    gram = small @ small.transpose(0, 2, 1)
    # The most variable column to begin with: the same rule for every form, so the search stays a fair one.
    vectors = np.take_along_axis(gram, np.einsum("mii->mi", gram).argmax(axis=1)[:, None, None], axis=2)
    for _ in range(_POWER_STEPS):
        vectors = gram @ (vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30))
    left, _, right = np.linalg.svd(forms[0], full_matrices=False)
    return np.sqrt(np.linalg.norm(vectors[:, :, 0], axis=1)), np.outer(left[:, 0], right[0])
