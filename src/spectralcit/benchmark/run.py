"""`run_suite`: run what a store does not have yet, and add it row by row."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .backends import Records, run_on
from .bundle import ToDo, bundled, jobs_of
from .record import Record, TrialKey
from .runner import Runner
from .store import Store
from .suite import Suite

__all__ = ["Step", "Summary", "run_suite"]


@dataclass(frozen=True)
class Step:
    """What a progress display is told after each replicate, and once before the first.

    Parameters
    ----------
    done, total
        Replicates in the store, and in the suite.
    failures
        Failures of this run.
    result
        The replicate that was just stored; ``None`` before the first.
    left
        How many replicates of each test are still to run.
    """

    done: int
    total: int
    failures: int
    result: Record | None
    left: dict[str, int]


@dataclass(frozen=True)
class Summary:
    """What a run did.

    Parameters
    ----------
    kept
        Replicates that were in the store before.
    added, failures
        Replicates of this run, and how many of them failed.
    interrupted
        Whether the run was stopped from the keyboard.
    """

    kept: int
    added: int
    failures: int
    interrupted: bool = False


def run_suite(
    suite: Suite, store: Store | str | Path, runner: Runner | None = None, **options: Any
) -> Summary:
    """Run every replicate of a suite that the store does not have.

    Each result is stored as it comes, by this process alone. Stopped at any moment, the next call goes on
    where this one stopped. P-values depend on the suite only, neither on the backend nor on the number of
    workers; those of a test that runs replicates in batches (the published one) depend on the batch up to the
    rounding that training carries along.

    Parameters
    ----------
    suite
        What to run.
    store
        Where the results are and go.
    runner
        Where and how; one process of this machine when not given.
    **options
        Fields of `Runner` that replace those of `runner`: ``backend``, ``n_jobs``, ``address``,
        ``time_limit``, ``memory_limit``, ``retry_failures``, ``batches``, ``progress``.

    Returns
    -------
    Summary
        How much was done.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> suite = Suite.define(
    ...     name="tiny", tests=["fisher-z"], datasets=[{"name": "linear-gaussian"}], n=50, replicates=2
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "tiny.sqlite"
    ...     print(run_suite(suite, path).added, run_suite(suite, path, n_jobs=1).added)
    4 0
    """
    runner = replace(runner or Runner(), **options)
    if not isinstance(store, Store):
        with Store(store) as opened:
            return run_suite(suite, opened, runner)
    todo, kept = _missing(suite, store.attempts(), runner.retry_failures)
    left: dict[str, int] = dict.fromkeys(suite.tests, 0)
    for cell, _, _ in todo:
        left[cell.test] += 1
    added = failures = 0
    tell = runner.progress or (lambda step: None)
    tell(Step(kept, suite.size, 0, None, dict(left)))
    try:
        with closing(_results(todo, runner)) as results:
            for result in results:
                added += store.add([result])
                failures += bool(result.error)
                left[result.test] -= 1
                tell(Step(kept + added, suite.size, failures, result, dict(left)))
    except KeyboardInterrupt:
        return Summary(kept, added, failures, interrupted=True)
    return Summary(kept, added, failures)


def _results(todo: list[ToDo], runner: Runner) -> Records:
    groups = bundled(todo, batches=runner.in_batches)
    found = run_on((jobs_of(group) for group in groups), runner)
    if todo:  # a cluster is not started for nothing
        yield from found


def _missing(
    suite: Suite, attempts: dict[TrialKey, tuple[int, bool]], retry_failures: bool
) -> tuple[list[ToDo], int]:
    """Replicates to run and the number of those that are there.

    All cells advance together, so that a run that is stopped early leaves a whole table.
    """
    todo: list[ToDo] = []
    for replicate in range(max((cell.replicates for cell in suite.cells), default=0)):
        for cell in suite.cells:
            if replicate >= cell.replicates:
                continue
            key = suite.key(cell, replicate)
            last, has_failed = attempts.get(key, (-1, True))
            if last < 0 or (retry_failures and has_failed):
                todo.append((cell, key, last + 1))
    return todo, suite.size - len(todo)
