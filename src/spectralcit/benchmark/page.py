"""`write_report`: tables, figures, and one HTML page that needs nothing beside it."""

from __future__ import annotations

import base64
import csv
import html
import io
import math
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import Any

from ..errors import StoreError
from ..files import write_atomically
from .figure_style import save
from .figures import draw_figures
from .metrics import CellSummary, Rank, broken_levels, of_suite, ranking, summarise
from .record import Record
from .store import Store
from .suite import Suite

__all__ = ["PAGE_STYLE", "ranking_table", "rates_table", "times_table", "write_report"]

# Columns of the tables, by the fields they show; those that read better under another name.
_RATE_COLUMNS = ("replicates", "failures", "rate", "low", "high", "uniformity")
_TIME_COLUMNS = ("seconds", "peak_mb")
_RANK_COLUMNS = ("test", "score", "power", "alternatives", "nulls", "broken", "worst", "failures", "seconds")
_HEADS = {"worst": "worst_rate"}
_TITLES = {  # of the figures, by the beginning of their files' names
    "type1": "Type I error",
    "power": "Power",
    "qq": "P-values under the null hypothesis",
    "time-n": "Time against the number of rows",
    "time-dz": "Time against the dimension of Z",
    "ranking": "Ranking",
}
# The page needs nothing beside it; colours by hand, light and dark.
PAGE_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1e; --paper: #ffffff; --line: #d5d5da; --soft: #f4f4f6;
        --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8ea; --paper: #17171a; --line: #3a3a40; --soft: #222226; --bad: #ff8a80; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
       max-width: 68rem; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
