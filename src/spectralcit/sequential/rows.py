"""Batches of rows, joined column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import UnsupportedTypeError
from ..inputs import DataTable
from ..inputs.columns import Column
from ..inputs.read import Table

__all__ = ["as_data_table", "joined"]


def joined(before: Sequence[Table], batch: Sequence[Table]) -> list[Table]:
    """Append the rows of a batch to those of earlier ones; columns go by their position."""
    return [
        Table(old.role, tuple(_longer(a, b) for a, b in zip(old.columns, new.columns, strict=True)))
        for old, new in zip(before, batch, strict=True)
    ]


def _longer(old: Column, new: Column) -> Column:
    if (old.levels is None) != (new.levels is None):
        kinds = ["numbers" if column.levels is None else "categories" for column in (old, new)]
        raise UnsupportedTypeError(f"{new.where} held {kinds[0]} in earlier batches and holds {kinds[1]} now")
    if old.levels is None or new.levels is None:
        return replace(old, values=np.concatenate([old.values, new.values]), lines=None)
    levels = tuple(sorted({*old.levels, *new.levels}))
    codes = [
        np.array([levels.index(level) for level in each.levels or ()])[each.values] for each in (old, new)
    ]
    return replace(old, values=np.concatenate(codes), levels=levels, lines=None)


def as_data_table(table: Table) -> DataTable:
    """Return the columns in the form that `prepare` reads."""
    return DataTable(table.role, table.n, {column.name: column for column in table.columns})
