"""Many questions at once: what a test may do once for all of them, and a quick look at many columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from .inputs import Block, CIData, RowDesign
    from .result import CITestResult

__all__ = ["ManyProblems", "QuickAnswer", "SharedConditioning"]


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


class ManyProblems:
    """What a test may offer to those who have many questions; here nothing, each is run by itself."""

    # Parameters that matter after all that takes time: `restate` answers for other values of them.
    late_parameters: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def run(self, data: CIData, seed: int | None = None) -> CITestResult:
        """Test prepared data; see `BaseCITest.run`."""
        raise NotImplementedError(f"{type(self).__name__} must implement run(data, seed)")

    def share(
        self, blocks: Mapping[Any, Block], z: Block | None, *, seed: int, design: RowDesign | None = None
    ) -> SharedConditioning | None:
        """Prepare many tests given one Z, when this test can share what it computes of Z.

        Parameters
        ----------
        blocks, z
            The variables, under any keys: prepared columns of equal length. What all are conditioned on.
        seed, design
            The seed of all these tests; how their rows belong together, and how much each counts.

        Returns
        -------
        SharedConditioning or None
            None when nothing can be shared; then each question is a test of its own.
        """
        return None

    @property
    def together(self) -> int:
        """How many problems of one shape `run_batch` likes to have at once; 1 when nothing is gained."""
        return 1

    def batches(self, datas: Sequence[CIData]) -> list[list[int]]:
        """Say which of many problems to run together, when that is quicker than one by one.

        Parameters
        ----------
        datas
            From `prepare`.

        Returns
        -------
        list of list of int
            Positions of the problems of each batch. One that comes again is there to fill up its batch, and
            its first result counts.
        """
        return [[k] for k in range(len(datas))]

    def run_batch(
        self, datas: Sequence[CIData], seeds: Sequence[int], labels: Sequence[str]
    ) -> list[CITestResult]:
        """Test the problems of one batch.

        Parameters
        ----------
        datas, seeds
            As in `run`, one of each per problem.
        labels
            Names of the problems, for error messages.

        Returns
        -------
        list of CITestResult
            In the order of the problems.
        """
        return [self.run(data, seed) for data, seed in zip(datas, seeds, strict=True)]

    def restate(self, result: CITestResult) -> CITestResult:
        """Answer from the `result` of a test that differs from this one in `late_parameters` alone."""
        raise NotImplementedError(f"{type(self).__name__} has no late parameters")
