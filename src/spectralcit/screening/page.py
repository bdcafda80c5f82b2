"""A screen as one self-contained HTML page: pictures of the hits, and a table to search and sort."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from functools import partial
from html import escape
from pathlib import Path

from .. import __version__
from ..files import write_atomically
from ..report.figures import svg
from ..report.plots import plot_leading_pair, plot_partial
from ..verdict import enumerated, pvalue_text
from .frame import ScreenResult
from .pictures import plot_qq, plot_volcano
from .rows import ScreenRow, hundredths

__all__ = ["screen_page", "write_page"]

_PICTURED = 20  # by hand: hits with a picture, the most surprising first; each is computed again
_ALONG_X = ("linear", "y follows a curve of x")  # kinds that means of y along x show
_MAX_ROWS = 5000  # of the table, by hand: beyond, a browser sorts slowly; files hold all of them

_STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --page: #fff; --quiet: #68737d; --rule: #d5dbe1;
  --hit: #c1121f; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ec; --page: #14181c; --quiet: #98a3ad;
  --rule: #343c44; --hit: #ff6b6b; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem; }
.pictures figure { margin: 0; flex: 1 1 22rem; max-width: 36rem; }
.hits { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1.25rem; }
.hits figure { margin: 0; min-width: 0; }
.hits h3 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; }
figure svg { width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--rule);
  overflow-wrap: anywhere; }
th { white-space: nowrap; }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
th button::after { content: ' \\2195'; color: var(--quiet); font-weight: 400; }
th[aria-sort=ascending] button::after { content: ' \\2191'; }
th[aria-sort=descending] button::after { content: ' \\2193'; }
td.n { font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.hit td:first-child { color: var(--hit); font-weight: 600; }
input { font: inherit; padding: .3rem .5rem; width: 20rem; max-width: 100%; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--rule); }
.quiet { color: var(--quiet); }
"""

