"""The skeleton of a graph: which pairs stay dependent given every set of their neighbours (stable PC)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..errors import TooLargeError
from .queries import Query

__all__ = ["Skeleton", "find_skeleton", "level_queries"]

MAX_QUERIES = 5_000_000  # tests of one level; more would fill the memory and take days


@dataclass(frozen=True, eq=False)
class Skeleton:
    """What the search found."""

    adjacent: np.ndarray  # symmetric, boolean
    pvalues: dict[Query, float]  # of every test that was made
    sepsets: dict[tuple[int, int], tuple[tuple[int, ...], ...]]  # of the level that removed the edge
    depth: int  # size of the largest conditioning sets


def find_skeleton(
    n_nodes: int,
    evaluate: Callable[[Sequence[Query], int], Mapping[Query, float]],
    *,
    alpha: float,
    max_depth: int | None = None,
    barred: np.ndarray | None = None,
    required: np.ndarray | None = None,
) -> Skeleton:
    """Remove edges level by level, with neighbours frozen during a level.

    Level d tests every pair that is left given every d of the neighbours of either node. An edge goes when a
    p-value exceeds `alpha`, but only after the level, so that the order of the nodes does not matter, and
    the tests of a level can be made in any order or all at once.

    Pairs that are `barred` (symmetric, boolean) have no edge from the start; they are tested all the same,
    for what separates them decides the arrows at their common neighbours. Those `required` are tested and
    stay.

    Examples
    --------
    >>> chain = {(0, 1, ()): 0.0, (1, 2, ()): 0.0, (0, 2, ()): 0.0, (0, 2, (1,)): 0.9}
    >>> found = find_skeleton(3, lambda level, _: {q: chain.get(q, 0.0) for q in level}, alpha=0.05)
    >>> found.sepsets, int(found.adjacent.sum()) // 2
    ({(0, 2): ((1,),)}, 2)

    References
    ----------
    Colombo, Maathuis (2014). Order-independent constraint-based causal structure learning. JMLR 15.
    """
    unseparated = ~np.eye(n_nodes, dtype=bool)
    adjacent = unseparated if barred is None else unseparated & ~barred
    stays = np.zeros_like(adjacent) if required is None else required
    pvalues: dict[Query, float] = {}
    sepsets: dict[tuple[int, int], tuple[tuple[int, ...], ...]] = {}
    depth = 0
    while max_depth is None or depth <= max_depth:
        queries = level_queries(adjacent, depth, unseparated)
        if not queries:
            break
        found = evaluate(queries, depth)
        separating: dict[tuple[int, int], list[tuple[int, ...]]] = {}
        for query in queries:
            pvalues[query] = found[query]
            if found[query] > alpha and not stays[query[:2]]:
                separating.setdefault(query[:2], []).append(query[2])
        for (i, j), sets in separating.items():
            unseparated[i, j] = unseparated[j, i] = False
            sepsets[i, j] = tuple(sets)
        adjacent = adjacent & unseparated
        depth += 1
    return Skeleton(adjacent, pvalues, sepsets, max(depth - 1, 0))


def level_queries(adjacent: np.ndarray, depth: int, pairs: np.ndarray | None = None) -> list[Query]:
    """The tests of one level, of adjacent nodes or of `pairs`, with equal conditioning sets together."""
    neighbours = [np.flatnonzero(row).tolist() for row in adjacent]
    partners = neighbours if pairs is None else [np.flatnonzero(row).tolist() for row in pairs]
    count = sum(
        len(to) * math.comb(max(len(near) - 1, 0), depth)
        for to, near in zip(partners, neighbours, strict=True)
    )
    if count > 2 * MAX_QUERIES:
        raise TooLargeError(
            f"conditioning sets of size {depth} would need about {count // 2:,} tests; set max_depth="
            f"{depth - 1}, lower alpha or leave out columns (duplicated ones keep every edge alive)"
        )
    found = {
        (min(x, y), max(x, y), given)
        for x, near in enumerate(neighbours)
        for y in partners[x]
        for given in combinations([node for node in near if node != y], depth)
    }
    return sorted(found, key=lambda query: (query[2], query[0], query[1]))
