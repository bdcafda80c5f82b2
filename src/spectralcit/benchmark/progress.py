"""A live display of a run: how much is done, what failed, and how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..progress import duration
from .run import Step

__all__ = ["Estimate", "live_progress"]

_PLAIN_SECONDS = 30.0  # between lines, when the output is not a terminal


class Estimate:
    """Estimates the time left from the mean time of each test and from how many run at once.

    Slow tests and quick ones are not averaged over: what counts is how many of each are left.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._spent: dict[str, float] = {}
        self._count: dict[str, int] = {}

    def add(self, test: str, seconds: float | None) -> None:
        """Take note of a replicate."""
        if seconds is not None:
            self._spent[test] = self._spent.get(test, 0.0) + seconds
            self._count[test] = self._count.get(test, 0) + 1

    def seconds_left(self, left: dict[str, int]) -> float | None:
        """Estimate the time left, or ``None`` before anything is known."""
        if not self._count:
            return None
        overall = sum(self._spent.values()) / sum(self._count.values())
        work = sum(
            number * (self._spent[test] / self._count[test] if test in self._count else overall)
            for test, number in left.items()
        )
        # Time spent in tests per second of the clock: workers, less what data and transport cost.
        pace = sum(self._spent.values()) / max(self._clock() - self._started, 1e-9)
        return work / pace if pace > 0 else None


@contextmanager
def live_progress(console: Console) -> Iterator[Callable[[Step], None]]:
    """Yield a function to give to `run_suite` as ``progress``."""
    if not console.is_terminal:
        yield _plain_lines(console)
        return
    estimate = Estimate()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("running", total=None, note="")

        def show(step: Step) -> None:
            _note(estimate, step)
            bar.update(task, completed=step.done, total=step.total, note=_words(estimate, step))

        yield show


def _plain_lines(console: Console) -> Callable[[Step], None]:
    estimate = Estimate()
    last = -_PLAIN_SECONDS

    def show(step: Step) -> None:
        nonlocal last
        _note(estimate, step)
        if time.monotonic() - last >= _PLAIN_SECONDS or step.done == step.total:
            last = time.monotonic()
            console.print(f"{step.done}/{step.total} {_words(estimate, step)}".rstrip(), highlight=False)

    return show


def _note(estimate: Estimate, step: Step) -> None:
    if step.result is not None:
        estimate.add(step.result.test, step.result.seconds)


def _words(estimate: Estimate, step: Step) -> str:
    parts = [f"{step.failures} failed"] if step.failures else []
    left = estimate.seconds_left(step.left)
    if left is not None and any(step.left.values()):
        parts.append(f"about {duration(left)} left")
    return ", ".join(parts)
