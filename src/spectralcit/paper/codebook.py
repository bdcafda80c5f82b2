"""How the columns of one role were encoded, so that new rows get the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..inputs.check import check_infinite
from ..inputs.data import Block
from ..inputs.missing import handle_missing
from ..inputs.read import Table, read

__all__ = ["Codebook"]

# Beyond this size `prepare` divides a column by a power of two that it does not report, so the same numbers
# could not be found again for new rows.
_EXTREME = 1e100


@dataclass(frozen=True)
class Codebook:
    """Of `n_sources` columns given as x, y or z: source and level (None for numbers) of each encoded one.

    Examples
    --------
    >>> book = Codebook("z", 1, ((0, "a"), (0, "b"), (0, "c")))
    >>> book.encode(["c", "a"])
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """

    role: str
    n_sources: int
    entries: tuple[tuple[int, str | None], ...]

    @classmethod
    def of(cls, given: Any, block: Block, role: str) -> Codebook:
        """Record how what the user passed as `role` became the block that `prepare` made of it."""
        table = read(given, role)
        _refuse_extreme(table)
        entries: list[tuple[int, str | None]] = []
        for name, source in zip(block.names, block.groups, strict=True):
            column = table.columns[source]
            # `encode` calls the indicator of level b of column a "a[b]".
            level = None if column.levels is None else name[len(column.name) + 1 : -1]
            entries.append((source, level))
        return cls(role, len(table.columns), tuple(entries))

    def encode(self, given: Any) -> np.ndarray:
        """Encode new rows, with the columns of the training data in their order, as float64 (n, p)."""
        table = read(given, self.role)
        if len(table.columns) != self.n_sources:
            raise InputError(
                f"{self.role} has {len(table.columns)} columns, but the features were learned from"
                f" {self.n_sources}; give the same columns in the same order"
            )
        check_infinite([table])
        handle_missing([table], "raise")
        _refuse_extreme(table)
        return np.column_stack([self._encode_entry(table, source, level) for source, level in self.entries])

    def _encode_entry(self, table: Table, source: int, level: str | None) -> np.ndarray:
        column = table.columns[source]
        if (column.levels is None) != (level is None):
            was, now = ("numbers", "categories") if level is None else ("categories", "numbers")
            raise InputError(f"{column.where} holds {now}, but the features were learned from {was}")
        if column.levels is None or level is None:
            return column.values
        # A level that was never seen indicates none of the known ones: all zeros, as one-hot coding says.
        code = column.levels.index(level) if level in column.levels else -1
        return (column.values == code).astype(np.float64)


def _refuse_extreme(table: Table) -> None:
    for column in table.columns:
        if column.levels is None and np.nanmax(np.abs(column.values), initial=0.0) > _EXTREME:
            raise InputError(
                f"{column.where} has values beyond {_EXTREME:g}; rescale it before learning features"
            )
