"""Parquet and Feather, with pyarrow."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import narwhals as nw
import numpy as np

from ..errors import (
    DuplicateColumnError,
    EmptyInputError,
    MissingExtraError,
    SpectralCITError,
    TableFileError,
    UnsupportedTypeError,
)
from ..inputs.columns import Column, column_from_array, column_from_series
from ..inputs.table import DataTable, repeated
from .reading import Reading

__all__ = ["ArrowFile", "is_arrow", "read_arrow"]

# First bytes of the files, as their formats have it.
_PARQUET = b"PAR1"
_FEATHER = (b"ARRO", b"FEA1")


def read_arrow(stream: BinaryIO, source: str, reading: Reading) -> DataTable:
    """Read a Parquet or Feather file; a stream that cannot seek is read into memory first."""
    format = reading.format
    try:
        import pyarrow as pa
        from pyarrow import feather, parquet
    except ImportError as error:
        raise MissingExtraError(f"{format} files need pyarrow: pip install 'spectralcit[files]'") from error
    seekable = stream if stream.seekable() else io.BytesIO(stream.read())
    try:
        frame = parquet.read_table(seekable) if format == "parquet" else feather.read_table(seekable)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableFileError(f"{source} cannot be read as {format}: {error}") from error
    names = _checked_names(frame.column_names, frame.num_rows, source)
    return _table(frame, source, reading.wanted(names))


class ArrowFile:
    """A Parquet or Feather file, or a folder of such files, whose columns are read when asked for.

    Examples
    --------
    >>> import tempfile, pathlib, pyarrow as pa
    >>> from pyarrow import parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "study.parquet"
    ...     parquet.write_table(pa.table({"age": [41.0, 52.0], "stage": ["I", "II"]}), path)
    ...     file = ArrowFile(path, Reading())
    ...     file.names, file.read(["stage"]).names
    (('age', 'stage'), ('stage',))
    """

    def __init__(self, path: Path, reading: Reading) -> None:
        try:
            import pyarrow as pa
            from pyarrow import dataset
        except ImportError as error:
            raise MissingExtraError("Parquet files need pyarrow: pip install 'spectralcit[files]'") from error
        self._source = path.name
        format = "feather" if _magic(path) in _FEATHER else "parquet"
        try:
            self._data = dataset.dataset(str(path), format=format)
            rows = self._data.count_rows()
        except (pa.ArrowException, OSError, ValueError) as error:
            raise TableFileError(f"{self._source} cannot be read as {format}: {error}") from error
        self.names = tuple(_checked_names(self._data.schema.names, rows, self._source))
        self._wanted = reading.wanted(list(self.names))

    def read(self, names: Sequence[str]) -> DataTable:
        """Read some columns into memory."""
        import pyarrow as pa

        try:
            frame = self._data.to_table(columns=list(names))
        except (pa.ArrowException, OSError) as error:
            raise TableFileError(f"{self._source}: columns cannot be read: {error}") from error
        return _table(frame, self._source, self._wanted)


def is_arrow(path: Path) -> bool:
    """Tell whether a path holds Parquet or Feather: by its first bytes, or as a folder of Parquet files."""
    if path.is_dir():
        return any(path.rglob("*.parquet"))
    return path.is_file() and (_magic(path) in _FEATHER or _magic(path) == _PARQUET)


def _magic(path: Path) -> bytes:
    if path.is_dir():
        return _PARQUET
    with path.open("rb") as file:
        return file.read(4)


def _checked_names(given: Sequence[object], rows: int, source: str) -> list[str]:
    names = [str(name) for name in given]
    if twice := repeated(names):
        raise DuplicateColumnError(f"{source} has several columns called {twice[0]!r}; rename them")
    if rows == 0 or not names:
        raise EmptyInputError(f"{source} has {len(names)} columns and {rows} rows")
    return names


def _table(frame: Any, source: str, want: dict[str, str]) -> DataTable:
    names = [str(name) for name in frame.column_names]
    columns: dict[str, Column] = {}
    problems: dict[str, SpectralCITError] = {}
    for name, values in zip(names, frame.columns, strict=True):
        try:
            columns[name] = _column(values, name, want.get(name))
        except SpectralCITError as error:
            problems[name] = error
    return DataTable(source, frame.num_rows, columns, problems, tuple(names))


def _column(values: Any, name: str, want: str | None) -> Column:
    where = f"column {name!r}"
    series = nw.from_native(values, series_only=True)
    if want == "categorical" and series.dtype.is_numeric():
        texts = [None if value is None else str(value) for value in series.to_list()]
        return column_from_array(np.array(texts, dtype=object), name, where)
    column = column_from_series(series, name, where)
    if want == "numeric" and column.levels is not None:
        return _numbers(column)
    return column


def _numbers(column: Column) -> Column:
    assert column.levels is not None
    table = []
    for level in column.levels:
        try:
            table.append(float({"False": "0", "True": "1"}.get(level, level)))
        except ValueError as error:
            row = int(np.argmax(column.values == column.levels.index(level)))
            raise UnsupportedTypeError(
                f"{column.where} holds {level!r} in row {row}, which is not a number"
            ) from error
    return Column(column.name, column.where, np.array([*table, np.nan])[column.values])
