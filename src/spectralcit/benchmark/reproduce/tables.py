"""The table of an experiment in Markdown, and the page in which it has a marked place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ...errors import ParameterError
from ...files import write_atomically
from ..figure_axes import value_of
from ..metrics import CellSummary
from .experiment import Experiment

__all__ = ["check_page", "fill_page", "markdown_table"]


def markdown_table(
    experiment: Experiment, summaries: Sequence[CellSummary], tests: Sequence[str], *, note: str = ""
) -> str:
    """Return what has been run so far as Markdown tables.

    Rates have their 95 % Wilson interval; the last column gives the replicates of a cell.

    Parameters
    ----------
    experiment
        The experiment.
    summaries
        From `summarise`.
    tests
        Labels in the order of the rows.
    note
        A sentence to put before the tables.
    """
    parts = [note] if note else []
    if experiment.quantity == "seconds":
        parts.append(_table("median seconds", experiment, summaries, tests))
    else:
        for title, dependent in (("type I error", False), ("power", True)):
            members = [s for s in summaries if s.dependent == dependent]
            if members:
                parts.append(_table(title, experiment, members, tests))
    return "\n\n".join(parts)


def fill_page(page: str | Path, name: str, content: str) -> None:
    """Replace what stands between ``<!-- name -->`` and ``<!-- /name -->`` in a page.

    Parameters
    ----------
    page
        The file.
    name
        Of the place.
    content
        Markdown.
    """
    path = Path(page)
    text = path.read_text(encoding="utf-8")
    start, end = _place_in(text, path, name)
    write_atomically(path, f"{text[:start]}{content}\n{text[end:]}")


def check_page(page: str | Path, names: Sequence[str]) -> None:
    """Refuse a page that lacks a place, before hours of work are done for it.

    Parameters
    ----------
    page
        The file.
    names
        Of the places.
    """
    path = Path(page)
    text = path.read_text(encoding="utf-8")
    for name in names:
        _place_in(text, path, name)


def _place_in(text: str, path: Path, name: str) -> tuple[int, int]:
    mark = re.escape(name)
    found = list(re.finditer(rf"<!-- {mark} -->\n(.*?)<!-- /{mark} -->", text, re.DOTALL))
    if len(found) != 1:
        raise ParameterError(f"{path} must have the marks <!-- {name} --> and <!-- /{name} --> exactly once")
    return found[0].span(1)


def _table(title: str, experiment: Experiment, members: Sequence[CellSummary], tests: Sequence[str]) -> str:
    values = sorted({value_of(s, experiment.axis) for s in members})
    cells = {(s.test, value_of(s, experiment.axis)): s for s in members}
    heads = [_head(experiment, value) for value in values]
    lines = [
        f"| {title} | {' | '.join(heads)} | replicates |",
        f"|---|{'---|' * len(values)}---|",
    ]
    for test in tests:
        own = [cells.get((test, value)) for value in values]
        if any(own):
            texts = [_cell(summary, experiment.quantity) for summary in own]
            lines.append(f"| {test} | {' | '.join(texts)} | {_count(own)} |")
    return "\n".join(lines)


def _head(experiment: Experiment, value: float) -> str:
    named = experiment.categories.get(value)
    return " ".join(named.split()).replace("|", "given") if named else f"{experiment.axis} = {value:g}"


def _cell(summary: CellSummary | None, quantity: str) -> str:
    if summary is None:
        return ""
    failed = f" ({summary.failures} failed)" if summary.failures else ""
    if not summary.replicates:
        return f"none{failed}"
    if quantity == "seconds":
        return f"{summary.seconds:.2g}{failed}"
    return f"{summary.rate:.2f} [{summary.low:.2f}, {summary.high:.2f}]{failed}"


def _count(own: Sequence[CellSummary | None]) -> str:
    counts = [s.replicates for s in own if s is not None]
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
