"""A found graph drawn as SVG: boxes in layers, lines as wide as the evidence, p-values on hover."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from .layers import BOX, Layout, Point, layered

if TYPE_CHECKING:
    from .graph import DiscoveredGraph, FoundEdge

__all__ = ["CAPTIONS", "MAX_DRAWN", "drawing", "isolated", "line_width", "words"]

MAX_DRAWN = 150  # edges, by eye: more lines are a carpet, and the table has them all
_LETTERS = 22  # of a name in a box; the whole name shows on hover
_PER_LINE, _WIDEST = 10.0, 160.0  # a box has room for the lines that end at it, within reason
_EDGE = 6.0  # around everything, for strokes
_LEAST, _MOST = 1.2, 5.0  # width of a line
_FULL = 10.0  # -log10 of the p-value from which on a line has its full width: smaller ones mean the same
_HEAD = 9.0  # length of an arrowhead

#: What the kinds of `FoundEdge` say.
CAPTIONS = {"->": "arrow to", "--": "joined to, direction unknown", "<->": "arrowheads at both ends"}


def isolated(found: DiscoveredGraph) -> list[str]:
    """Names of the nodes without an edge."""
    joined = {name for edge in found.edges for name in (edge.source, edge.target)}
    return [name for name in found.names if name not in joined]


def words(edge: FoundEdge) -> str:
    """An edge as a sentence, for the pointer."""
    given = ", direction given" if edge.given else ""
    tests = "1 test" if edge.n_tests == 1 else f"{edge.n_tests} tests"
    link = {"->": "arrow to", "--": "joined to", "<->": "arrowheads at both ends with"}[edge.kind]
    return f"{edge.source}: {link} {edge.target}; largest p = {edge.pvalue:.2g} in {tests}{given}"


def line_width(pvalue: float) -> float:
    """Width of a line: it grows with the logarithm of the p-value, up to a limit."""
    strength = min(-math.log10(max(pvalue, 1e-300)), _FULL) / _FULL
    return _LEAST + (_MOST - _LEAST) * max(strength, 0.0)


def drawing(found: DiscoveredGraph, room: float) -> str:
    """Edges, the strongest when there are many, and the nodes they join, in about `room` pixels."""
    edges = sorted(found.edges, key=lambda edge: edge.pvalue)[:MAX_DRAWN]
    joined = {name for edge in edges for name in (edge.source, edge.target)}
    names = [name for name in found.names if name in joined]
    number = {name: k for k, name in enumerate(names)}
    ends = [(number[edge.source], number[edge.target]) for edge in edges]
    degree = Counter(node for pair in ends for node in pair)
    widths = [
        max(_text_width(_short(name)) + 18.0, min(_PER_LINE * degree[k] + 8.0, _WIDEST))
        for k, name in enumerate(names)
    ]
    layout = layered(ends, [edge.kind == "->" for edge in edges], widths, room)
    ports = _ports(layout, ends, widths)
    lines = "".join(
        _edge(edge, route, layout.places[source][1] <= layout.places[target][1])
        for edge, route, (source, target) in zip(edges, ports, ends, strict=True)
    )
    boxes = "".join(
        _node(name, place, width) for name, place, width in zip(names, layout.places, widths, strict=True)
    )
    width, height = layout.width + 2 * _EDGE, layout.height + 2 * _EDGE
    # A shrunken drawing stays legible: below three quarters of its size it scrolls instead.
    style = f"width: min(100%, {width:.0f}px); min-width: {0.75 * width:.0f}px"
    return (
        f'<svg viewBox="{-_EDGE:g} {-_EDGE:g} {width:.0f} {height:.0f}" style="{style}" role="img" '
        f'aria-label="{escape(_described(found), quote=True)}">{lines}{boxes}</svg>'
    )


def _described(found: DiscoveredGraph) -> str:
    arrows = sum(edge.kind == "->" for edge in found.edges)
    return (
        f"Graph of {len(found.names)} nodes with {len(found.edges)} edges, {arrows} of them arrows; the "
        "table of edges says the same in words."
    )


def _ports(layout: Layout, ends: list[tuple[int, int]], widths: list[float]) -> list[list[Point]]:
    """The routes with their ends on the rims of the boxes, side by side where several lines meet."""
    routes = [route[:] for route in layout.routes]
    meeting: dict[tuple[Point, int], list[tuple[float, int]]] = {}
    for k, route in enumerate(routes):
        meeting.setdefault((route[0], 0), []).append((route[1][0], k))
        meeting.setdefault((route[-1], -1), []).append((route[-2][0], k))
    width_at = {place: widths[node] for node, place in enumerate(layout.places)}
    for (place, end), lines in meeting.items():
        space = min(14.0, (width_at[place] - 16.0) / max(len(lines) - 1, 1))
        for position, (_, k) in enumerate(sorted(lines)):
            x = place[0] + (position - (len(lines) - 1) / 2) * space
            routes[k][end] = (x, place[1] + (BOX / 2 if end == 0 else -BOX / 2))
    return routes


def _edge(edge: FoundEdge, route: list[Point], downwards: bool) -> str:
    """A line from the upper to the lower box; its heads are drawn in the direction of the arrow."""
    at_bottom = edge.kind == "<->" or (edge.kind == "->" and downwards)
    at_top = edge.kind == "<->" or (edge.kind == "->" and not downwards)
    width = line_width(edge.pvalue)
    points = route[:]
    if at_top:
        points[0] = (points[0][0], points[0][1] + _HEAD - 1)
    if at_bottom:
        points[-1] = (points[-1][0], points[-1][1] - _HEAD + 1)
    path = _curve(points)
    heads = (_head(route[0], width, 1.0) if at_top else "") + (
        _head(route[-1], width, -1.0) if at_bottom else ""
    )
    kind = "edge unknown" if edge.kind == "--" else "edge"
    return (
        f'<g class="{kind}"><title>{escape(words(edge))}</title><path class="reach" d="{path}"/>'
        f'<path class="line" d="{path}" stroke-width="{width:.1f}"/>{heads}</g>'
    )


def _curve(points: list[Point]) -> str:
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x1, y1), (x2, y2) in pairwise(points):
        middle = (y1 + y2) / 2
        path += f"C{x1:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {y2:.1f}"
    return path


def _head(tip: Point, width: float, direction: float) -> str:
    """A triangle with its tip on the rim of a box; `direction` is where its base lies, down or up."""
    x, y = tip
    half = 3.2 + width * 0.7
    base = y + direction * _HEAD
    return f'<path class="head" d="M{x:.1f} {y:.1f}L{x - half:.1f} {base:.1f}L{x + half:.1f} {base:.1f}z"/>'


def _node(name: str, place: Point, width: float) -> str:
    x, y = place
    return (
        f'<g class="node"><title>{escape(name)}</title>'
        f'<rect x="{x - width / 2:.1f}" y="{y - BOX / 2:.1f}" width="{width:.1f}" height="{BOX:g}" rx="6"/>'
        f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle">{escape(_short(name))}</text></g>'
    )


def _short(name: str) -> str:
    return name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…"


def _text_width(text: str) -> float:
    """About the width of text of 13 pixels, on the wide side: fonts differ."""
    full = sum(unicodedata.east_asian_width(letter) in "WF" or letter in "MWmw@%" for letter in text)
    capital = sum(letter.isupper() for letter in text)
    return 7.0 * len(text) + 2.0 * capital + 6.0 * full
