"""One meaning of ``progress``: False, True for a bar on a terminal, or a function told how far it is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .parameters import anything, is_flag

__all__ = ["Report", "progress_option", "progress_reports", "share_of"]

#: Called with (done, total) while work goes on; the two are in whatever unit the work is counted.
Report = Callable[[float, float], None]


def progress_option() -> Any:
    """Field of a test that takes long enough to be watched."""
    return anything(
        False,
        "Whether to show a bar on a terminal, or a function that is called with (done, total).",
        words="True, False or a function of (done, total)",
        accepts=lambda value: is_flag(value) or callable(value),
    )


@contextlib.contextmanager
def progress_reports(wanted: bool | Report, label: str) -> Iterator[Report]:
    """Yield ``report(done, total)``: one bar for the whole block, the caller's function, or nothing."""
    if callable(wanted):
        yield wanted
        return
    if not wanted:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task(label, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


def share_of(report: Report, part: int, n_parts: int) -> Report:
    """Report of one of several equally long parts of a whole.

    Examples
    --------
    >>> seen = []
    >>> share_of(lambda done, total: seen.append(done / total), 1, 4)(50, 100)
    >>> seen
    [0.375]
    """
    return lambda done, total: report(part + done / total, n_parts)
