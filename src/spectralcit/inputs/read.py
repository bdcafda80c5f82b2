"""Read anything array-like or frame-like into a table of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np

from ..errors import (
    DuplicateColumnError,
    EmptyInputError,
    ParameterError,
    SpectralCITError,
    UnknownColumnError,
    UnsupportedTypeError,
    suggestion,
    together,
)
from .columns import Column, column_from_array, column_from_series
from .table import DataTable, listing, repeated

__all__ = ["CensoredTimes", "Selection", "Table", "read", "select_columns"]


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of one role, and the pandas index they came with, if any."""

    role: str
    columns: tuple[Column, ...]
    index: Any = None
    named: bool = True  # whether the columns have names of their own, other than their places in an array

    @property
    def names(self) -> tuple[str, ...]:
        """What people call the columns: their names, or the role in capitals when they have none."""
        return tuple(column.name for column in self.columns) if self.named else (self.role.upper(),)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.columns[0].values)

    def take(self, rows: np.ndarray) -> Table:
        """Return the table restricted to `rows`."""
        return replace(self, columns=tuple(column.take(rows) for column in self.columns), index=None)


@dataclass(frozen=True, eq=False)
class Selection:
    """Columns picked by name out of a frame, not read yet, and all columns of that frame beside them."""

    series: tuple[tuple[str, nw.Series], ...]
    beside: Mapping[str, nw.Series]


@dataclass(frozen=True, eq=False)
class CensoredTimes:
    """A time per row, and whether it ends with the event (1) or is censored (0); not read yet."""

    time: Any
    event: Any


def read(given: Any, role: str) -> Table:
    """Read an array, list, frame, series, `Selection` or `DataTable` into a `Table` of that role."""
    if isinstance(given, DataTable):
        if not given.columns:
            raise EmptyInputError(f"{role} has no columns{_none_hint(role)}")
        picked = given.columns.items()
        return Table(role, tuple(replace(one, where=f"column {name!r} of {role}") for name, one in picked))
    series = given.series if isinstance(given, Selection) else _frame_series(given, role)
    if series is not None:
        columns = _all_of(
            (name, partial(column_from_series, one, name, f"column {name!r} of {role}"))
            for name, one in series
        )
        named = isinstance(given, Selection) or not _is_nameless(given)
        return Table(role, columns, nw.maybe_get_index(series[0][1]), named)
    array = _as_array(given, role)
    if array.ndim == 1:
        return Table(role, (column_from_array(array, role, role),), named=False)
    if array.shape[1] == 0:
        raise EmptyInputError(f"{role} has no columns (shape {array.shape}){_none_hint(role)}")
    names = [f"{role}[{j}]" for j in range(array.shape[1])]
    columns = _all_of(
        (name, partial(column_from_array, array[:, j], name, name)) for j, name in enumerate(names)
    )
    return Table(role, columns, named=False)


def _all_of(readers: Iterable[tuple[str, Callable[[], Column]]]) -> tuple[Column, ...]:
    """Read columns; those that cannot be read are one error together."""
    columns: list[Column] = []
    problems: dict[str, SpectralCITError] = {}
    for name, reader in readers:
        try:
            columns.append(reader())
        except SpectralCITError as error:
            problems[name] = error
    if problems:
        raise together(problems)
    return tuple(columns)


def index_of(given: Any) -> Any:
    """The pandas index of a frame or series, or ``None``."""
    frame = nw.from_native(given, eager_only=True, allow_series=True, pass_through=True)
    return nw.maybe_get_index(frame) if isinstance(frame, nw.Series | nw.DataFrame) else None


def _is_nameless(given: Any) -> bool:
    return not hasattr(given, "columns") and getattr(given, "name", None) in (None, "")


