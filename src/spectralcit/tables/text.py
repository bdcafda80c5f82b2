"""CSV, TSV and their relatives, with the standard library's parser."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain, islice, pairwise
from typing import BinaryIO

import numpy as np

from ..errors import DuplicateColumnError, EmptyInputError, TableFileError
from ..inputs.columns import Column
from ..inputs.table import DataTable, listing, repeated
from .cells import ColumnBuilder
from .lines import decoded_lines
from .reading import DELIMITERS, Reading

__all__ = ["read_text"]

_GUESSES = ",\t;|"  # from the most frequent in the wild; a space is too frequent inside names
_CHUNK = 10_000  # rows; enough to make the cost per chunk small, few enough to keep texts out of memory


def read_text(stream: BinaryIO, source: str, reading: Reading) -> DataTable:
    """Read a text table whose first line names the columns."""
    lines = decoded_lines(stream, source, reading.encoding)
    opening = list(_until_filled(lines))
    if not opening or not opening[-1].strip():
        raise EmptyInputError(f"{source} is empty")
    first = opening[-1]
    # Not given: the mark that splits the header into most parts, the earliest of equals.
    mark = reading.mark or max(_GUESSES, key=lambda guess: _width(first, guess))
    rows = _rows(chain(opening, lines), source, mark)
    names = _header(next(rows)[1], source, first, mark)
    want = reading.wanted(names)
    builders = [ColumnBuilder(name, want.get(name), reading.decimal) for name in names]
    line_numbers = _fill(builders, rows, source, mark)
    if not len(line_numbers):
        raise EmptyInputError(f"{source} has a header ({listing(names)}) and no rows below it")
    finished = {builder.name: builder.finish(line_numbers) for builder in builders}
    return DataTable(
        source,
        len(line_numbers),
        {name: one for name, one in finished.items() if isinstance(one, Column)},
        {name: one for name, one in finished.items() if not isinstance(one, Column)},
        tuple(names),
        {builder.name: builder.note for builder in builders if builder.note},
    )


def _until_filled(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines up to and including the first that is not blank."""
    for line in lines:
        yield line
        if line.strip():
            return


def _width(line: str, mark: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=mark, skipinitialspace=mark != "\t")))
    except (csv.Error, StopIteration):
        return 1


def _rows(lines: Iterator[str], source: str, mark: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of each row that is not blank."""
    reader = csv.reader(lines, delimiter=mark, strict=True, skipinitialspace=mark != "\t")
    start = 1
    try:
        for cells in reader:
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        reason = str(error)
        if "field larger" in reason or "unexpected end" in reason:
            reason = "a quotation mark is opened and not closed"
        elif "new-line character" in reason:
            reason = "a carriage return inside a line; save the file with LF or CRLF line ends"
        raise TableFileError(f"{source}, line {start}: {reason}") from error


def _header(cells: list[str], source: str, line: str, mark: str) -> list[str]:
    names = [cell.strip() or f"unnamed_{position}" for position, cell in enumerate(cells, start=1)]
    if len(names) == 1:
        other = max(_GUESSES, key=lambda guess: _width(line, guess))
        parts = _width(line, other)
        if parts > 1:
            name = next(key for key, value in DELIMITERS.items() if value == other)
            raise TableFileError(
                f"{source} is one single column when split at {mark!r}, but its header has {parts} parts "
                f"separated by {other!r}: give delimiter={name!r}"
            )
    if _is_data(names):
        raise TableFileError(
            f"the first line of {source} holds numbers ({listing(names, 4)}), not names: add a header line"
        )
    if twice := repeated(names):
        places = [str(position) for position, name in enumerate(names, start=1) if name == twice[0]]
        raise DuplicateColumnError(
            f"{source} has {len(places)} columns called {twice[0]!r} (number {' and '.join(places)}); "
            "rename them"
        )
    return names


def _is_data(names: list[str]) -> bool:
    """Tell a row of data from names; whole numbers that ascend, 0, 1, 2, ..., may be names."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    ascending = all(a < b for a, b in pairwise(numbers))
    return not (ascending and all(name.isdigit() for name in names))


def _fill(
    builders: list[ColumnBuilder], rows: Iterator[tuple[int, list[str]]], source: str, mark: str
) -> np.ndarray:
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
