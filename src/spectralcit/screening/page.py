"""A screen as one self-contained HTML page: a table to search and sort, a volcano and a QQ plot."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from ..files import write_atomically
from ..report.figures import svg
from ..verdict import enumerated, pvalue_text
from .frame import ScreenResult
from .pictures import plot_qq, plot_volcano
from .rows import ScreenRow

__all__ = ["screen_page", "write_page"]

_MAX_ROWS = 5000  # of the table, by hand: beyond, a browser sorts slowly; files hold all of them

_STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --page: #fff; --quiet: #68737d; --rule: #d5dbe1;
  --hit: #c1121f; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ec; --page: #14181c; --quiet: #98a3ad;
  --rule: #343c44; --hit: #ff6b6b; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem; }
.pictures svg { max-width: 36rem; width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--rule);
  overflow-wrap: anywhere; }
th { cursor: pointer; white-space: nowrap; }
td.n { font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.hit td:first-child { color: var(--hit); font-weight: 600; }
input { font: inherit; padding: .3rem .5rem; width: 20rem; max-width: 100%; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--rule); }
.quiet { color: var(--quiet); }
"""

# Sorts by the column whose heading is clicked, and hides rows without the text that is typed.
_SCRIPT = """
const body = document.querySelector('tbody'), rows = [...body.rows];
const value = (row, k) => row.cells[k].dataset.v ?? row.cells[k].textContent;
document.querySelectorAll('th').forEach((head, k) => {
  let down = true;
  head.addEventListener('click', () => {
    down = !down;
    rows.sort((a, b) => {
      const [p, q] = [value(a, k), value(b, k)];
      if (p === '' || q === '') return (p === '') - (q === '');
      const order = isNaN(p) || isNaN(q) ? p.localeCompare(q) : p - q;
      return down ? -order : order;
    });
    body.append(...rows);
  });
});
document.querySelector('input').addEventListener('input', event => {
  const wanted = event.target.value.toLowerCase();
  rows.forEach(row => { row.hidden = !row.textContent.toLowerCase().includes(wanted); });
});
"""


def write_page(found: ScreenResult, path: Path, *, source: str, level: float) -> Path:
    """Write the page; the file appears whole or not at all."""
    return write_atomically(path, screen_page(found, source=source, level=level))


def screen_page(found: ScreenResult, *, source: str, level: float) -> str:
    """The page; names come from the user's data and are escaped."""
    outcomes = sorted({row.y for row in found.rows})
    given = f" once {enumerated(found.z)} {'is' if len(found.z) == 1 else 'are'} known" if found.z else ""
    title = f"Which columns speak about {enumerated(outcomes)}{given}?"
    judged = "p-value" if found.fdr is None else f"q-value ({found.fdr.upper()})"
    whole = sum(row.stage == "full" for row in found.rows)
    head = (
        f"{len(found.rows):,} columns of {source}: {len(found.hits(level)):,} with a {judged} of at most "
        f"{level:g}; {whole:,} had the whole test ({found.method}), "
        f"{sum(row.stage == 'quick' for row in found.rows):,} a quick look that found nothing, "
        f"{sum(row.pvalue is None for row in found.rows):,} cannot be tested. λ = {found.inflation:.2f}."
    )
    pictures = "".join(
        f"<figure>{svg(draw, name)}<figcaption class='quiet'>{escape(caption)}</figcaption></figure>"
        for name, draw, caption in (
            ("volcano", lambda axes: plot_volcano(found, axes, level), "Effect and evidence; hits are red."),
            (
                "qq",
                lambda axes: plot_qq(found, axes),
                "On the line: what chance alone would give. λ near one: most columns are noise.",
            ),
        )
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n<p>{escape(head)}</p>\n<div class='pictures'>{pictures}</div>\n"
        f"{_table(found, level)}\n"
        "<p class='quiet'>A p-value from a quick look is above the threshold between the two stages, and "
        "says no more than that the column is not among the surprising ones. A small q-value is no proof of "
        f"a cause.</p>\n<h2>How to repeat it</h2>\n<pre>{escape(_recipe(found, source, outcomes))}</pre>\n"
        f"<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _table(found: ScreenResult, level: float) -> str:
    hits = {(row.x, row.y) for row in found.hits(level)}
    body = "".join(
        _row(row, q, (row.x, row.y) in hits)
        for row, q in list(zip(found.rows, found.qvalues, strict=True))[:_MAX_ROWS]
    )
    names = ("column", "outcome", "p", "q", "effect", "95 %", "kind of dependence", "stage", "remarks")
    cut = f"<p class='quiet'>The first {_MAX_ROWS:,} rows.</p>" if len(found.rows) > _MAX_ROWS else ""
    return (
        "<p><input type='search' placeholder='search' aria-label='search'></p>"
        f"<table><thead><tr>{''.join(f'<th>{name}</th>' for name in names)}</tr></thead>"
        f"<tbody>{body}</tbody></table>{cut}"
    )


def _row(row: ScreenRow, q: float | None, hit: bool) -> str:
    signed = None if row.effect is None else row.effect * (-1 if row.sign == -1 else 1)
    interval = "" if row.low is None or row.high is None else f"{row.low:.2f} to {row.high:.2f}"
    numbers = (
        (row.pvalue, None if row.pvalue is None else pvalue_text(row.pvalue)),
        (q, None if q is None else pvalue_text(q)),
        (signed, None if signed is None else f"{signed:.2f}"),
    )
    remarks = row.reason or "; ".join(row.warnings)
    return (
        f"<tr{' class=hit' if hit else ''}><td>{escape(row.x)}</td><td>{escape(row.y)}</td>"
        + "".join(
            f"<td class='n' data-v='{'' if v is None else repr(float(v))}'>{text or ''}</td>"
            for v, text in numbers
        )
        + f"<td class='n'>{interval}</td><td>{escape(row.kind or '')}</td><td>{row.stage or ''}</td>"
        f"<td>{escape(remarks)}</td></tr>\n"
    )


def _recipe(found: ScreenResult, source: str, outcomes: list[str]) -> str:
    y = outcomes[0] if len(outcomes) == 1 else outcomes
    columns = json.dumps([row.x for row in found.rows[:3]], ensure_ascii=False)[:-1]
    more = ", ...]" if len(found.rows) > 3 else "]"
    about = "".join(f", {name}={given}" for name, given in found.about_rows.items())
    return (
        "from spectralcit import screen\n"
        f"screen({source!r}, x={columns}{more}, y={y!r}, z={list(found.z)!r}, fdr={found.fdr!r},\n"
        f"       mode={found.mode!r}, test={found.method!r}, random_state={found.seed}{about})"
    )