.scroll { overflow-x: auto; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid var(--line); text-align: left; }
td.number, th.number { text-align: right; }
thead th { background: var(--soft); position: sticky; top: 0; }
.bad { color: var(--bad); font-weight: 600; }
figure { margin: 1.5rem 0; }
img { max-width: 100%; background: #ffffff; border-radius: 6px; }
"""


def write_report(
    store: Store | str | Path, out: str | Path, *, suite: Suite | None = None, alpha: float = 0.05
) -> Path:
    """Write tables (CSV), figures (PNG and SVG) and the page ``index.html``.

    Parameters
    ----------
    store
        The results.
    out
        The folder; it is made when missing.
    suite
        Report what belongs to this suite; everything in the store when not given.
    alpha
        The level.

    Returns
    -------
    pathlib.Path
        The page.
    """
    if not isinstance(store, Store):
        with Store(store, read_only=True) as opened:
            return write_report(opened, out, suite=suite, alpha=alpha)
    records = store.records() if suite is None else of_suite(store.records(), suite)
    if not records:
        what = "no results" if suite is None else f"no results of the suite {suite.name!r}"
        raise StoreError(f"{store.path}: {what} yet; run it first")
    summaries = summarise(records, alpha=alpha)
    ranks = ranking(summaries, alpha=alpha)
    tests = list(dict.fromkeys(s.test for s in summaries))
    if suite is not None:
        tests = [test for test in suite.tests if test in tests]
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in (
        ("rates", rates_table(summaries)),
        ("times", times_table(summaries)),
        ("ranking", ranking_table(ranks)),
    ):
        write_atomically(folder / f"{name}.csv", _csv(table))
    figures = draw_figures(summaries, ranks, tests, alpha=alpha)
    for name, figure in figures.items():
        save(figure, folder / name)
    page = folder / "index.html"
    write_atomically(
        page,
        _page(suite, records, summaries, ranks, {name: folder / f"{name}.svg" for name in figures}, alpha),
    )
    return page


def rates_table(summaries: Sequence[CellSummary]) -> list[dict[str, Any]]:
    """Rates with their intervals; nothing that depends on the machine."""
    return [_cell(s) | _picked(s, _RATE_COLUMNS) for s in summaries]


def times_table(summaries: Sequence[CellSummary]) -> list[dict[str, Any]]:
    """Median time and memory of each cell."""
    return [_cell(s) | _picked(s, _TIME_COLUMNS) for s in summaries]


def ranking_table(ranks: Sequence[Rank]) -> list[dict[str, Any]]:
    """The ranking, one line per test."""
    return [{"rank": place} | _picked(rank, _RANK_COLUMNS) for place, rank in enumerate(ranks, start=1)]


def _cell(summary: CellSummary) -> dict[str, Any]:
    """What names a cell, the first columns of every table of cells."""
    return {
        "dataset": summary.dataset,
        "parameters": ", ".join(f"{name}={value}" for name, value in summary.params.items()),
        "n": summary.n,
        "hypothesis": "alternative" if summary.dependent else "null",
        "test": summary.test,
    }


def _picked(thing: CellSummary | Rank, names: Sequence[str]) -> dict[str, Any]:
    return {_HEADS.get(name, name): getattr(thing, name) for name in names}


def _page(
    suite: Suite | None,
    records: Sequence[Record],
    summaries: Sequence[CellSummary],
    ranks: Sequence[Rank],
    pictures: dict[str, Path],
    alpha: float,
) -> str:
    title = f"Benchmark {suite.name}" if suite else "Benchmark"
    failures = sum(s.failures for s in summaries)
    broken = broken_levels(summaries, alpha=alpha)
    bad = {i for i, s in enumerate(summaries) if not s.dependent and (s.test, s.workload) in broken}
    lines = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p>{html.escape(suite.description)}</p>" if suite and suite.description else "",
        f"<p>{len(records)} replicates, {failures} of them failed, in {len(summaries)} cells. Level "
        f"{alpha:g}. Rates have 95 % Wilson intervals; uniformity is the p-value of a "
        "Kolmogorov-Smirnov test.</p>",
        "<h2>Ranking</h2>",
        "<p>The score is the mean power, counted as zero wherever the test breaks the level on the null "
        "hypothesis of the same data: more rejections than chance explains at 5 %, corrected for the number "
        "of null hypotheses. Such cells are red below. A failure counts as no rejection.</p>",
        _table(ranking_table(ranks)),
        *(_picture(name, path) for name, path in pictures.items()),
        "<h2>Rates</h2>",
        _table(rates_table(summaries), bad),
        "<h2>Time and memory</h2>",
        _table(times_table(summaries)),
        _failures(records),
        "<h2>Versions</h2>",
        *(f"<p>{html.escape(line)}</p>" for line in sorted({r.versions for r in records})),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{PAGE_STYLE}</style></head>\n<body>\n"
        + "\n".join(line for line in lines if line)
        + "\n</body></html>\n"
    )


def _picture(name: str, path: Path) -> str:
    base = next((key for key in sorted(_TITLES, key=len, reverse=True) if name.startswith(key)), name)
    title = html.escape(_TITLES.get(base, name))
    content = base64.b64encode(path.read_bytes()).decode()
    return (
        f'<h2>{title}</h2><figure><img alt="{title}" src="data:image/svg+xml;base64,{content}"></figure>'
        if base == name
        else f'<figure><img alt="{title}" src="data:image/svg+xml;base64,{content}"></figure>'
    )


def _failures(records: Iterable[Record]) -> str:
    counted: dict[tuple[str, str, str], int] = {}
    for record in records:
        if record.error:
            key = (record.test, record.dataset, record.error)
            counted[key] = counted.get(key, 0) + 1
    if not counted:
        return ""
    rows = [
        {"test": test, "dataset": dataset, "error": error, "replicates": count}
        for (test, dataset, error), count in sorted(counted.items())
    ]
    return "<h2>Failures</h2>" + _table(rows)


def _table(rows: Sequence[dict[str, Any]], bad: Container[int] = ()) -> str:
    if not rows:
        return "<p>Nothing.</p>"
    numeric = {key for key in rows[0] if isinstance(rows[0][key], (int, float))}
    head = "".join(f"<th{_kind(key in numeric)}>{html.escape(key.replace('_', ' '))}</th>" for key in rows[0])
    body = "".join(
        f"<tr{' class=bad' if number in bad else ''}>"
        + "".join(
            f"<td{_kind(key in numeric)}>{html.escape(_text(value))}</td>" for key, value in row.items()
        )
        + "</tr>\n"
        for number, row in enumerate(rows)
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def _kind(is_number: bool) -> str:
    return ' class="number"' if is_number else ""


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return str(value)


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {k: "" if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()} for row in rows
    )
    return text.getvalue()
