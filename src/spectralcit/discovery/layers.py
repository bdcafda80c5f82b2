"""Places for a drawing in layers: arrows run down, lines cross rarely, and long ones go around the boxes.

The four steps are those of Sugiyama, Tagawa and Toda (1981): an order without cycles, layers, the order
within layers by the means of neighbours, and horizontal places, here by isotonic regression on these means.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.isotonic import isotonic_regression

__all__ = ["BOX", "Layout", "layered"]

Point = tuple[float, float]
Link = tuple[int, int]

# In pixels, by eye.
BOX = 28.0  # height of a box
_STEP = 84.0  # from layer to layer: room for curves and arrowheads
_GAP = 18.0  # between boxes side by side
_LANE = 12.0  # width of the lane in which a long line passes a layer
_APART = 40.0  # between parts of the graph that nothing joins
_SWEEPS = 12  # down and up; by then orders and places hardly change
_STRAIGHT = 8.0  # how much more a bend within a long line counts than a slant at its ends


@dataclass(frozen=True)
class Layout:
    """Centres of the boxes, the points that each line passes, and the size of it all."""

    places: list[Point]
    routes: list[list[Point]]  # one per edge, from its upper end to its lower end
    width: float
    height: float


def layered(edges: Sequence[Link], directed: Sequence[bool], widths: Sequence[float], room: float) -> Layout:
    """Lay out nodes of these widths; `edges` run from their first node to their second where `directed`.

    `room` is the width that boxes of one layer may fill; lines may need more.
    """
    places: list[Point] = [(0.0, 0.0)] * len(widths)
    routes: list[list[Point]] = [[] for _ in edges]
    x = y = shelf = width = 0.0
    for members in _parts(len(widths), edges):
        own = [k for k, (a, _) in enumerate(edges) if a in members]
        part = _one_part(members, [edges[k] for k in own], [directed[k] for k in own], widths, room)
        if x > 0 and x + part.width > room:
            x, y, shelf = 0.0, y + shelf + _APART, 0.0
        for node, (left, top) in zip(members, part.places, strict=True):
            places[node] = (x + left, y + top)
        for k, route in zip(own, part.routes, strict=True):
            routes[k] = [(x + left, y + top) for left, top in route]
        width, shelf = max(width, x + part.width), max(shelf, part.height)
        x += part.width + _APART
    return Layout(places, routes, width, y + shelf)


def _parts(n: int, edges: Sequence[Link]) -> list[list[int]]:
    """Nodes that hang together, the largest part first."""
    part = list(range(n))

    def root(node: int) -> int:
        while part[node] != node:
            node = part[node]
        return node

    for a, b in edges:
        part[max(root(a), root(b))] = min(root(a), root(b))
    found: dict[int, list[int]] = {}
    for node in range(n):
        found.setdefault(root(node), []).append(node)
    return sorted(found.values(), key=lambda members: (-len(members), members[0]))


def _one_part(
    members: list[int], edges: list[Link], directed: list[bool], widths: Sequence[float], room: float
) -> Layout:
    number = {node: k for k, node in enumerate(members)}
    links = [(number[a], number[b]) for a, b in edges]
    sizes = [widths[node] + _GAP for node in members]
    order = _order(len(members), [link for link, one in zip(links, directed, strict=True) if one])
    turned = [(a, b) if order[a] < order[b] else (b, a) for a, b in links]
    layer = _layers(order, turned, sizes, room)
    # Lanes: a node of its own wherever a long line passes a layer.
    chains: list[list[int]] = []
    for a, b in turned:
        lanes = list(range(len(layer), len(layer) + layer[b] - layer[a] - 1))
        layer += range(layer[a] + 1, layer[b])
        sizes += [_LANE] * len(lanes)
        chains.append([a, *lanes, b])
    steps = [pair for chain in chains for pair in pairwise(chain)]
    rows = _arranged(layer, steps)
    x = _spread(rows, steps, sizes, len(members), room)
    left = min(x[k] - sizes[k] / 2 for k in range(len(x)))
    right = max(x[k] + sizes[k] / 2 for k in range(len(x)))
    points = [(x[k] - left, BOX / 2 + _STEP * layer[k]) for k in range(len(x))]
    height = BOX + _STEP * max(layer)
    routes = [[points[k] for k in chain] for chain in chains]
    return Layout(points[: len(members)], routes, right - left, height)


def _order(n: int, arrows: Sequence[Link]) -> list[int]:
    """The place of each node in an order that all arrows follow, but for those of a cycle."""
    into: list[set[int]] = [set() for _ in range(n)]
    for a, b in arrows:
        into[b].add(a)
    place = [0] * n
    left = set(range(n))
    for position in range(n):
        node = min(left, key=lambda k: (len(into[k] & left), k))
        left.remove(node)
        place[node] = position
    return place


def _layers(order: list[int], links: Sequence[Link], sizes: Sequence[float], room: float) -> list[int]:
    """The layer of each node: below all that come before it, and not too many side by side."""
    n = len(order)
    above: list[list[int]] = [[] for _ in range(n)]
    below: list[list[int]] = [[] for _ in range(n)]
    for a, b in links:
        above[b].append(a)
        below[a].append(b)
    filled: dict[int, float] = {}
    layer = [0] * n
    sequence = sorted(range(n), key=lambda node: order[node])

    def fits(node: int, at: int) -> bool:
        return at not in filled or filled[at] + sizes[node] <= room

    for node in sequence:
        at = max((layer[a] + 1 for a in above[node]), default=0)
        while not fits(node, at):
            at += 1
        layer[node] = at
        filled[at] = filled.get(at, 0.0) + sizes[node]
    for node in reversed(sequence):  # what has nothing above it goes down to what is below it
        if below[node] and len(above[node]) < len(below[node]):
            for at in range(min(layer[b] for b in below[node]) - 1, layer[node], -1):
                if fits(node, at):
                    filled[layer[node]] -= sizes[node]
                    filled[at] = filled.get(at, 0.0) + sizes[node]
                    layer[node] = at
                    break
    used = sorted(set(layer))
    return [used.index(at) for at in layer]


def _arranged(layer: Sequence[int], steps: Sequence[Link]) -> list[list[int]]:
    """The nodes of each layer from left to right, so that few lines cross."""
    rows: list[list[int]] = [[] for _ in range(max(layer) + 1)]
    for node, at in enumerate(layer):
        rows[at].append(node)
    up: list[list[int]] = [[] for _ in layer]
    down: list[list[int]] = [[] for _ in layer]
    for a, b in steps:
        down[a].append(b)
        up[b].append(a)
    place = {node: k for row in rows for k, node in enumerate(row)}
    best, fewest = [row[:] for row in rows], _crossings(place, steps, layer)
    for sweep in range(2 * _SWEEPS):
        near, sequence = (up, rows[1:]) if sweep % 2 == 0 else (down, rows[-2::-1])
        for row in sequence:
            # Equals change sides every other time, which frees what is stuck.
            tie = -1 if sweep % 4 >= 2 else 1
            middle = {
                node: sum(place[k] for k in near[node]) / len(near[node]) if near[node] else place[node]
                for node in row
            }
            row.sort(key=lambda node: (middle[node], tie * place[node]))
            place.update((node, k) for k, node in enumerate(row))
        count = _crossings(place, steps, layer)
        if count < fewest:
            best, fewest = [row[:] for row in rows], count
        if fewest == 0:
            break
    return best


def _crossings(place: Mapping[int, int], steps: Sequence[Link], layer: Sequence[int]) -> int:
    by_layer: dict[int, list[Link]] = {}
    for a, b in steps:
        by_layer.setdefault(layer[a], []).append((place[a], place[b]))
    count = 0
    for ends in by_layer.values():
        seen: list[int] = []
        for _, end in sorted(ends):
            count += len(seen) - bisect.bisect_right(seen, end)
            bisect.insort(seen, end)
    return count


def _spread(
    rows: Sequence[Sequence[int]], steps: Sequence[Link], sizes: Sequence[float], n_boxes: int, room: float
) -> list[float]:
    """Horizontal places: near the mean of the neighbours, in the order of the row, without overlap.

    Nothing leaves `room`, or the width of the fullest row where that is more.
    """
    near: list[list[tuple[int, float, int]]] = [[] for _ in sizes]
    at = {node: k for k, row in enumerate(rows) for node in row}
    for a, b in steps:
        weight = _STRAIGHT if a >= n_boxes and b >= n_boxes else 1.0
        near[a].append((b, weight, at[b]))
        near[b].append((a, weight, at[a]))
    offsets = [_offsets([sizes[node] for node in row]) for row in rows]
    filled = [sum(sizes[node] for node in row) for row in rows]
    frame = max(room, *filled)
    x = [0.0] * len(sizes)
    for row, offset, width in zip(rows, offsets, filled, strict=True):
        for node, place in zip(row, offset + (frame - width) / 2, strict=True):
            x[node] = float(place)
    down, up = range(len(rows)), range(len(rows) - 1, -1, -1)
    for sweep in range(2 * _SWEEPS + 1):
        last = sweep == 2 * _SWEEPS
        for k in down if sweep % 2 == 0 else up:
            wanted, weights = [], []
            for node in rows[k]:
                before = k - 1 if sweep % 2 == 0 else k + 1
                chosen = [(x[b], w) for b, w, where in near[node] if last or where == before]
                total = sum(w for _, w in chosen)
                wanted.append(sum(w * place for place, w in chosen) / total if chosen else x[node])
                weights.append(total or 0.1)
            shift = isotonic_regression(
                np.array(wanted) - offsets[k],
                sample_weight=np.array(weights),
                y_min=0.0,
                y_max=frame - filled[k],
            )
            for node, place in zip(rows[k], shift + offsets[k], strict=True):
                x[node] = float(place)
    return x


def _offsets(sizes: Sequence[float]) -> np.ndarray:
    """Places of boxes of these sizes set side by side without a gap."""
    ends = np.cumsum(sizes)
    return ends - np.array(sizes) / 2
