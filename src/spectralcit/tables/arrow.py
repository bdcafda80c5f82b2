"""Parquet and Feather, with pyarrow."""

from __future__ import annotations

import io
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

__all__ = ["read_arrow"]


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
    names = [str(name) for name in frame.column_names]
    if twice := repeated(names):
        raise DuplicateColumnError(f"{source} has several columns called {twice[0]!r}; rename them")
    if frame.num_rows == 0 or not names:
        raise EmptyInputError(f"{source} has {len(names)} columns and {frame.num_rows} rows")
    want = reading.wanted(names)
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
