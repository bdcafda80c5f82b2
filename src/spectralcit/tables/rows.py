"""From rows of texts, the first of which names the columns, to a table; whatever file they came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

import numpy as np

from ..errors import EmptyInputError, TableFileError
from ..inputs.columns import Column
from ..inputs.numerals import has_decimal_comma, speaks_for_comma, speaks_for_point
from ..inputs.table import DataTable, listing
from .cells import ColumnBuilder
from .reading import Reading

__all__ = ["Row", "table_of_rows"]

Row = tuple[int, list[str]]
"""The number of a line of the file, and its cells."""

_CHUNK = 10_000  # rows; enough to make the cost per chunk small, few enough to keep texts out of memory


def table_of_rows(
    names: list[str], rows: Iterator[Row], source: str, reading: Reading, mark: str, note: str = ""
) -> DataTable:
    """Build the columns called `names` of rows whose cells `mark` separates; a `note` goes to all of them."""
    want = reading.wanted(names)
    first = list(islice(rows, _CHUNK))
    decimal = _decimal_mark(first, mark) if reading.decimal == "auto" else reading.decimal
    builders = [ColumnBuilder(name, want.get(name), decimal, reading.max_levels) for name in names]
    line_numbers = _fill(builders, chain(first, rows), source, mark)
    if not len(line_numbers):
        raise EmptyInputError(f"{source} has a header ({listing(names)}) and no rows below it")
    finished = {builder.name: builder.finish(line_numbers) for builder in builders}
    columns = {name: one for name, one in finished.items() if isinstance(one, Column)}
    if reading.decimal == "auto" and decimal == ",":
        columns = _told_of_commas(names, columns, first, source)
    if note:
        columns = {name: _with_note(column, note) for name, column in columns.items()}
    problems = {name: one for name, one in finished.items() if not isinstance(one, Column)}
    return DataTable(source, len(line_numbers), columns, problems, tuple(names))


def _decimal_mark(rows: Sequence[Row], mark: str) -> str:
    """The decimal mark of a file that commas do not separate: a comma when numbers show it and none a point.

    Where numbers with a comma might have thousands marks, and where a point is seen too, nothing is guessed.
    """
    if mark == ",":
        return "."
    commas = [cell for _, cells in rows for cell in cells if "," in cell]
    if not speaks_for_comma(commas):
        return "."
    return "." if speaks_for_point(cell for _, cells in rows for cell in cells if "." in cell) else ","


def _told_of_commas(
    names: Sequence[str], columns: dict[str, Column], rows: Sequence[Row], source: str
) -> dict[str, Column]:
    """Say of the columns of numbers with a comma how they were read."""
    note = (
        f"numbers of {source} are read with a decimal comma; if commas are thousands marks give decimal='.'"
    )
    shown = {name for k, name in enumerate(names) if any(has_decimal_comma(cells[k]) for _, cells in rows)}
    return {
        name: _with_note(column, note) if column.levels is None and name in shown else column
        for name, column in columns.items()
    }


def _with_note(column: Column, note: str) -> Column:
    return replace(column, notes=(*column.notes, note))


def _fill(builders: list[ColumnBuilder], rows: Iterator[Row], source: str, mark: str) -> np.ndarray:
    """Give every row to the builders; return the line number of each."""
    numbers: list[np.ndarray] = []
    done = 0
    while chunk := list(islice(rows, _CHUNK)):
        for line, cells in chunk:
            if len(cells) != len(builders):
                raise _ragged(line, len(cells), len(builders), source, mark)
        columns = zip(*(cells for _, cells in chunk), strict=True)
        for builder, column in zip(builders, columns, strict=True):
            builder.add(column, done)
        numbers.append(np.fromiter((line for line, _ in chunk), np.int64, len(chunk)))
        done += len(chunk)
    return np.concatenate(numbers) if numbers else np.empty(0, np.int64)


def _ragged(line: int, found: int, expected: int, source: str, mark: str) -> TableFileError:
    hint = ""
    if found == expected + 1:
        hint = f"; perhaps a value holds {mark!r} without quotes, or the header lacks a name for row names"
    return TableFileError(
        f"line {line} of {source} has {found} values, but its header has {expected} names "
        f"(separated by {mark!r}){hint}"
    )