def select_columns(data: Any, x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:
    """Pick columns by name, or lists of names, out of an eager data frame or a `DataTable`.

    A tuple of two names as `y` is a time and its event.
    """
    if isinstance(y, tuple) and len(y) == 2:
        picked_x, time, picked_z = select_columns(data, x, y[0], z)
        return picked_x, CensoredTimes(time, select_columns(data, x, y[1], None)[1]), picked_z
    for role, wanted in (("x", x), ("y", y)):
        if _is_nothing(wanted):
            raise ParameterError(f"{role} must name at least one column of data")
    if isinstance(data, DataTable):
        in_x, in_y, in_z = _names(x, "x"), _names(y, "y"), [] if _is_nothing(z) else _names(z, "z")
        data.pick(dict.fromkeys([*in_x, *in_y, *in_z]))  # so that one error tells all that is wrong
        return data.pick(in_x), data.pick(in_y), data.pick(in_z) if in_z else None
    frame = _to_narwhals(data, "data")
    if not isinstance(frame, nw.DataFrame):
        hint = "call .collect() first" if hasattr(data, "collect") else "give arrays directly as x, y and z"
        raise UnsupportedTypeError(f"data must be an eager data frame, got {type(data).__name__}; {hint}")
    by_name = {str(label): frame.get_column(label) for label in frame.columns}

    def pick(wanted: Any, role: str) -> Selection:
        names = _names(wanted, role)
        for name in names:
            if name not in by_name:
                raise UnknownColumnError(
                    f"{role}: the data frame has no column {name!r}.{suggestion(name, by_name)} "
                    f"Its columns are: {listing(by_name)}"
                )
        if twice := repeated(names):
            raise DuplicateColumnError(f"{role} names the column {twice[0]!r} more than once")
        return Selection(tuple((name, by_name[name]) for name in names), by_name)

    return pick(x, "x"), pick(y, "y"), None if _is_nothing(z) else pick(z, "z")


def _is_nothing(wanted: Any) -> bool:
    return wanted is None or (isinstance(wanted, (list, tuple)) and len(wanted) == 0)


def _names(wanted: Any, role: str) -> list[str]:
    candidates = list(wanted) if isinstance(wanted, (list, tuple)) else [wanted]
    for candidate in candidates:
        if isinstance(candidate, bool) or not isinstance(candidate, (str, int, np.integer)):
            raise ParameterError(
                f"with data=, {role} must be a column name or a list of names, but it holds a "
                f"{type(candidate).__name__}; either name columns of data, or give arrays without data="
            )
    return [str(candidate) for candidate in candidates]


def _none_hint(role: str) -> str:
    return "; pass z=None for an unconditional test" if role == "z" else ""


def _to_narwhals(given: Any, role: str) -> Any:
    try:
        return nw.from_native(given, eager_only=True, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        labels = [str(label) for label in getattr(given, "column_names", getattr(given, "columns", ()))]
        raise DuplicateColumnError(
            f"{role} has several columns called {listing(repeated(labels))}"
        ) from error


def _frame_series(given: Any, role: str) -> tuple[tuple[str, nw.Series], ...] | None:
    """Named series of a frame or series, or None when `given` is neither."""
    frame = _to_narwhals(given, role)
    if isinstance(frame, nw.Series):
        return ((role if frame.name in (None, "") else str(frame.name), frame),)
    if not isinstance(frame, nw.DataFrame):
        return None
    names = [str(label) for label in frame.columns]
    if not names:
        raise EmptyInputError(f"{role} is a data frame without columns{_none_hint(role)}")
    if twice := repeated(names):  # the labels 1 and "1", say
        raise DuplicateColumnError(f"{role} has several columns called {listing(twice)}")
    return tuple(zip(names, frame.iter_columns(), strict=True))


def _as_array(given: Any, role: str) -> np.ndarray:
    if isinstance(given, (str, bytes)):
        raise ParameterError(f"{role} is the text {given!r}; to name a column, give the data frame as data=")
    try:
        if isinstance(given, np.ma.MaskedArray):
            array: np.ndarray = given
        elif isinstance(given, (list, tuple)):
            # As objects: NumPy would otherwise turn [1, "a"], or rows of mixed type, into text.
            array = np.array(given, dtype=object)
        else:
            array = np.asarray(given)
    except Exception as error:
        kind = type(given).__name__
        raise UnsupportedTypeError(f"{role} ({kind}) cannot be read as an array: {error}") from error
    if array.ndim == 0:
        hint = "give an array, a list or a data frame"
        for method in ("collect", "toarray"):  # lazy frames and sparse matrices
            if hasattr(given, method):
                hint = f"call its method {method}() first"
        raise UnsupportedTypeError(f"{role} is a {type(given).__name__}, which is not a table; {hint}")
    if array.ndim > 2:
        raise UnsupportedTypeError(f"{role} has {array.ndim} dimensions; give a 1-d or 2-d array, rows first")
    return array
