"""A function over many items, here, in processes or on a cluster; what dead workers had is done again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs

from .clusters import CLUSTERS
from .errors import ParameterError, suggestion

__all__ = ["BACKENDS", "check_backend", "done"]

Item = TypeVar("Item")
Answer = TypeVar("Answer")

BACKENDS = ("joblib", *CLUSTERS)  # the words that users give


def check_backend(backend: str, address: str | None) -> None:
    """Raise when no backend has this name, or the one that has it takes no address."""
    if backend not in BACKENDS:
        raise ParameterError(
            f"no backend is called {backend!r}.{suggestion(backend, BACKENDS)} "
            f"Backends: {', '.join(BACKENDS)}"
        )
    if address is not None and backend not in CLUSTERS:
        raise ParameterError(f"the backend {backend!r} has no address; only {', '.join(CLUSTERS)} have one")


def done(
    work: Callable[[Item], Answer],
    items: Iterable[Item],
    *,
    n_jobs: int | None = 1,
    backend: str = "joblib",
    address: str | None = None,
    threads: bool = False,
) -> Iterator[tuple[Item, Answer]]:
    """Take items lazily and yield them with their answers, in any order.

    What `work` raises is raised here. It must be importable where workers are, and `threads` says that
    threads of this process serve as well as processes.

    Examples
    --------
    >>> list(done(abs, [-1, 2]))
    [(-1, 1), (2, 2)]
    """
    workers = effective_n_jobs(n_jobs)
    if backend == "joblib" and workers == 1:
        for item in items:
            yield item, work(item)
        return
    under_way: dict[int, Item] = {}

    def numbered() -> Iterator[tuple[int, Item]]:
        for number, item in enumerate(items):
            under_way[number] = item
            yield number, item

    one = _Numbered(work)
    answers: Iterator[tuple[int, Answer]]
    if backend == "joblib":
        answers = _in_processes(one, numbered(), workers, threads, under_way)
    else:
        answers = CLUSTERS[backend](
            one,
            numbered(),
            workers=workers,
            address=address,
            lost=lambda pair, _: one(pair),  # here, where it cannot get lost
        )
    for number, answer in answers:
        yield under_way.pop(number), answer


class _Numbered:
    """Hands the number of an item on with its answer; a class, so that it can travel."""

    def __init__(self, work: Callable) -> None:
        self._work = work

    def __call__(self, pair: tuple[int, Item]) -> tuple[int, Answer]:
        return pair[0], self._work(pair[1])


def _in_processes(
    one: _Numbered,
    pairs: Iterator[tuple[int, Item]],
    workers: int,
    threads: bool,
    under_way: Mapping[int, Item],
) -> Iterator[tuple[int, Answer]]:
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    while True:
        pool = Parallel(
            n_jobs=workers,
            return_as="generator_unordered",
            pre_dispatch="2*n_jobs",
            backend="threading" if threads else None,
        )
        try:
            yield from pool(delayed(one)(pair) for pair in pairs)
            return
        except TerminatedWorkerError:
            # A worker was killed, perhaps for want of memory: what was under way again, here, one by one.
            yield from map(one, list(under_way.items()))
