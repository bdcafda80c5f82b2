"""From a skeleton and its separating sets to a partly directed graph: colliders, then Meek's rules.

The order in which triples are visited, which matters only where the data contradict each other, is that of
causal-learn's ``pc`` with its default ``uc_rule=0, uc_priority=2``: colliders that were oriented first stay,
and no rule closes a directed cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

__all__ = ["ARROW", "NO_EDGE", "TAIL", "orient"]

# The codes of causal-learn's GeneralGraph: marks[i, j] is the mark at i of the edge between i and j.
NO_EDGE, TAIL, ARROW = 0, -1, 1

Pair = tuple[int, int]


def orient(
    adjacent: np.ndarray,
    sepsets: Mapping[Pair, tuple[tuple[int, ...], ...]],
    directed: np.ndarray | None = None,
) -> np.ndarray:
    """Orient unshielded colliders and apply Meek's rules 1 to 3 until nothing changes.

    A triple a - b - c without an edge between a and c is a collider when b is in none of the sets that
    separate a from c. All sets of the level at which the edge was removed count, so that the order of the
    variables does not decide. Nodes without an edge that nothing separates, as knowledge may have it, say
    nothing about their neighbours. Where ``directed[i, j]``, an edge between i and j is known to point to j.

    Returned are the marks at the ends of the edges: ``marks[i, j]`` is -1 (tail) or 1 (arrowhead) at i, and
    0 without an edge.

    References
    ----------
    Spirtes, Glymour, Scheines (2000). Causation, Prediction, and Search. Meek (1995). Causal inference and
    causal explanation with background knowledge. UAI. Colombo, Maathuis (2014). Order-independent
    constraint-based causal structure learning. JMLR 15.
    """
    marks = np.where(np.asarray(adjacent, dtype=bool), TAIL, NO_EDGE)
    np.fill_diagonal(marks, NO_EDGE)
    if directed is not None:
        marks[(directed & (marks != NO_EDGE)).T] = ARROW
    apart = np.zeros(marks.shape, dtype=bool)
    for pair in sepsets:
        apart[pair] = apart[pair[::-1]] = True
    _orient_colliders(marks, apart, sepsets)
    _meek(marks, apart)
    return marks


def _orient_colliders(
    marks: np.ndarray, apart: np.ndarray, sepsets: Mapping[Pair, tuple[tuple[int, ...], ...]]
) -> None:
    for a, b, onward in _walks(marks):
        for c in onward[(onward > a) & apart[a, onward]].tolist():
            if any(b in separating for separating in sepsets[a, c]):
                continue
            if not _is_directed(marks, b, a) and not _is_directed(marks, b, c):
                _direct(marks, a, b)
                _direct(marks, c, b)


def _meek(marks: np.ndarray, apart: np.ndarray) -> None:
    walks, paths = list(_walks(marks)), _Paths(marks)
    changed = bool((marks == ARROW).any())  # without any arrow no rule applies
    while changed:
        changed = False
        for a, b, onward in walks:  # a -> b - c, a and c apart: otherwise a new collider
            if _is_directed(marks, a, b):
                undirected = (marks[b, onward] == TAIL) & (marks[onward, b] == TAIL)
                for c in onward[apart[a, onward] & undirected].tolist():
                    changed |= paths.direct_unless_cycle(b, c)
        for a, b, onward in walks:  # a -> b -> c and a - c: otherwise a cycle
            if _is_directed(marks, a, b):
                for c in onward[(marks[onward, b] == ARROW) & (marks[b, onward] == TAIL)].tolist():
                    changed |= paths.direct_unless_cycle(a, c)
        for a, b, onward in walks:  # a - b -> d <- c - a, b and c apart: otherwise a cycle or a new collider
            if _is_undirected(marks, a, b):
                for d in onward[(marks[onward, b] == ARROW) & (marks[b, onward] == TAIL)].tolist():
                    if _is_undirected(marks, a, d) and _has_partner(marks, apart, a, b, d):
                        changed |= paths.direct_unless_cycle(a, d)


def _has_partner(marks: np.ndarray, apart: np.ndarray, a: int, b: int, d: int) -> bool:
    """Tell whether some c has a - c -> d and is apart from b."""
    undirected = (marks[a] == TAIL) & (marks[:, a] == TAIL)
    into_d = (marks[d] == ARROW) & (marks[:, d] == TAIL)
    return bool((undirected & into_d & apart[b]).any())


def _is_undirected(marks: np.ndarray, a: int, b: int) -> bool:
    return bool(marks[a, b] == TAIL and marks[b, a] == TAIL)


def _is_directed(marks: np.ndarray, a: int, b: int) -> bool:
    return bool(marks[a, b] == TAIL and marks[b, a] == ARROW)


def _direct(marks: np.ndarray, a: int, b: int) -> None:
    marks[a, b], marks[b, a] = TAIL, ARROW


class _Paths:
    """Which node leads to which along directed edges, kept up to date as edges are directed."""

    def __init__(self, marks: np.ndarray) -> None:
        self._marks = marks
        self._leads = np.zeros(marks.shape, dtype=bool)
        for a, b in zip(*np.nonzero((marks == TAIL) & (marks.T == ARROW)), strict=True):
            self._add(a, b)

    def _add(self, a: int, b: int) -> None:
        before, after = self._leads[:, a].copy(), self._leads[b].copy()
        before[a] = after[b] = True
        self._leads[np.ix_(before, after)] = True

    def direct_unless_cycle(self, a: int, b: int) -> bool:
        """Turn a - b into a -> b and return true, unless the edge is directed or b leads to a."""
        if not _is_undirected(self._marks, a, b) or self._leads[b, a]:
            return False
        _direct(self._marks, a, b)
        self._add(a, b)
        return True


def _edges(marks: np.ndarray) -> list[Pair]:
    """Return every edge in both directions: first those with a tail at their second end, by that end."""
    return [
        (int(b), int(a)) for mark in (TAIL, ARROW) for a, b in zip(*np.nonzero(marks == mark), strict=True)
    ]


def _walks(marks: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield each edge (a, b), in both directions, with the nodes that b leads on to."""
    edges = _edges(marks)
    onward: dict[int, list[int]] = {}
    for a, b in edges:
        onward.setdefault(a, []).append(b)
    arrays = {node: np.array(nodes) for node, nodes in onward.items()}
    return ((a, b, arrays[b]) for a, b in edges)
