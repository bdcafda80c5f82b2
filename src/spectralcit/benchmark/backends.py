"""Where replicates are run: in this process, on the cores of this machine, on a Dask or on a Ray cluster."""

from __future__ import annotations

import functools
import math
import os
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import Any

from ..errors import MissingExtraError, ParameterError, suggestion
from .sandbox import Limits, leave_with_parent, one_thread, release, run_job
from .trial import Job, Result, TrialKey, failed

__all__ = ["BACKENDS", "run_on"]

Results = Generator[Result, None, None]

_IN_FLIGHT = 4  # jobs per worker that a cluster holds at once: enough to be busy, few enough to stop soon


def run_on(
    backend: str,
    jobs: Iterable[Job],
    *,
    n_jobs: int = 1,
    limits: Limits | None = None,
    address: str | None = None,
) -> Results:
    """Run jobs on a backend and yield the results as they come, in any order.

    Parameters
    ----------
    backend
        ``"serial"`` (this process: a test that kills its process ends the run), ``"joblib"`` (processes of
        this machine), ``"dask"`` or ``"ray"``.
    jobs
        What to run; taken lazily.
    n_jobs
        Workers on this machine, -1 for one per core. Not used with an address, nor with a running cluster.
    limits
        What each job may use.
    address
        Of a running Dask scheduler or Ray head. Without one the client or connection of this process is used,
        and without that a cluster is started on this machine for the run.
    """
    if backend not in BACKENDS:
        raise ParameterError(
            f"no backend is called {backend!r}.{suggestion(backend, BACKENDS)} "
            f"Backends: {', '.join(BACKENDS)}"
        )
    if address is not None and backend not in ("dask", "ray"):
        raise ParameterError(f"the backend {backend!r} has no address; only dask and ray do")
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or (n_jobs < 1 and n_jobs != -1):
        raise ParameterError(f"n_jobs must be a positive integer or -1, got {n_jobs!r}")
    workers = (os.cpu_count() or 1) if n_jobs == -1 else n_jobs
    return BACKENDS[backend](jobs, workers, limits or Limits(), address)


def _serial(jobs: Iterable[Job], workers: int, limits: Limits, address: str | None) -> Results:
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(1):
            for job in jobs:
                yield run_job(job, limits)
    finally:
        release()


def _joblib(jobs: Iterable[Job], workers: int, limits: Limits, address: str | None) -> Results:
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    in_child = limits if limits.any else Limits(seconds=math.inf)
    if workers == 1:
        yield from _serial(jobs, workers, in_child, address)
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
            yield from _serial(list(under_way.values()), 1, in_child, None)
            under_way.clear()


def _dask(jobs: Iterable[Job], workers: int, limits: Limits, address: str | None) -> Results:
    try:
        from distributed import Client, LocalCluster, as_completed, get_client
    except ImportError as error:
        raise MissingExtraError("the backend 'dask' needs dask: pip install 'spectralcit[dask]'") from error
    own: list[Any] = []
    try:
        if address is not None:
            own.append(client := Client(address))
        else:
            try:
                client = get_client()
            except ValueError:  # there is none
                own.append(
                    cluster := LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
                )
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


def _ray(jobs: Iterable[Job], workers: int, limits: Limits, address: str | None) -> Results:
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("the backend 'ray' needs ray: pip install 'spectralcit[ray]'") from error
    own = not ray.is_initialized()
    if own:
        settings: dict[str, Any] = {"address": address} if address else {"num_cpus": workers}
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


def _collected(get: Callable[[], Any], job: Job) -> Result:
    # The job itself never raises: what is raised here is a worker that died, or a job that could not travel.
    try:
        return get()
    except Exception as error:
        return failed(job, f"WorkerError: {type(error).__name__}: {error}")


@functools.cache
def _hold_threads(thread: int) -> None:
    one_thread()  # OpenMP counts for each thread of a worker by itself


def _in_worker(job: Job, limits: Limits) -> Result:
    _hold_threads(threading.get_ident())
    return run_job(job, limits)


@functools.cache
def _leave_once() -> None:
    leave_with_parent()


def _in_loky_worker(job: Job, limits: Limits) -> Result:
    _leave_once()  # the parent may be killed; a cluster's workers, in contrast, outlive a run
    return _in_worker(job, limits)


BACKENDS: dict[str, Callable[[Iterable[Job], int, Limits, str | None], Results]] = {
    "serial": _serial,
    "joblib": _joblib,
    "dask": _dask,
    "ray": _ray,
}
