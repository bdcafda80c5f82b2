"""One row of a screen looked at again: the residuals that a picture of it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from ..inputs.columns import Column
from .batch import Question
from .sources import Source

if TYPE_CHECKING:
    from ..views import LeadingPair

__all__ = ["LookAgain"]


@dataclass(frozen=True, eq=False)
class LookAgain:
    """Reads a column once more and removes Z from it, without the rest of the test."""

    source: Source
    questions: Mapping[str, Question]  # by outcome

    def __call__(self, x: str, y: str) -> LeadingPair | None:
        """Return what the test shows of `x` and `y`; None where it has nothing to show."""
        question, column = self.questions[y], self.source.read([x])[x]
        if not isinstance(column, Column):
            return None
        with threadpool_limits(1):  # as the screen ran
            return question.test.leading_pair(question.prepare(column), question.seed)
