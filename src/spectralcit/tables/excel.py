"""Workbooks of Excel and LibreOffice, with python-calamine: one sheet is one table."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator
from typing import Any, BinaryIO

from ..errors import EmptyInputError, MissingExtraError, TableFileError, suggestion
from ..inputs.table import DataTable, listing
from .header import column_names
from .reading import Reading
from .rows import Row, table_of_rows

__all__ = ["read_excel"]


def read_excel(stream: BinaryIO, source: str, reading: Reading) -> DataTable:
    """Read the sheet that `reading` names, or else the first; its first filled row names the columns.

    Cells go through the rules of text tables, so that a column is what it would be in a CSV export.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError
    except ImportError as error:
        raise MissingExtraError(
            "Excel files need python-calamine: pip install 'spectralcit[excel]'"
        ) from error
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(stream.read()))
        name = _chosen(book.sheet_names, source, reading.sheet)
        cells = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except PasswordError as error:
        raise TableFileError(f"{source} is protected by a password; save it without one") from error
    except CalamineError as error:
        raise TableFileError(f"{source} cannot be read as an Excel workbook: {error}") from error
    where = f"sheet {name!r} of {source}"
    rows = _rows(cells)
    header = next(rows, None)
    if header is None:
        raise EmptyInputError(f"{where} is empty")
    note = ""
    if not reading.sheet and len(book.sheet_names) > 1:
        others = listing([other for other in book.sheet_names if other != name], 4)
        note = f"the first sheet of {source}, {name!r}, was read; for another give sheet= ({others})"
    return table_of_rows(column_names(header[1], where), rows, where, reading, "\t", note)


def _chosen(names: list[str], source: str, wanted: str) -> str:
    """The sheet with that name, or with that number counted from one."""
    if not names:
        raise EmptyInputError(f"{source} has no sheets")
    if not wanted:
        return names[0]
    if wanted in names:
        return wanted
    if wanted.isdigit() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    raise TableFileError(
        f"{source} has no sheet {wanted!r}.{suggestion(wanted, names)} Its sheets are: {listing(names)}"
    )


def _rows(cells: list[list[Any]]) -> Iterator[Row]:
    """Yield number and texts of each row that is not blank, without columns that are blank all the way."""
    used = [k for k, column in enumerate(zip(*cells, strict=True)) if any(value != "" for value in column)]
    for number, row in enumerate(cells, start=1):
        texts = [_text(row[k]) for k in used]
        if any(texts):
            yield number, texts


def _text(value: Any) -> str:
    """A cell as it would be in a CSV export: whole numbers without a point, dates with the year first."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, datetime.timedelta):
        return repr(value / datetime.timedelta(days=1))
    if isinstance(value, datetime.date):  # and datetimes
        return value.isoformat()
    return str(value)
