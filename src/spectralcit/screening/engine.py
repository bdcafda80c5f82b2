"""The batches of a screen: what is read, tested and stored at once, wherever workers are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from threadpoolctl import threadpool_limits

from ..inputs.columns import Column
from ..numeric.digest import column_digest, digest
from .batch import Question, evaluate
from .rows import ScreenRow
from .sources import Read

__all__ = ["Batch", "evaluated"]


@dataclass(frozen=True, eq=False)
class Batch:
    """Columns that are read, tested and stored together."""

    place: tuple[int, int]  # of the outcome, and of the first column
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


def evaluated(batch: Batch) -> list[ScreenRow]:
    """Return the rows of a batch, on one thread: another number of them may add up in another order."""
    with threadpool_limits(1):
        return evaluate(batch.question, batch.columns)