# Sorts by the column whose heading is clicked, and hides rows without the text that is typed.
_SCRIPT = """
const body = document.querySelector('tbody'), rows = [...body.rows];
const heads = [...document.querySelectorAll('th')], count = document.querySelector('output');
const value = (row, k) => row.cells[k].dataset.v ?? row.cells[k].textContent;
heads.forEach((head, k) => {
  head.firstChild.addEventListener('click', () => {
    const down = head.getAttribute('aria-sort') === 'ascending';
    heads.forEach(other => other.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
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
  count.textContent = rows.filter(row => !row.hidden).length + ' rows';
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
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n<p>{escape(head)}</p>\n{_overview(found, level)}\n"
        f"{_hits(found, level)}\n<h2>All columns</h2>\n{_table(found, level)}\n"
        "<p class='quiet'>A p-value from a quick look is above the threshold between the two stages, and "
        "says no more than that the column is not among the surprising ones. A small q-value is no proof of "
        f"a cause.</p>\n<h2>What was run, and how to repeat it</h2>\n{_facts(found)}\n"
        f"<pre>{escape(_recipe(found, source, outcomes))}</pre>\n"
        f"<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _overview(found: ScreenResult, level: float) -> str:
    volcano = svg(
        lambda axes: plot_volcano(found, axes, level),
        "volcano",
        alt=f"Volcano plot: effect against p-value, {len(found.hits(level))} hits stand out in red",
    )
    qq = svg(
        lambda axes: plot_qq(found, axes),
        "qq",
        alt=f"QQ plot of the p-values against chance; lambda is {found.inflation:.2f}",
    )
    on_line = "On the line: what chance alone would give. λ near one: most columns are noise."
    figures = _figure(volcano, "Effect and evidence; hits are red.") + _figure(qq, on_line)
    return f"<div class='pictures'>{figures}</div>"


def _hits(found: ScreenResult, level: float) -> str:
    """The first hits, each with what Z leaves of it against what Z leaves of the outcome."""
    cards = []
    for k, row in enumerate(found.hits(level)[:_PICTURED]):
        pair = found.leading_pair(row)
        if pair is None:
            continue
        # Means of y along x show nothing of a spread, nor of a slope that changes with Z.
        draw = plot_partial if row.kind in _ALONG_X and pair.partial is not None else plot_leading_pair
        told = f"{row.x} and {row.y} with Z taken out of both; kind of dependence: {row.kind or 'unclear'}"
        effect = "" if row.effect is None else f", effect {hundredths(row.signed_effect)}"
        caption = f"p-value {pvalue_text(row.pvalue or 1.0)}{effect}; {row.kind or 'no kind stands out'}"
        drawn = svg(partial(draw, pair), f"hit{k}", width=4.2, height=3.0, alt=told)
        cards.append(_figure(drawn, caption, f"{row.x} and {row.y}"))
    if not cards:
        return ""
    return (
        f"<h2>The first {len(cards)} hits</h2>\n<p class='quiet'>Each point is a row of the table, with what "
        "Z explains taken out of both columns: the residuals themselves where their means tell the story, "
        "otherwise the functions of them that are most tied.</p>\n"
        f"<div class='hits'>{''.join(cards)}</div>"
    )


def _figure(picture: str, caption: str, title: str = "") -> str:
    heading = f"<h3>{escape(title)}</h3>" if title else ""
    return f"<figure>{heading}{picture}<figcaption class='quiet'>{escape(caption)}</figcaption></figure>"


def _facts(found: ScreenResult) -> str:
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    about = "".join(f", {name} = {given}" for name, given in found.about_rows.items())
    about += "".join(f", {time} censored unless {event}" for time, event in found.events.items())
    rows = {row.n for row in found.rows if row.n is not None}
    counted = f"{min(rows):,} to {max(rows):,}" if len(rows) > 1 else f"{next(iter(rows), 0):,}"
    said = (
        f"Test {found.method}, mode {found.mode}, seed {found.seed}; {counted} rows a question{about}. "
        f"spectralcit {__version__}, Python {platform.python_version()}; written {made}."
    )
    return f"<p>{escape(said)}</p>"


def _table(found: ScreenResult, level: float) -> str:
    hits = {(row.x, row.y) for row in found.hits(level)}
    body = "".join(
        _row(row, q, (row.x, row.y) in hits)
        for row, q in list(zip(found.rows, found.qvalues, strict=True))[:_MAX_ROWS]
    )
    names = ("column", "outcome", "p", "q", "effect", "95 %", "kind of dependence", "stage", "remarks")
    heads = "".join(f"<th scope='col'><button>{name}</button></th>" for name in names)
    cut = f"<p class='quiet'>The first {_MAX_ROWS:,} rows.</p>" if len(found.rows) > _MAX_ROWS else ""
    return (
        "<p><input type='search' placeholder='search' aria-label='search the table'> "
        f"<output class='quiet'>{min(len(found.rows), _MAX_ROWS)} rows</output></p><div class='wide'>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>{cut}"
    )


def _row(row: ScreenRow, q: float | None, hit: bool) -> str:
    ends = row.signed_interval
    interval = "" if ends is None else f"{hundredths(ends[0])} to {hundredths(ends[1])}"
    numbers = (
        (row.pvalue, None if row.pvalue is None else pvalue_text(row.pvalue)),
        (q, None if q is None else pvalue_text(q)),
        (row.signed_effect, hundredths(row.signed_effect)),
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
    y: str | list[str] | tuple[str, str] = outcomes[0] if len(outcomes) == 1 else outcomes
    if found.events:
        y = next(iter(found.events.items()))
    columns = json.dumps([row.x for row in found.rows[:3]], ensure_ascii=False)[:-1]
    more = ", ...]" if len(found.rows) > 3 else "]"
    about = "".join(f", {name}={given}" for name, given in found.about_rows.items())
    return (
        "from spectralcit import screen\n"
        f"screen({source!r}, x={columns}{more}, y={y!r}, z={list(found.z)!r}, fdr={found.fdr!r},\n"
        f"       mode={found.mode!r}, test={found.method!r}, random_state={found.seed}{about})"
    )
