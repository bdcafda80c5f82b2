"""The two containers that every test works on: a block of encoded columns, and the three blocks together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..question import Question
from .design import RowDesign

if TYPE_CHECKING:
    from .read import Table

__all__ = ["Block", "CIData", "Kind"]

Kind = Literal["continuous", "discrete", "indicator"]


@dataclass(frozen=True, eq=False)
class Block:
    """Encoded columns of one of the roles ``x``, ``y`` or ``z``; one entry of each tuple per encoded column.

    Parameters
    ----------
    values
        Finite float64 array of shape (n, p), not standardised.
    names
        Name of each column; an indicator of level ``b`` of column ``a`` is called ``a[b]``.
    kinds
        ``"indicator"``: a 0/1 column of a categorical, text or boolean source, or a numeric source with two
        distinct values (which are kept). ``"discrete"``: a numeric source with at most 10 distinct values and
        at least five rows per distinct value on average. ``"continuous"``: the rest.
    groups
        Index of the source column; the indicators of one categorical column share it.
    event
        Of a block that holds one column of times, some of them censored: which rows end with the event.
        ``None`` otherwise.

    Examples
    --------
    >>> block = Block(np.eye(3), ("a", "b[u]", "b[v]"), ("continuous", "indicator", "indicator"), (0, 1, 1))
    >>> block.n_columns, block.subset([0, 2]).values.shape
    (3, (2, 3))
    """

    values: np.ndarray
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    groups: tuple[int, ...]
    event: np.ndarray | None = None

    @property
    def n_columns(self) -> int:
        """Number of encoded columns."""
        return self.values.shape[1]

    @property
    def censoring(self) -> dict[str, float]:
        """How many of the times are events, and the share of the others; empty without censoring."""
        if self.event is None:
            return {}
        return {"n_events": int(self.event.sum()), "share_censored": float(1.0 - self.event.mean())}

    def subset(self, rows: Any) -> Block:
        """Return the block restricted to `rows`.

        Parameters
        ----------
        rows
            Indices, a mask or a slice.
        """
        event = None if self.event is None else self.event[rows]
        return replace(self, values=self.values[rows], event=event)


@dataclass(frozen=True, eq=False)
class CIData:
    """Checked and encoded inputs of one test.

    Parameters
    ----------
    x, y, z
        The blocks; ``z`` is ``None`` for an unconditional test.
    n
        Number of rows.
    n_dropped
        Rows deleted because of missing values.
    notes
        Sentences about what was done to the data; they end up among the warnings of the result.
    design
        Which rows belong together and how much each counts; ``None`` for independent rows that count alike.
    incomplete
        With ``missing="impute"``, the source columns with their gaps; the blocks then hold stand-ins, and
        `BaseCITest.run` draws the missing cells anew for every completion it tests.
    question
        What the columns are called.
    """

    x: Block
    y: Block
    z: Block | None
    n: int
    n_dropped: int
    notes: tuple[str, ...]
    design: RowDesign | None = None
    incomplete: tuple[Table, ...] | None = None
    question: Question | None = None

    @property
    def nbytes(self) -> int:
        """Memory of the blocks, in bytes."""
        return sum(block.values.nbytes for block in (self.x, self.y, self.z) if block is not None)

    def subset(self, rows: Any) -> CIData:
        """Return the data restricted to `rows`.

        Parameters
        ----------
        rows
            Indices, a mask or a slice.
        """
        x, z = self.x.subset(rows), None if self.z is None else self.z.subset(rows)
        design = None if self.design is None else self.design.subset(rows)
        gaps = None if self.incomplete is None else tuple(table.take(rows) for table in self.incomplete)
        n = len(x.values)
        return replace(self, x=x, y=self.y.subset(rows), z=z, n=n, design=design, incomplete=gaps)
