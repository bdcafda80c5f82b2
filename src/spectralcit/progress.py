"""One meaning of ``progress``: False, True for a bar or a line a minute, or a function told how far it is."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from .parameters import anything, is_flag

__all__ = ["Report", "duration", "lines_of_progress", "progress_option", "progress_reports", "share_of"]

# Without a terminal: the first line, which says how long it will take, and those after it, by hand.
_FIRST_SECONDS, _LINE_SECONDS = 5.0, 60.0

#: Called with (done, total) while work goes on; the two are in whatever unit the work is counted.
Report = Callable[[float, float], None]


def progress_option() -> Any:
    """Field of a test that takes long enough to be watched."""
    return anything(
        False,
        "Whether to show a bar on a terminal, elsewhere a line a minute, or a function that is called with "
        "(done, total).",
        words="True, False or a function of (done, total)",
        accepts=lambda value: is_flag(value) or callable(value),
    )


@contextlib.contextmanager
def progress_reports(wanted: bool | Report, label: str) -> Iterator[Report]:
    """Yield ``report(done, total)``: one bar, or lines, for the block, the caller's function, or nothing."""
    if callable(wanted):
        yield wanted
        return
    if not wanted:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lines_of_progress(
            label, lambda line: console.print(line, markup=False, highlight=False, soft_wrap=True)
        )
        return
    with Progress(console=console, transient=True) as bars:
        bar = bars.add_task(label, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


def lines_of_progress(
    label: str, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
) -> Report:
    """Report that says how far it is and how long it will take: after a few seconds, then once a minute.

    Examples
    --------
    >>> times = iter([0.0, 1.0, 10.0, 30.0, 80.0])
    >>> report = lines_of_progress("tests", print, clock=lambda: next(times))
    >>> for done in (0, 50, 60, 200):
    ...     report(done, 1000)
    tests: 50 of 1,000 done, about 3 min left
    tests: 200 of 1,000 done, about 5 min left
    """
    started, first, due = clock(), None, _FIRST_SECONDS

    def report(done: float, total: float) -> None:
        nonlocal first, due
        passed = clock() - started
        first = done if first is None else first  # known from earlier, and no measure of the pace
        if passed < due:
            return
        due = passed + _LINE_SECONDS
        pace = (done - first) / passed
        left = f", about {duration((total - done) / pace)} left" if pace > 0 and done < total else ""
        say(f"{label}: {done:,.0f} of {total:,.0f} done{left}")

    return report


def duration(seconds: float) -> str:
    """Write a time for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


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
