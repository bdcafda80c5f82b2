"""Many tests given one Z: what a test may do once for all of them, and a quick look at many columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .inputs import Block
    from .result import CITestResult

__all__ = ["QuickAnswer", "SharedConditioning"]


@dataclass(frozen=True)
class QuickAnswer:
    """What a quick look at one column says; the whole test has the last word on whatever is small here."""

    pvalue: float
    alarming: bool  # whether something with a small share of the p-value is surprising by itself
    effect: float  # on the scale of the whole test's effect size
    interval: tuple[float, float]  # of the effect, at 95 %
    partial_correlation: float
    block_pvalues: Mapping[str, float]  # by the names that the whole test uses


class SharedConditioning:
    """Tests of one kind given one Z, which is decomposed once; see `BaseCITest.share`.

    Variables are named by their keys. A `Block` may be given in place of a key: it is expanded for this
    question and not kept, so that memory does not grow with the number of questions.
    """

    @abstractmethod
    def pvalue(self, x: Any, y: Any) -> float:
        """P-value of the variables `x` and `y`, bit for bit that of a test on its own."""
        raise NotImplementedError(f"{type(self).__name__} must implement pvalue(x, y)")

    @abstractmethod
    def result(self, x: Any, y: Any, notes: tuple[str, ...] = ()) -> CITestResult:
        """Everything that the test tells of `x` and `y`, with remarks on the data among its warnings."""
        raise NotImplementedError(f"{type(self).__name__} must implement result(x, y)")

    def quick(self, columns: Sequence[Block], y: Any) -> list[QuickAnswer | None]:
        """Look at many columns at once, by matrix products; ``None`` for one that needs the whole test.

        Parameters
        ----------
        columns
            Prepared variables, of the same rows as all others.
        y
            The key of the variable that they are tested with.
        """
        return [None] * len(columns)
