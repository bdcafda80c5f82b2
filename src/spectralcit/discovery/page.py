"""A found graph as one self-contained HTML page: a drawing, its edges, and what separates the rest."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .graph import DiscoveredGraph, FoundEdge

__all__ = ["graph_page", "graph_svg"]

_MAX_LABELS = 60  # more labels than this would hide the edges; the table has them all
_MAX_ROWS = 2000  # of a table, by hand: the page of a large graph is to stay a page
# Sizes of the drawing in its own units, chosen by eye.
_NODE = 7.0
_GAP = 12.0  # between the centre of a node and the tip of an arrow
_SIDE, _TOP = 150.0, 45.0  # room for names

_STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --page: #fff; --line: #4a5a6a; --quiet: #68737d;
  --node: #0b62a4; --rule: #d5dbe1; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ec; --page: #14181c; --line: #9fb0c0;
  --quiet: #98a3ad; --node: #6cb6f5; --rule: #343c44; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; height: auto; max-height: 46rem; }
svg text { font: 13px system-ui, sans-serif; fill: var(--text); }
svg text.p { font-size: 10px; fill: var(--quiet); paint-order: stroke; stroke: var(--page);
  stroke-width: 3px; }
svg line { stroke: var(--line); stroke-width: 1.5; }
svg circle { fill: var(--node); }
svg marker path { fill: var(--line); }
table { border-collapse: collapse; width: 100%; margin: 0 0 2rem; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--rule);
  overflow-wrap: anywhere; }
td.n { font-variant-numeric: tabular-nums; white-space: nowrap; }
p.note { color: var(--quiet); }
"""

# The words of the table for the kinds of `FoundEdge`.
_KINDS = {"->": "causes", "--": "adjacent, direction unknown", "<->": "arrowheads at both ends"}


def graph_page(found: DiscoveredGraph) -> str:
    """The page; names come from the user's data and are escaped."""
    head = (
        f"{len(found.edges)} edges among {len(found.names)} variables, found by the stable PC algorithm with "
        f"the test {found.test!r} at level {found.alpha:g}: {len(found.pvalues):,} tests on "
        f"{found.n_rows:,} rows, conditioning sets of up to {found.depth}, seed {found.random_state}."
    )
    warnings = "".join(f"<p><strong>Note.</strong> {escape(text)}</p>" for text in found.warnings)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Causal graph</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>Causal graph</h1>\n"
        f"<p>{escape(head)}</p>\n{warnings}\n{graph_svg(found)}\n"
        '<p class="note">An arrow is a cause only if no common cause is missing from the table and every '
        "dependence in the graph shows in the data. The p-value of an edge is the largest of all tests of "
        "its pair: the evidence at its weakest.</p>\n"
        f"<h2>Edges</h2>\n{_edge_table(found)}\n<h2>Separating sets</h2>\n{_sepset_table(found)}\n"
        "</body>\n</html>\n"
    )


def graph_svg(found: DiscoveredGraph) -> str:
    """The drawing: nodes on a circle in the order of the table, p-values at the edges."""
    count = len(found.names)
    radius = max(140.0, 9.0 * count)
    width, height = 2.0 * (radius + _SIDE), 2.0 * (radius + _TOP)
    angles = {name: 2.0 * math.pi * k / count - math.pi / 2.0 for k, name in enumerate(found.names)}
    places = {
        name: (width / 2 + radius * math.cos(angle), height / 2 + radius * math.sin(angle))
        for name, angle in angles.items()
    }
    labelled = len(found.edges) <= _MAX_LABELS
    edges = "".join(_edge(edge, places, labelled) for edge in found.edges)
    nodes = "".join(_node(name, places[name], angle) for name, angle in angles.items())
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="Drawing of the graph">'
        '<defs><marker id="arrow" viewBox="0 0 10 10" refX="10" refY="5" markerWidth="8" markerHeight="8" '
        'orient="auto-start-reverse"><path d="M 0 0 L 10 5 L 0 10 z"/></marker></defs>'
        f"{edges}{nodes}</svg>"
    )


def _edge(edge: FoundEdge, places: dict[str, tuple[float, float]], labelled: bool) -> str:
    (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
    length = math.hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) / length * _GAP, (y2 - y1) / length * _GAP
    ends = ' marker-end="url(#arrow)"' if edge.kind != "--" else ""
    ends += ' marker-start="url(#arrow)"' if edge.kind == "<->" else ""
    title = f"{edge.source} {edge.kind} {edge.target}, p = {edge.pvalue:.2g}"
    line = (
        f'<line x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 - dx:.1f}" y2="{y2 - dy:.1f}"{ends}>'
        f"<title>{escape(title)}</title></line>"
    )
    if not labelled:
        return line
    # Off the middle, where the edges of a circle cross.
    x, y = x1 + 0.38 * (x2 - x1), y1 + 0.38 * (y2 - y1)
    return f'{line}<text class="p" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{edge.pvalue:.2g}</text>'


def _node(name: str, place: tuple[float, float], angle: float) -> str:
    x, y = place
    anchor = "middle" if abs(math.cos(angle)) < 0.2 else "start" if math.cos(angle) > 0 else "end"
    label_x, label_y = x + 14 * math.cos(angle), y + 18 * math.sin(angle) + 4
    short = name if len(name) <= 20 else name[:19] + "…"
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_NODE}"><title>{escape(name)}</title></circle>'
        f'<text x="{label_x:.1f}" y="{label_y:.1f}" text-anchor="{anchor}">{escape(short)}</text>'
    )


def _edge_table(found: DiscoveredGraph) -> str:
    rows = [
        f"<tr><td>{escape(e.source)}</td><td>{_KINDS[e.kind]}</td><td>{escape(e.target)}</td>"
        f'<td class="n">{e.pvalue:.3g}</td><td class="n">{e.n_tests}</td></tr>'
        for e in sorted(found.edges, key=lambda e: e.pvalue)
    ]
    return _table(("", "", "", "largest p-value", "tests"), rows)


def _sepset_table(found: DiscoveredGraph) -> str:
    names = found.names
    rows = [
        f"<tr><td>{escape(names[i])}</td><td>{escape(names[j])}</td>"
        f"<td>{escape(', '.join(names[k] for k in given)) or 'nothing'}</td>"
        f'<td class="n">{found.pvalues[i, j, given]:.3g}</td></tr>'
        for (i, j), sets in sorted(found.sepsets.items())
        for given in sets
    ]
    return _table(("independent", "of", "given", "p-value"), rows)


def _table(head: tuple[str, ...], rows: list[str]) -> str:
    if not rows:
        return "<p>None.</p>"
    more = f"<p>The first {_MAX_ROWS:,} of {len(rows):,}.</p>" if len(rows) > _MAX_ROWS else ""
    cells = "".join(f"<th>{escape(text)}</th>" for text in head)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(rows[:_MAX_ROWS])}</tbody></table>{more}"
