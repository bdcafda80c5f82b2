"""`read_table`: a table from a path or from standard input, whatever its format."""

from __future__ import annotations

import codecs
import io
import sys
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from ..errors import TableFileError, no_such_file
from ..inputs.table import DataTable
from .arrow import read_arrow
from .reading import Reading
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
}
# First bytes of files: those that can be read, and those that people mistake for tables.
_MAGIC = ((b"PAR1", "parquet"), (b"ARROW1", "feather"), (b"FEA1", "feather"))
_FOREIGN = (
    (b"\x1f\x8b", "is compressed with gzip; unpack it first: gunzip FILE"),
    (b"PK\x03\x04", "is a zip archive or an Excel workbook; export the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "is an old Excel workbook; export the sheet as CSV"),
    (b"%PDF", "is a PDF document; a table is needed"),
    (b"\x89PNG", "is a picture; a table is needed"),
    (codecs.BOM_UTF16_LE, "is text in UTF-16: give encoding='utf-16'"),
    (codecs.BOM_UTF16_BE, "is text in UTF-16: give encoding='utf-16'"),
)


def read_table(
    source: str | Path,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
    categorical: str = "",
    numeric: str = "",
    ordinal: str = "",
) -> DataTable:
    r"""Read a table of numbers, booleans and categories; the first line names the columns.

    Columns whose texts are all numbers become numbers, ``true``/``false`` booleans, everything else
    categories. An empty cell, ``NA``, ``N/A``, ``NaN``, ``null``, ``None`` and ``?`` are missing values. A
    column that cannot be used, such as text with thousands of different values, is an error only when it
    is asked for.

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
        Encoding of a text table.
    decimal
        Decimal mark of a text table, ``"."`` or ``","``.
    categorical, numeric
        Columns to read as categories or as numbers whatever they look like, in the syntax of
        `columns_matching`: ``"stage,site_*"``.
    ordinal
        Columns to read as positions on a scale: ``"grade"`` when the labels are numbered ("grade 1"), else
        with the labels from low to high: ``"pain=low<medium<high"``; several are separated by commas.

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
    return read_as(source, Reading(format, delimiter, encoding, decimal, categorical, numeric, ordinal))


def read_as(source: str | Path, reading: Reading) -> DataTable:
    """`read_table` with its options in one bundle."""
    if str(source) == "-":
        stream = getattr(sys.stdin, "buffer", None)
        if stream is None:
            raise TableFileError("standard input is not available")
        return _read(stream, "standard input", reading)
    path = Path(source)
    guess = reading.format or _SUFFIXES.get(path.suffix.lower())
    with _opened(path) as stream:
        return _read(stream, path.name, replace(reading, format=guess))


def _read(raw: BinaryIO, name: str, reading: Reading) -> DataTable:
    table = _as_written(raw, name, reading)
    return with_scales(table, scales_wanted(reading.ordinal, table.names)) if reading.ordinal else table


def _as_written(raw: BinaryIO, name: str, reading: Reading) -> DataTable:
    stream = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)  # type: ignore[type-var]
    start = stream.peek(8)[:8]
    known = next((kind for magic, kind in _MAGIC if start.startswith(magic)), None)
    if known or reading.format in ("parquet", "feather"):
        return read_arrow(stream, name, replace(reading, format=known or reading.format))
    for magic, what in _FOREIGN:
        if start.startswith(magic) and not reading.encoding.lower().startswith(("utf-16", "utf16")):
            raise TableFileError(f"{name} {what}")
    if reading.delimiter is None and reading.format == "tsv":
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
