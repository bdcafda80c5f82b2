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


def orient(adjacent: np.ndarray, sepsets: Mapping[Pair, tuple[tuple[int, ...], ...]]) -> np.ndarray:
    """Orient unshielded colliders and apply Meek's rules 1 to 3 until nothing changes.

    A triple a - b - c without an edge between a and c is a collider when b is in none of the sets that
    separate a from c. All sets of the level at which the edge was removed count, so that the order of the
    variables does not decide.

    Parameters
    ----------
    adjacent
        Symmetric boolean matrix, the skeleton.
    sepsets
        For each pair (i, j), i < j, without an edge: the sets that separate it.

    Returns
    -------
    ndarray
        Marks at the ends of the edges: ``marks[i, j]`` is -1 (tail) or 1 (arrowhead) at i; 0 without edge.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    >>> orient(chain, {(0, 2): ((),)}).tolist()  # 0 -> 1 <- 2
    [[0, -1, 0], [1, 0, 1], [0, -1, 0]]
    >>> orient(chain, {(0, 2): ((1,),)}).tolist()  # 0 - 1 - 2
    [[0, -1, 0], [-1, 0, -1], [0, -1, 0]]

    References
    ----------
    Spirtes, Glymour, Scheines (2000). Causation, Prediction, and Search. Meek (1995). Causal inference and
    causal explanation with background knowledge. UAI. Colombo, Maathuis (2014). Order-independent
    constraint-based causal structure learning. JMLR 15.
    """
    marks = np.where(np.asarray(adjacent, dtype=bool), TAIL, NO_EDGE)
    np.fill_diagonal(marks, NO_EDGE)
    _orient_colliders(marks, sepsets)
    _meek(marks)
    return marks


def _orient_colliders(marks: np.ndarray, sepsets: Mapping[Pair, tuple[tuple[int, ...], ...]]) -> None:
    for a, b, c in list(_unshielded(marks)):
        if a > c or any(b in separating for separating in sepsets.get((a, c), ())):
            continue
        if not _is_directed(marks, b, a) and not _is_directed(marks, b, c):
            _direct(marks, a, b)
            _direct(marks, c, b)


def _meek(marks: np.ndarray) -> None:
    triples, triangles = list(_unshielded(marks)), list(_triangles(marks))
    kites = list(_kites(marks, triangles))
    changed = True
    while changed:
        changed = False
        for a, b, c in triples:  # a -> b - c: otherwise a new collider
            if _is_directed(marks, a, b):
                changed |= _direct_unless_cycle(marks, b, c)
        for a, b, c in triangles:  # a -> b -> c and a - c: otherwise a cycle
            if _is_directed(marks, a, b) and _is_directed(marks, b, c):
                changed |= _direct_unless_cycle(marks, a, c)
        for a, b, c, d in kites:  # a - b -> d, a - c -> d: otherwise a cycle or a new collider
            if (
                _is_undirected(marks, a, b)
                and _is_undirected(marks, a, c)
                and _is_directed(marks, b, d)
                and _is_directed(marks, c, d)
            ):
                changed |= _direct_unless_cycle(marks, a, d)


def _is_undirected(marks: np.ndarray, a: int, b: int) -> bool:
    return bool(marks[a, b] == TAIL and marks[b, a] == TAIL)


def _is_directed(marks: np.ndarray, a: int, b: int) -> bool:
    return bool(marks[a, b] == TAIL and marks[b, a] == ARROW)


def _direct(marks: np.ndarray, a: int, b: int) -> None:
    marks[a, b], marks[b, a] = TAIL, ARROW


def _direct_unless_cycle(marks: np.ndarray, a: int, b: int) -> bool:
    if not _is_undirected(marks, a, b) or _has_path(marks, b, a):
        return False
    _direct(marks, a, b)
    return True


def _has_path(marks: np.ndarray, start: int, end: int) -> bool:
    """Tell whether a directed path leads from `start` to `end`."""
    seen, waiting = {start}, [start]
    while waiting:
        node = waiting.pop()
        for child in np.flatnonzero((marks[node] == TAIL) & (marks[:, node] == ARROW)).tolist():
            if child == end:
                return True
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return False


def _edges(marks: np.ndarray) -> list[Pair]:
    """Return every edge in both directions: first those with a tail at their second end, by that end."""
    return [
        (int(b), int(a)) for mark in (TAIL, ARROW) for a, b in zip(*np.nonzero(marks == mark), strict=True)
    ]


def _paths_of_two(marks: np.ndarray) -> Iterator[tuple[int, int, int]]:
    edges = _edges(marks)
    onward: dict[int, list[int]] = {}
    for a, b in edges:
        onward.setdefault(a, []).append(b)
    for a, b in edges:
        for c in onward[b]:
            if c != a:
                yield a, b, c


def _unshielded(marks: np.ndarray) -> Iterator[tuple[int, int, int]]:
    return ((a, b, c) for a, b, c in _paths_of_two(marks) if marks[a, c] == NO_EDGE)


def _triangles(marks: np.ndarray) -> Iterator[tuple[int, int, int]]:
    return ((a, b, c) for a, b, c in _paths_of_two(marks) if marks[a, c] != NO_EDGE)


def _kites(marks: np.ndarray, triangles: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int, int]]:
    """Return (a, b, c, d): both b and c are adjacent to a and to d, a to d, but b not to c; b < c."""
    middles: dict[Pair, list[int]] = {}
    for a, b, d in triangles:
        middles.setdefault((a, d), []).append(b)
    for a, b, d in triangles:
        for c in middles[a, d]:
            if b < c and marks[b, c] == NO_EDGE:
                yield a, b, c, d
