"""`read_table`: a table from a path or from standard input, whatever its format."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from ..errors import TableFileError, no_such_file
from ..inputs.table import DataTable
from .arrow import read_arrow
from .excel import read_excel
from .reading import MAX_LEVELS, Reading
from .scales import scales_wanted, with_scales
from .text import read_text

__all__ = ["read_as", "read_table"]

# Endings of names that say what the first bytes of a text cannot.
_SUFFIXES = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xls": "excel",
    ".ods": "excel",
}
# First bytes of files: those that can be read, and those that people mistake for tables.
_MAGIC = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"FEA1", "feather"),
    (b"PK\x03\x04", "excel"),
    (b"\xd0\xcf\x11\xe0", "excel"),
)
_GZIP = b"\x1f\x8b"
_FOREIGN = (
    (b"%PDF", "is a PDF document; a table is needed"),
    (b"\x89PNG", "is a picture; a table is needed"),
)


def read_table(
    source: str | Path,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    decimal: str = "auto",
    sheet: str = "",
    categorical: str = "",
    numeric: str = "",
    ordinal: str = "",
    max_levels: int = MAX_LEVELS,
) -> DataTable:
    r"""Read a table of numbers, booleans and categories; the first line names the columns.

    Columns whose texts are all numbers become numbers, ``true``/``false`` booleans, dates numbers (days since
    1970), everything else categories. Files compressed with gzip are unpacked on the way. An empty cell,
    ``NA``, ``N/A``, ``NaN``, ``null``, ``None`` and ``?`` are missing values. A column that cannot be used,
    such as text with thousands of different values, is an error only when it is asked for.

    Parameters
    ----------
    source
        A path, or ``"-"`` for standard input.
    format
        One of `FORMATS`; found from the suffix and the first bytes when not given.
    delimiter
        Separator of a text table: a character, or ``"comma"``, ``"tab"``, ``"semicolon"``, ``"pipe"`` or
        ``"space"``. Found from the header when not given.
    encoding
        Encoding of a text table; a byte-order mark of UTF-16 is recognised.
    decimal
        Decimal mark of a text table, ``"."`` or ``","``. With ``"auto"`` a comma is recognised in files that
        commas do not separate, where no number has a point; the columns then have a note.
    sheet
        Sheet of an Excel workbook: its name, or its number counted from one; the first when not given.
    categorical, numeric
        Columns to read as categories or as numbers whatever they look like, in the syntax of
        `columns_matching`: ``"stage,site_*"``.
    ordinal
        Columns to read as positions on a scale: ``"grade"`` when the labels are numbered ("grade 1"), else
        with the labels from low to high: ``"pain=low<medium<high"``; several are separated by commas.
    max_levels
        Most levels of a category that get a column of their own; of more, the rarest are taken as one.

    Returns
    -------
    DataTable
        Give it to `ci_test` as ``data=``.

    Raises
    ------
    TableFileError
        When there is no readable table; the message names the line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "patients.csv")
    ...     _ = path.write_text("age,stage,treated\n41,II,true\n?,I,false\n")
    ...     table = read_table(path)
    >>> {name: column.levels for name, column in table.columns.items()}
    {'age': None, 'stage': ('I', 'II'), 'treated': ('False', 'True')}
    """
    return read_as(
        source,
        Reading(format, delimiter, encoding, decimal, sheet, categorical, numeric, ordinal, max_levels),
    )


def read_as(source: str | Path, reading: Reading) -> DataTable:
    """`read_table` with its options in one bundle."""
    if str(source) == "-":
        stream = getattr(sys.stdin, "buffer", None)
        if stream is None:
            raise TableFileError("standard input is not available")
        return _read(stream, "standard input", reading)
    path = Path(source)
    named = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    guess = reading.format or _SUFFIXES.get(named.suffix.lower())
    with _opened(path) as stream:
        return _read(stream, path.name, replace(reading, format=guess))


def _read(raw: BinaryIO, name: str, reading: Reading) -> DataTable:
    table = _as_written(raw, name, reading)
    return with_scales(table, scales_wanted(reading.ordinal, table.names)) if reading.ordinal else table


def _as_written(raw: BinaryIO, name: str, reading: Reading) -> DataTable:
    stream = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)  # type: ignore[type-var]
    start = stream.peek(8)[:8]
    if start.startswith(_GZIP):
        if isinstance(stream.raw, gzip.GzipFile):
            raise TableFileError(f"{name} is compressed twice; unpack it first: gunzip {name}")
        try:
            return _as_written(io.BufferedReader(gzip.GzipFile(fileobj=stream)), name, reading)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise TableFileError(f"{name} is a damaged gzip file: {error}") from error
    known = next((kind for magic, kind in _MAGIC if start.startswith(magic)), None)
    format = known or reading.format
    if reading.sheet and format != "excel":
        raise TableFileError(f"{name} is no Excel workbook and has no sheet {reading.sheet!r}")
    if format == "excel":
        return read_excel(stream, name, reading)
    if format in ("parquet", "feather"):
        return read_arrow(stream, name, replace(reading, format=format))
    for magic, what in _FOREIGN:
        if start.startswith(magic):
            raise TableFileError(f"{name} {what}")
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        reading = replace(reading, encoding="utf-16")
    if reading.delimiter is None and format == "tsv":
        reading = replace(reading, delimiter="tab")
    return read_text(stream, name, reading)


def _opened(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise TableFileError(f"{path} is a folder; give a file in it")
        return path.open("rb")
    except FileNotFoundError as error:
        raise no_such_file(path) from error
    except OSError as error:
        raise TableFileError(f"{path} cannot be opened: {error.strerror or error}") from error
