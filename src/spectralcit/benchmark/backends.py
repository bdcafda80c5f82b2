"""Where replicates are run: in this process, on the cores of this machine, on a Dask or on a Ray cluster."""

from __future__ import annotations

import contextlib
import functools
import math
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

from ..clusters import CLUSTERS
from ..errors import ParameterError, suggestion
from .bundle import Bundle
from .record import Record, TrialKey
from .runner import Runner
from .sandbox import Limits, leave_with_parent, one_thread, release, run_limited
from .trial import failed

__all__ = ["BACKENDS", "run_on"]

Records = Generator[Record, None, None]


def run_on(jobs: Iterable[Bundle], runner: Runner) -> Records:
    """Run bundles, taken lazily, on the backend of a runner and yield what came of them, in any order."""
    backend = runner.backend
    if backend not in BACKENDS:
        raise ParameterError(
            f"no backend is called {backend!r}.{suggestion(backend, BACKENDS)} "
            f"Backends: {', '.join(BACKENDS)}"
        )
    if runner.address is not None and backend not in CLUSTERS:
        raise ParameterError(f"the backend {backend!r} has no address; only {', '.join(CLUSTERS)} have one")
    return BACKENDS[backend](jobs, runner)


def _serial(jobs: Iterable[Bundle], runner: Runner) -> Records:
    return _one_by_one(jobs, runner.limits)


def _one_by_one(jobs: Iterable[Bundle], limits: Limits) -> Records:
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(1):
            for job in jobs:
                yield from run_limited(job, limits)
    finally:
        release()


def _joblib(jobs: Iterable[Bundle], runner: Runner) -> Records:
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    limits, workers = runner.limits, runner.workers
    in_child = limits if limits.any else Limits(seconds=math.inf)
    if workers == 1:
        yield from _one_by_one(jobs, in_child)
        return
    waiting = iter(jobs)
    under_way: dict[TrialKey, Bundle] = {}

    def dispatched() -> Iterator[Any]:
        for job in waiting:
            under_way[job[0].key] = job
            yield delayed(_in_loky_worker)(job, limits)

    while True:
        pool = Parallel(
            n_jobs=workers, backend="loky", return_as="generator_unordered", pre_dispatch="2*n_jobs"
        )
        try:
            with warnings.catch_warnings():
                # The first use of JAX makes a worker grow; joblib replaces it between two jobs.
                warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
                for results in pool(dispatched()):
                    del under_way[results[0].key]
                    yield from results
            return
        except TerminatedWorkerError:
            # One of those under way killed its worker. Each of them again, where a crash hurts nobody else.
            yield from _one_by_one(list(under_way.values()), in_child)
            under_way.clear()


def _cluster(jobs: Iterable[Bundle], runner: Runner) -> Records:
    answers = CLUSTERS[runner.backend](
        functools.partial(_in_worker, limits=runner.limits),
        jobs,
        workers=runner.workers,
        address=runner.address,
        lost=_lost,
    )
    with contextlib.closing(answers):
        for results in answers:
            yield from results


def _lost(bundle: Bundle, error: Exception) -> list[Record]:
    return [failed(job, f"WorkerError: {type(error).__name__}: {error}") for job in bundle]


@functools.cache
def _hold_threads(thread: int) -> None:
    one_thread()  # OpenMP counts for each thread of a worker by itself


def _in_worker(job: Bundle, limits: Limits) -> list[Record]:
    _hold_threads(threading.get_ident())
    return run_limited(job, limits)


@functools.cache
def _leave_once() -> None:
    leave_with_parent()


def _in_loky_worker(job: Bundle, limits: Limits) -> list[Record]:
    _leave_once()  # the parent may be killed; a cluster's workers, in contrast, outlive a run
    return _in_worker(job, limits)


# The names that `Runner` takes, as the command line lists them.
BACKENDS: dict[str, Callable[[Iterable[Bundle], Runner], Records]] = {
    "serial": _serial,
    "joblib": _joblib,
    **dict.fromkeys(CLUSTERS, _cluster),
}
