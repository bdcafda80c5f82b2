"""Where the columns of a screen come from; they are read a few at a time, so a table may exceed memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import narwhals as nw

from ..errors import SpectralCITError, UnsupportedTypeError
from ..inputs import DataTable
from ..inputs.columns import Column, column_from_series
from ..tables.arrow import ArrowFile, is_arrow
from ..tables.read import read_as
from ..tables.reading import Reading

__all__ = ["Read", "Source", "open_source"]

Read = dict[str, Column | SpectralCITError]


class Source(Protocol):
    """A table whose columns can be read by name."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, in order."""
        ...

    def read(self, names: Sequence[str]) -> Read:
        """Read some columns; one that cannot be used comes as the error that says why."""
        ...

    def pick(self, name: str) -> Any:
        """Read one column as `prepare` takes it; dates too, where the table knows them."""
        ...


class _Table:
    """A table in memory."""

    def __init__(self, table: DataTable) -> None:
        self._table = table
        self.names = table.names

    def read(self, names: Sequence[str]) -> Read:
        columns, problems = self._table.columns, self._table.problems
        return {name: problems[name] if name in problems else columns[name] for name in names}

    def pick(self, name: str) -> Any:
        return self._table.pick(name)


class _Frame:
    """A frame, eager or lazy; a lazy one is collected for the columns in demand."""

    def __init__(self, frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> None:
        self._frame = frame
        labels = frame.collect_schema().names()
        self._labels = {str(label): label for label in labels}
        self.names = tuple(self._labels)

    def read(self, names: Sequence[str]) -> Read:
        chosen = self._frame.select(*(self._labels[name] for name in names))
        frame = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
        return {name: _column(frame.get_column(self._labels[name]), name) for name in names}

    def pick(self, name: str) -> Any:
        chosen = self._frame.select(self._labels[name])
        frame = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
        return frame.get_column(self._labels[name]).to_native()


def _column(series: nw.Series[Any], name: str) -> Column | SpectralCITError:
    try:
        return column_from_series(series, name, f"column {name!r}")
    except SpectralCITError as error:
        return error


class _Arrow:
    """Parquet or Feather on disk, one file or a folder of them."""

    def __init__(self, file: ArrowFile) -> None:
        self._file = file
        self.names = file.names

    def read(self, names: Sequence[str]) -> Read:
        return _Table(self._file.read(names)).read(names)

    def pick(self, name: str) -> Any:
        return self._file.read([name]).pick(name)


def open_source(data: Any, reading: Reading | None = None) -> Source:
    """Open a path, a `DataTable`, or a frame, eager or lazy, that narwhals knows."""
    if isinstance(data, (str, Path)):
        if data != "-" and is_arrow(Path(data)):
            return _Arrow(ArrowFile(Path(data), reading or Reading()))
        return _Table(read_as(str(data), reading or Reading()))
    if isinstance(data, DataTable):
        return _Table(data)
    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        return _Frame(frame)
    raise UnsupportedTypeError(
        f"data must be a data frame, a table or the path of one, got {type(data).__name__}; give an array "
        "names first, for instance pandas.DataFrame(array, columns=...)"
    )
