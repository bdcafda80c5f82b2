"""Checks on the columns that were read; each failed check has its own error class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import (
    ConstantColumnError,
    EmptyInputError,
    InfiniteValuesError,
    LengthMismatchError,
    OverlappingColumnsError,
    SpectralCITError,
    TooFewRowsError,
    together,
)
from ..numeric.digest import column_digest
from ..numeric.standardize import CONSTANT_TOLERANCE
from .columns import Column
from .data import Block
from .encode import levels_problem
from .read import Table, index_of

__all__ = [
    "check_infinite",
    "check_lengths",
    "check_overlap",
    "check_rows",
    "check_usable",
    "constant_problem",
    "index_note",
    "is_constant",
]


def check_lengths(tables: Sequence[Table]) -> None:
    """Raise unless all tables have the same, positive, number of rows."""
    for table in tables:
        if table.n == 0:
            raise EmptyInputError(f"{table.role} has no rows")
    if len({table.n for table in tables}) > 1:
        lengths = ", ".join(f"{table.role} has {table.n}" for table in tables)
        raise LengthMismatchError(f"x, y and z must have one row per observation each, but {lengths} rows")


def index_note(tables: Sequence[Table], rows: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """A note when pandas inputs carry different indexes, for rows are matched by position.

    Parameters
    ----------
    tables
        What was read.
    rows
        What was said about rows, by argument; not read yet.
    """
    indexes = {table.role: table.index for table in tables}
    indexes |= {name: index_of(given) for name, given in (rows or {}).items()}
    indexed = [(role, index) for role, index in indexes.items() if index is not None]
    for other, second in indexed[1:]:
        here, first = indexed[0]
        if first.equals(second):
            continue
        roles = f"{here} and {other}"
        if not _same_labels(first, second):
            return (f"{roles} have different pandas indexes; rows were matched by position, not by index",)
        row = int(np.argmax(np.asarray(first != second)))
        return (
            f"{roles} have the same pandas index in another order, and rows were matched by position, not by "
            f"index: row {row} is {first[row]!r} in {here} and {second[row]!r} in {other}; "
            "to match them by index give .loc[index] of one to the other",
        )
    return ()


def _same_labels(first: Any, second: Any) -> bool:
    try:
        return first.sort_values().equals(second.sort_values())
    except TypeError:  # labels of several types have no order
        return False


def check_infinite(tables: Sequence[Table]) -> None:
    """Raise when numeric columns hold an infinite value; the error names all of them."""
    problems: dict[str, SpectralCITError] = {}
    for column in (column for table in tables for column in table.columns if column.levels is None):
        infinite = np.isinf(column.values)
        if infinite.any():
            problems[column.where] = InfiniteValuesError(
                f"{column.where} has {infinite.sum()} infinite value(s), the first in "
                f"{column.place(int(np.argmax(infinite)))}; remove or replace them"
            )
    if problems:
        raise together(problems)


def check_rows(n: int, min_rows: int, n_dropped: int) -> None:
    """Raise when fewer than `min_rows` rows are left."""
    if n < min_rows:
        after = f" after {n_dropped} row(s) with missing values were dropped" if n_dropped else ""
        raise TooFewRowsError(f"the test needs at least {min_rows} rows, got {n}{after}")


def check_usable(tables: Sequence[Table]) -> None:
    """Raise when columns are constant or have too many categories; the error names all of them."""
    problems: dict[str, SpectralCITError] = {}
    for table in tables:
        for column in table.columns:
            problem = constant_problem(column) or levels_problem(column, table.role)
            if problem is not None:
                problems[column.where] = problem
    if problems:
        raise together(problems)


def constant_problem(column: Column) -> SpectralCITError | None:
    """The error about a column that holds a single value, up to floating-point rounding."""
    if not is_constant(column):
        return None
    first = column.values[0]
    value = f"{first:g}" if column.levels is None else repr(column.levels[first])
    return ConstantColumnError(
        f"{column.where} is constant (every row is {value}, up to rounding); leave it out"
    )


def is_constant(column: Column) -> bool:
    """Tell whether a column holds a single value, up to floating-point rounding."""
    low, high = column.values.min(), column.values.max()
    if column.levels is not None:
        return bool(low == high)
    with np.errstate(over="ignore"):  # a range beyond the largest float is infinite, hence not constant
        spread = high - low
    return bool(spread <= CONSTANT_TOLERANCE * max(abs(low), abs(high)))


def check_overlap(first: Block, second: Block, roles: tuple[str, str]) -> None:
    """Raise when a source column of one block is also in the other.

    Columns are compared by their encoded values, whatever their names and types: a source column overlaps
    when each of its encoded columns is equal, bit for bit, to one of the other block.
    """
    for one, other, (here, there) in ((first, second, roles), (second, first, roles[::-1])):
        known = {column_digest(other.values[:, j]): other.names[j] for j in range(other.n_columns)}
        sources: dict[int, list[int]] = {}
        for j, group in enumerate(one.groups):
            sources.setdefault(group, []).append(j)
        for members in sources.values():
            twins = [known.get(column_digest(one.values[:, j])) for j in members]
            if all(twin is not None for twin in twins):
                advice = "the two are trivially dependent"
                if "z" in roles:
                    advice = f"what is conditioned on cannot be tested; remove it from {here} or {there}"
                raise OverlappingColumnsError(
                    f"column {one.names[members[0]]!r} of {here} and column {twins[0]!r} of {there} "
                    f"hold the same values: {advice}"
                )
