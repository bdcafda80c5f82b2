"""A function over many items on a cluster of Dask, Ray or Spark: a few per worker at once, in any order.

What a worker returns is yielded; for an item whose worker died, or that could not travel, the caller says
what comes of it.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from itertools import islice
from typing import Any, TypeVar

from .errors import MissingExtraError

__all__ = ["CLUSTERS", "connected"]

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_IN_FLIGHT = 4  # items per worker that a cluster holds at once: enough to be busy, few enough to stop soon


@contextmanager
def dask_client(workers: int, address: str | None) -> Iterator[Any]:
    """A client of the scheduler at `address`, the one there is, or one of a cluster of our own."""
    try:
        from distributed import Client, LocalCluster, get_client
    except ImportError as error:
        raise MissingExtraError("the backend 'dask' needs dask: pip install 'spectralcit[dask]'") from error
    with ExitStack() as own:
        if address is not None:
            yield own.enter_context(Client(address))
            return
        try:
            client = get_client()
        except ValueError:  # there is none
            # Any free port: that of another cluster of this machine would be a warning.
            cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0")
            client = own.enter_context(Client(own.enter_context(cluster)))
        yield client


@contextmanager
def ray_connection(workers: int, address: str | None) -> Iterator[Any]:
    """Ray at the head at `address`, the one there is, or one of our own."""
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("the backend 'ray' needs ray: pip install 'spectralcit[ray]'") from error
    own = not ray.is_initialized()
    if own:
        settings: dict[str, Any] = {"address": address} if address else {"num_cpus": workers}
        ray.init(**settings, include_dashboard=None if address else False, log_to_driver=False)
    try:
        yield ray
    finally:
        if own:
            ray.shutdown()


@contextmanager
def spark_context(workers: int, address: str | None) -> Iterator[Any]:
    """The context of the master at `address`, of the session there is, or of one of our own."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtraError(
            "the backend 'spark' needs pyspark and Java: pip install 'spectralcit[spark]'"
        ) from error
    session = SparkSession.getActiveSession()
    if session is not None:
        yield session.sparkContext
        return
    if address is None:  # workers of this machine are to be of this interpreter, with its packages
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{workers}]" if address is None else address)
    session = builder.appName("spectralcit").config("spark.ui.enabled", "false").getOrCreate()
    try:
        session.sparkContext.setLogLevel("OFF")  # what is lost is done again, and needs no stack of Java
        yield session.sparkContext
    finally:
        session.stop()


def on_dask(
    work: Callable[[Item], Answer],
    items: Iterable[Item],
    *,
    workers: int,
    address: str | None,
    lost: Callable[[Item, Exception], Answer],
) -> Generator[Answer, None, None]:
    """Run on Dask."""
    with dask_client(workers, address) as client:
        from distributed import as_completed

        waiting = iter(items)
        slots = _IN_FLIGHT * max(1, sum(client.nthreads().values()))
        pending: dict[Any, Item] = {}

        def submit(count: int) -> list[Any]:
            new = {client.submit(work, item, pure=False): item for item in islice(waiting, count)}
            pending.update(new)
            return list(new)

        finished = as_completed(submit(slots))
        for future in finished:
            yield _collected(future.result, pending.pop(future), lost)
            for new in submit(1):
                finished.add(new)


def on_ray(
    work: Callable[[Item], Answer],
    items: Iterable[Item],
    *,
    workers: int,
    address: str | None,
    lost: Callable[[Item, Exception], Answer],
) -> Generator[Answer, None, None]:
    """Run on Ray."""
    with ray_connection(workers, address) as ray:
        remote: Any = ray.remote(max_retries=0)(_called)
        waiting = iter(items)
        slots = _IN_FLIGHT * max(1, int(ray.cluster_resources().get("CPU", 1)))
        pending = {remote.remote(work, item): item for item in islice(waiting, slots)}
        while pending:
            (ready,), _ = ray.wait(list(pending), num_returns=1)
            yield _collected(functools.partial(ray.get, ready), pending.pop(ready), lost)
            pending.update({remote.remote(work, item): item for item in islice(waiting, 1)})


def on_spark(
    work: Callable[[Item], Answer],
    items: Iterable[Item],
    *,
    workers: int,
    address: str | None,
    lost: Callable[[Item, Exception], Answer],
) -> Generator[Answer, None, None]:
    """Run on Spark, in waves: it plans a whole job at a time."""
    with spark_context(workers, address) as context:
        waiting, slots = iter(items), _IN_FLIGHT * max(1, context.defaultParallelism)
        while wave := list(islice(waiting, slots)):
            try:
                answers = context.parallelize(wave, len(wave)).map(work).collect()
            except Exception as error:
                answers = [lost(item, error) for item in wave]
            yield from answers


def _called(work: Callable[[Item], Answer], item: Item) -> Answer:
    return work(item)


def _collected(get: Callable[[], Any], item: Item, lost: Callable[[Item, Exception], Answer]) -> Answer:
    # The work itself never raises: what is raised here is a worker that died, or an item that cannot travel.
    try:
        return get()
    except Exception as error:
        return lost(item, error)


# By the names that people give.
CLUSTERS = {"dask": on_dask, "ray": on_ray, "spark": on_spark}
# What keeps each of them open.
_CONNECTIONS = {"dask": dask_client, "ray": ray_connection, "spark": spark_context}


def connected(backend: str, workers: int, address: str | None) -> AbstractContextManager[Any]:
    """Keep one connection for several calls, which then find it without an address; none for joblib."""
    return _CONNECTIONS[backend](workers, address) if backend in _CONNECTIONS else nullcontext()
