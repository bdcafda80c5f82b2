"""CSV, TSV and their relatives, with the standard library's parser."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import BinaryIO

from ..errors import EmptyInputError, TableFileError
from ..inputs.table import DataTable
from .header import column_names
from .lines import decoded_lines
from .reading import DELIMITERS, Reading
from .rows import Row, table_of_rows

__all__ = ["read_text"]

_SEPARATOR = re.compile(r"\s*sep=(.)\s*", re.IGNORECASE)  # as Excel has it, in the first line
_GUESSES = ",\t;|"  # from the most frequent in the wild; a space is too frequent inside names


def read_text(stream: BinaryIO, source: str, reading: Reading) -> DataTable:
    """Read a text table whose first line names the columns."""
    lines = decoded_lines(stream, source, reading.encoding)
    opening = list(_until_filled(lines))
    if not opening or not opening[-1].strip():
        raise EmptyInputError(f"{source} is empty")
    first = opening[-1]
    if told := _SEPARATOR.fullmatch(first):  # a line that Excel reads and does not show
        reading = reading if reading.mark else replace(reading, delimiter=told[1])
        opening = [*opening[:-1], "\n", *_until_filled(lines)]
        first = opening[-1]
    # Not given: the mark that splits the header into most parts, the earliest of equals.
    mark = reading.mark or max(_GUESSES, key=lambda guess: _width(first, guess))
    rows = _rows(chain(opening, lines), source, mark)
    header = next(rows)[1]
    if len(header) == 1:
        _check_delimiter(first, source, mark)
    return table_of_rows(column_names(header, source), rows, source, reading, mark)


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


def _rows(lines: Iterator[str], source: str, mark: str) -> Iterator[Row]:
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


def _check_delimiter(line: str, source: str, mark: str) -> None:
    """Complain about a header of one column that another mark would split."""
    other = max(_GUESSES, key=lambda guess: _width(line, guess))
    parts = _width(line, other)
    if parts > 1:
        name = next(key for key, value in DELIMITERS.items() if value == other)
        raise TableFileError(
            f"{source} is one single column when split at {mark!r}, but its header has {parts} parts "
            f"separated by {other!r}: give delimiter={name!r}"
        )
