"""Where replicates are run: in this process, on the cores of this machine, on a Dask or on a Ray cluster."""

from __future__ import annotations

import functools
import math
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import Any

from ..errors import MissingExtraError, ParameterError, suggestion
from .record import Record, TrialKey
from .runner import Runner
from .sandbox import Limits, leave_with_parent, one_thread, release, run_job
from .trial import Job, failed

__all__ = ["BACKENDS", "run_on"]

Records = Generator[Record, None, None]

_IN_FLIGHT = 4  # jobs per worker that a cluster holds at once: enough to be busy, few enough to stop soon


def run_on(jobs: Iterable[Job], runner: Runner) -> Records:
    """Run jobs, taken lazily, on the backend of a runner and yield what came of them, in any order."""
    backend = runner.backend
    if backend not in BACKENDS:
        raise ParameterError(
            f"no backend is called {backend!r}.{suggestion(backend, BACKENDS)} "
            f"Backends: {', '.join(BACKENDS)}"
        )
    if runner.address is not None and backend not in ("dask", "ray"):
        raise ParameterError(f"the backend {backend!r} has no address; only dask and ray do")
    return BACKENDS[backend](jobs, runner)


def _serial(jobs: Iterable[Job], runner: Runner) -> Records:
    return _one_by_one(jobs, runner.limits)


def _one_by_one(jobs: Iterable[Job], limits: Limits) -> Records:
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(1):
            for job in jobs:
                yield run_job(job, limits)
    finally:
        release()


def _joblib(jobs: Iterable[Job], runner: Runner) -> Records:
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    limits, workers = runner.limits, runner.workers
    in_child = limits if limits.any else Limits(seconds=math.inf)
    if workers == 1:
        yield from _one_by_one(jobs, in_child)
        return
    waiting = iter(jobs)
    under_way: dict[TrialKey, Job] = {}

    def dispatched() -> Iterator[Any]:
        for job in waiting:
            under_way[job.key] = job
            yield delayed(_in_loky_worker)(job, limits)

    while True:
        pool = Parallel(
            n_jobs=workers, backend="loky", return_as="generator_unordered", pre_dispatch="2*n_jobs"
        )
        try:
            with warnings.catch_warnings():
                # The first use of JAX makes a worker grow; joblib replaces it between two jobs.
                warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
                for result in pool(dispatched()):
                    del under_way[result.key]
                    yield result
            return
        except TerminatedWorkerError:
            # One of those under way killed its worker. Each of them again, where a crash hurts nobody else.
            yield from _one_by_one(list(under_way.values()), in_child)
            under_way.clear()


def _dask(jobs: Iterable[Job], runner: Runner) -> Records:
    try:
        from distributed import Client, LocalCluster, as_completed, get_client
    except ImportError as error:
        raise MissingExtraError("the backend 'dask' needs dask: pip install 'spectralcit[dask]'") from error
    own: list[Any] = []
    limits = runner.limits
    try:
        if runner.address is not None:
            own.append(client := Client(runner.address))
        else:
            try:
                client = get_client()
            except ValueError:  # there is none
                cluster = LocalCluster(n_workers=runner.workers, threads_per_worker=1, dashboard_address=None)
                own.append(cluster)
                own.append(client := Client(cluster))
        waiting = iter(jobs)
        slots = _IN_FLIGHT * max(1, sum(client.nthreads().values()))
        pending: dict[Any, Job] = {}

        def submit(count: int) -> list[Any]:
            new = {client.submit(_in_worker, job, limits, pure=False): job for job in islice(waiting, count)}
            pending.update(new)
            return list(new)

        finished = as_completed(submit(slots))
        for future in finished:
            yield _collected(future.result, pending.pop(future))
            for new in submit(1):
                finished.add(new)
    finally:
        for thing in reversed(own):
            thing.close()


def _ray(jobs: Iterable[Job], runner: Runner) -> Records:
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("the backend 'ray' needs ray: pip install 'spectralcit[ray]'") from error
    address, limits = runner.address, runner.limits
    own = not ray.is_initialized()
    if own:
        settings: dict[str, Any] = {"address": address} if address else {"num_cpus": runner.workers}
        ray.init(**settings, include_dashboard=None if address else False, log_to_driver=False)
    try:
        remote = ray.remote(max_retries=0)(_in_worker)
        waiting = iter(jobs)
        slots = _IN_FLIGHT * max(1, int(ray.cluster_resources().get("CPU", 1)))
        pending = {remote.remote(job, limits): job for job in islice(waiting, slots)}
        while pending:
            (ready,), _ = ray.wait(list(pending), num_returns=1)
            yield _collected(functools.partial(ray.get, ready), pending.pop(ready))
            pending.update({remote.remote(job, limits): job for job in islice(waiting, 1)})
    finally:
        if own:
            ray.shutdown()


def _collected(get: Callable[[], Any], job: Job) -> Record:
    # The job itself never raises: what is raised here is a worker that died, or a job that could not travel.
    try:
        return get()
    except Exception as error:
        return failed(job, f"WorkerError: {type(error).__name__}: {error}")


@functools.cache
def _hold_threads(thread: int) -> None:
    one_thread()  # OpenMP counts for each thread of a worker by itself


def _in_worker(job: Job, limits: Limits) -> Record:
    _hold_threads(threading.get_ident())
    return run_job(job, limits)


@functools.cache
def _leave_once() -> None:
    leave_with_parent()


def _in_loky_worker(job: Job, limits: Limits) -> Record:
    _leave_once()  # the parent may be killed; a cluster's workers, in contrast, outlive a run
    return _in_worker(job, limits)


# The names that `Runner` takes, as the command line lists them.
BACKENDS: dict[str, Callable[[Iterable[Job], Runner], Records]] = {
    "serial": _serial,
    "joblib": _joblib,
    "dask": _dask,
    "ray": _ray,
}
