"""`run_suite`: run what a store does not have yet, and add it row by row."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ..errors import ParameterError
from .backends import Results, run_on
from .memory import can_watch
from .sandbox import Limits
from .spec import Cell, Suite
from .store import Store
from .trial import Result, TrialKey, make_job, trial_key

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
    result: Result | None
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
    suite: Suite,
    store: Store | str | Path,
    *,
    backend: str = "joblib",
    n_jobs: int = 1,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    progress: Callable[[Step], None] | None = None,
    retry_failures: bool = False,
    address: str | None = None,
) -> Summary:
    """Run every replicate of a suite that the store does not have.

    Each result is stored as it comes, by this process alone. Stopped at any moment, the next call goes on
    where this one stopped. P-values depend on the suite only, neither on the backend nor on the number of
    workers.

    Parameters
    ----------
    suite
        What to run.
    store
        Where the results are and go.
    backend
        ``"serial"``, ``"joblib"``, ``"dask"`` or ``"ray"``.
    n_jobs
        Workers on this machine, -1 for one per core.
    time_limit
        Seconds that a replicate may take; a longer one is killed and recorded as a failure.
    memory_limit
        Megabytes that the process of a replicate may hold, likewise (Linux only).
    progress
        Called with a `Step` after each replicate.
    retry_failures
        Run those again whose last attempt failed.
    address
        Of a running Dask scheduler or Ray head.

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
    ...     print(run_suite(suite, path).added, run_suite(suite, path).added)
    4 0
    """
    if not isinstance(store, Store):
        with Store(store) as opened:
            return run_suite(
                suite,
                opened,
                backend=backend,
                n_jobs=n_jobs,
                time_limit=time_limit,
                memory_limit=memory_limit,
                progress=progress,
                retry_failures=retry_failures,
                address=address,
            )
    limits = _limits(time_limit, memory_limit)
    todo, kept = _missing(suite, store.attempts(), retry_failures)
    left: dict[str, int] = dict.fromkeys(suite.tests, 0)
    for cell, _, _ in todo:
        left[cell.test] += 1
    added = failures = 0
    tell = progress or (lambda step: None)
    tell(Step(kept, suite.size, 0, None, dict(left)))
    try:
        with closing(_results(backend, todo, n_jobs, limits, address)) as results:
            for result in results:
                added += store.add([result])
                failures += bool(result.error)
                left[result.key[0]] -= 1
                tell(Step(kept + added, suite.size, failures, result, dict(left)))
    except KeyboardInterrupt:
        return Summary(kept, added, failures, interrupted=True)
    return Summary(kept, added, failures)


def _results(
    backend: str,
    todo: list[tuple[Cell, TrialKey, int]],
    n_jobs: int,
    limits: Limits,
    address: str | None,
) -> Results:
    jobs = (make_job(cell, key, attempt) for cell, key, attempt in todo)
    found = run_on(backend, jobs, n_jobs=n_jobs, limits=limits, address=address)
    if todo:  # a cluster is not started for nothing
        yield from found


def _missing(
    suite: Suite, attempts: dict[TrialKey, tuple[int, bool]], retry_failures: bool
) -> tuple[list[tuple[Cell, TrialKey, int]], int]:
    """Replicates to run and the number of those that are there.

    All cells advance together, so that a run that is stopped early leaves a whole table.
    """
    todo: list[tuple[Cell, TrialKey, int]] = []
    for replicate in range(max((cell.replicates for cell in suite.cells), default=0)):
        for cell in suite.cells:
            if replicate >= cell.replicates:
                continue
            key = trial_key(suite, cell, replicate)
            last, has_failed = attempts.get(key, (-1, True))
            if last < 0 or (retry_failures and has_failed):
                todo.append((cell, key, last + 1))
    return todo, suite.size - len(todo)


def _limits(time_limit: float | None, memory_limit: float | None) -> Limits:
    for name, value in (("time_limit", time_limit), ("memory_limit", memory_limit)):
        if value is not None and not value > 0:
            raise ParameterError(f"{name} must be positive, got {value!r}")
    if memory_limit is not None and not can_watch():
        raise ParameterError("memory_limit needs /proc, which this system does not have; leave it out")
    return Limits(time_limit, memory_limit)
