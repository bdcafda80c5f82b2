"""Who runs the batches of a screen: this process, several, a cluster; what a dead worker had is run again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from ..clusters import CLUSTERS
from ..errors import ParameterError, suggestion
from ..inputs.columns import Column
from ..numeric.digest import column_digest, digest
from .batch import Question, evaluate
from .rows import ScreenRow
from .sources import Read

__all__ = ["BACKENDS", "Batch", "check_backend", "computed"]

Place = tuple[int, int]

BACKENDS = ("joblib", *CLUSTERS)  # the words that `screen` takes


@dataclass(frozen=True, eq=False)
class Batch:
    """Columns that are read, tested and stored together."""

    place: Place  # of the outcome, and of the first column
    question: Question
    columns: Read

    @cached_property
    def key(self) -> str:
        """Digest of everything that decides the answers."""
        parts = (
            digest(name.encode(), column_digest(one.values, one.levels))
            if isinstance(one, Column)
            else digest(name.encode(), str(one).encode())
            for name, one in self.columns.items()
        )
        return digest(self.question.key, *parts).hex()


def check_backend(backend: str, address: str | None) -> None:
    """Raise when no backend has this name, or the one that has it takes no address."""
    if backend not in BACKENDS:
        raise ParameterError(
            f"no backend is called {backend!r}.{suggestion(backend, BACKENDS)} "
            f"Backends: {', '.join(BACKENDS)}"
        )
    if address is not None and backend not in CLUSTERS:
        raise ParameterError(f"the backend {backend!r} has no address; only dask and ray do")


def computed(
    batches: Iterable[Batch], n_jobs: int, backend: str = "joblib", address: str | None = None
) -> Iterator[tuple[Batch, list[ScreenRow]]]:
    """Run batches, taken lazily, and yield them with their rows, in any order."""
    if backend == "joblib" and effective_n_jobs(n_jobs) == 1:
        for batch in batches:
            yield batch, _evaluated(batch)
        return
    under_way: dict[Place, Batch] = {}

    def noted() -> Iterator[Batch]:
        for batch in batches:
            under_way[batch.place] = batch
            yield batch

    if backend == "joblib":
        answers = _in_processes(noted(), n_jobs, under_way)
    else:
        answers = CLUSTERS[backend](
            _placed,
            noted(),
            workers=effective_n_jobs(n_jobs),
            address=address,
            lost=lambda batch, _: _placed(batch),  # here, where it cannot get lost
        )
    for place, rows in answers:
        yield under_way.pop(place), rows


def _in_processes(
    batches: Iterator[Batch], n_jobs: int, under_way: Mapping[Place, Batch]
) -> Iterator[tuple[Place, list[ScreenRow]]]:
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    while True:
        pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
        try:
            yield from pool(delayed(_placed)(batch) for batch in batches)
            return
        except TerminatedWorkerError:
            # A worker was killed, perhaps for want of memory: what was under way again, here, one by one.
            yield from map(_placed, list(under_way.values()))


def _placed(batch: Batch) -> tuple[Place, list[ScreenRow]]:
    return batch.place, _evaluated(batch)


def _evaluated(batch: Batch) -> list[ScreenRow]:
    # One thread whatever the number of processes: another number of threads may add up in another order.
    with threadpool_limits(1):
        return evaluate(batch.question, batch.columns)
