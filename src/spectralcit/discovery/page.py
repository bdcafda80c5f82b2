"""A found graph as one self-contained HTML page: a drawing, its edges, and what separates the rest."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .drawing import CAPTIONS, MAX_DRAWN, drawing, isolated, line_width

if TYPE_CHECKING:
    from .graph import DiscoveredGraph

__all__ = ["graph_fragment", "graph_page"]

_MAX_ROWS = 2000  # of a table, by hand: the page of a large graph is to stay a page
_WIDE, _NARROW = 900.0, 340.0  # pixels for the boxes of a layer: on a desk, and on a telephone
_SAMPLES = {0.05: "p = 0.05", 1e-5: "p = 1e-5", 1e-10: "p up to 1e-10"}  # lines that the legend shows

# Colours have a contrast of at least 4.5 to 1 for text and 3 to 1 for lines, on white and on black.
_STYLE = """
.graph { color-scheme: light dark; --text: #1b1f24; --page: #fff; --line: #51606e; --quiet: #5a6570;
  --box: #eef4fa; --rim: #0b62a4; --rule: #d5dbe1; --strong: #b3261e;
  color: var(--text); background: var(--page); font: 15px/1.5 system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { .graph { --text: #e6e9ec; --page: #14181c; --line: #9fb0c0;
  --quiet: #a4afb9; --box: #1d2a36; --rim: #6cb6f5; --rule: #343c44; --strong: #ff9a8f; } }
.graph .drawing, .graph .table { overflow-x: auto; margin: 1rem 0; }
.graph .drawing svg { display: block; margin: 0 auto; height: auto; }
.graph .narrow { display: none; }
@media (max-width: 640px) { .graph .wide { display: none; } .graph .narrow { display: block; } }
.graph svg text { font: 13px system-ui, sans-serif; fill: var(--text); }
.graph svg .line { stroke: var(--line); fill: none; }
.graph svg .unknown .line { stroke-dasharray: 7 4; }
.graph svg .reach { stroke: transparent; stroke-width: 14; fill: none; pointer-events: stroke; }
.graph svg .head { fill: var(--line); }
.graph svg .edge:hover .line { stroke: var(--strong); }
.graph svg .edge:hover .head { fill: var(--strong); }
.graph svg .node rect { fill: var(--box); stroke: var(--rim); stroke-width: 1.2; }
.graph ul.apart { list-style: none; display: flex; flex-wrap: wrap; gap: .4rem; padding: 0;
  margin: .3rem 0 1rem; }
.graph ul.apart li { border: 1px solid var(--rule); border-radius: 6px; padding: .05rem .5rem;
  font-size: 13px; overflow-wrap: anywhere; }
.graph table { border-collapse: collapse; width: 100%; }
.graph th, .graph td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0;
  border-bottom: 1px solid var(--rule); }
.graph th { font-weight: 600; }
.graph .n { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
.graph summary { cursor: pointer; font-weight: 600; }
.graph .note, .graph .legend { color: var(--quiet); }
.graph .legend { font-size: 13px; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; align-items: center; }
.graph .legend svg { vertical-align: middle; margin-right: .4rem; }
@media (hover: none) { .graph .hint { display: none; } }
@media (max-width: 640px) { .graph { font-size: 14px; } .graph th, .graph td { padding-right: .4rem; } }
"""
_BODY = "body { margin: 0; } .page { max-width: 62rem; margin: 0 auto; padding: 1rem; min-height: 100vh; \
box-sizing: border-box; }\n"


def graph_page(found: DiscoveredGraph) -> str:
    """The page; names come from the user's data and are escaped."""
    notes = "".join(f"<p><strong>Note.</strong> {escape(text)}</p>\n" for text in found.warnings)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Causal graph</title>\n<style>{_BODY}{_STYLE}</style>\n</head>\n"
        '<body class="graph">\n<main class="page">\n<h1>Causal graph</h1>\n'
        f"<p>{escape(_head(found))}</p>\n{_knowledge(found)}{notes}{_picture(found)}\n"
        '<p class="note">An arrow may be read as a cause only if no common cause is missing from the table '
        "and every dependence in the graph shows in the data. The p-value of an edge is the largest of all "
        "tests of its pair: the evidence at its weakest.</p>\n"
        f"<h2>Edges</h2>\n{_edge_table(found)}\n{_sepsets(found)}\n</main>\n</body>\n</html>\n"
    )


def graph_fragment(found: DiscoveredGraph) -> str:
    """The drawing and, folded, the table of edges, for a notebook."""
    return (
        f'<div class="graph"><style>{_STYLE}</style><p>{escape(_head(found))}</p>{_picture(found)}'
        f"<details><summary>Edges ({len(found.edges)})</summary>{_edge_table(found)}</details></div>"
    )


def _head(found: DiscoveredGraph) -> str:
    return (
        f"{_count(len(found.edges), 'edge')} among {_count(len(found.names), 'node')}, found by the stable "
        f"PC algorithm with the test {found.test!r} at level {found.alpha:g}: "
        f"{_count(len(found.pvalues), 'test')} on {found.n_rows:,} rows, conditioning sets of up to "
        f"{found.depth}, seed {found.random_state}."
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _knowledge(found: DiscoveredGraph) -> str:
    if found.knowledge is None:
        return ""
    lines = "".join(f"<li>{escape(line)}</li>" for line in found.knowledge.in_words())
    decided = sum(edge.given for edge in found.edges)
    return (
        f"<p>Given beforehand, not found in the data (it decided the direction of {_count(decided, 'edge')}):"
        f"</p>\n<ul>{lines}</ul>\n"
    )


def _picture(found: DiscoveredGraph) -> str:
    parts = []
    if found.edges:
        parts.append(f'<div class="drawing wide" tabindex="0">{drawing(found, _WIDE)}</div>')
        parts.append(f'<div class="drawing narrow" tabindex="0">{drawing(found, _NARROW)}</div>')
        parts.append(_legend(found))
    if len(found.edges) > MAX_DRAWN:
        parts.append(
            f"<p>Drawn are the {MAX_DRAWN} edges with the smallest p-values; the table has all "
            f"{len(found.edges):,}.</p>"
        )
    alone = isolated(found)
    if alone:
        chips = "".join(f"<li>{escape(name)}</li>" for name in alone)
        parts.append(f"<p>Without an edge: {len(alone)}</p><ul class='apart'>{chips}</ul>")
    return "\n".join(parts)


def _legend(found: DiscoveredGraph) -> str:
    kinds = {edge.kind for edge in found.edges}
    samples = [
        (_sample(2.5, "M2 8H30", '<path class="head" d="M38 8L29 4V12z"/>'), "arrow", "->"),
        (_sample(2.5, "M2 8H38", "", "edge unknown"), "direction unknown", "--"),
    ]
    shown = [f"<span>{picture}{text}</span>" for picture, text, kind in samples if kind in kinds]
    shown += [f"<span>{_sample(line_width(p), 'M2 8H38', '')}{said}</span>" for p, said in _SAMPLES.items()]
    return (
        f'<div class="legend">{"".join(shown)}<span class="hint">Point at a line for its p-value, at '
        "a box for its whole name.</span></div>"
    )


def _sample(width: float, path: str, head: str, kind: str = "edge") -> str:
    return (
        f'<svg width="40" height="16" viewBox="0 0 40 16" aria-hidden="true"><g class="{kind}">'
        f'<path class="line" d="{path}" stroke-width="{width:.1f}"/>{head}</g></svg>'
    )


def _edge_table(found: DiscoveredGraph) -> str:
    rows = [
        f"<tr><td>{escape(e.source)}</td><td>{CAPTIONS[e.kind]}{' (given)' if e.given else ''}</td>"
        f'<td>{escape(e.target)}</td><td class="n">{e.pvalue:.2g}</td><td class="n">{e.n_tests}</td></tr>'
        for e in sorted(found.edges, key=lambda e: e.pvalue)
    ]
    return _table(("node", "edge", "node", "largest p", "tests"), rows)


def _sepsets(found: DiscoveredGraph) -> str:
    names = found.names
    rows = [
        f"<tr><td>{escape(names[i])}</td><td>{escape(names[j])}</td>"
        f"<td>{escape(', '.join(names[k] for k in given)) or 'nothing'}</td>"
        f'<td class="n">{found.pvalues[i, j, given]:.2g}</td></tr>'
        for (i, j), sets in sorted(found.sepsets.items())
        for given in sets
    ]
    table = _table(("independent", "of", "given", "p-value"), rows)
    return (
        f"<details><summary>Separating sets of {_count(len(found.sepsets), 'pair')} without an edge</summary>"
        f"\n{table}</details>"
    )


def _table(head: tuple[str, ...], rows: list[str]) -> str:
    if not rows:
        return "<p>None.</p>"
    more = f"<p>The first {_MAX_ROWS:,} of {len(rows):,}.</p>" if len(rows) > _MAX_ROWS else ""
    cells = "".join(f'<th scope="col"{_number(text)}>{escape(text)}</th>' for text in head)
    body = "".join(rows[:_MAX_ROWS])
    return (
        f'<div class="table" tabindex="0"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>'
        f"</div>{more}"
    )


def _number(heading: str) -> str:
    return ' class="n"' if heading in ("largest p", "p-value", "tests") else ""
