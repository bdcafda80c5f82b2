"""Read anything array-like or frame-like into a list of columns with a name and a missing-value mark.

The container does not matter: the same values give the same columns whether they come as a list, a NumPy array, a
pandas or a polars frame.
"""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np

from ..errors import (
    DuplicateColumnError,
    EmptyInputError,
    ParameterError,
    UnknownColumnError,
    UnsupportedTypeError,
    suggestion,
)

__all__ = ["Column", "Selection", "Table", "read", "select_columns"]

_DATES = "dates and times are not supported; convert them to numbers, for instance days since the first one"
_COMPLEX = "complex numbers are not supported; give real and imaginary part as two columns"


@dataclass(frozen=True)
class Column:
    """One source column.

    Parameters
    ----------
    name
        The frame's name for it, or ``x[2]`` for the third column of an array given as ``x``.
    where
        How error messages call it.
    values
        float64 with NaN for missing, or, for a categorical column, integer codes with -1 for missing.
    levels
        Sorted labels of a categorical column; ``None`` for a numeric one.
    """

    name: str
    where: str
    values: np.ndarray
    levels: tuple[str, ...] | None = None

    @property
    def missing(self) -> np.ndarray:
        """Mask of the missing entries."""
        return np.isnan(self.values) if self.levels is None else self.values < 0

    def take(self, rows: np.ndarray) -> Column:
        """Return the column restricted to `rows`."""
        return replace(self, values=self.values[rows])


@dataclass(frozen=True)
class Table:
    """The columns of one role, and the pandas index they came with, if any."""

    role: str
    columns: tuple[Column, ...]
    index: Any = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.columns[0].values)

    def take(self, rows: np.ndarray) -> Table:
        """Return the table restricted to `rows`."""
        return Table(self.role, tuple(column.take(rows) for column in self.columns))


@dataclass(frozen=True)
class Selection:
    """Columns picked by name out of a frame, not read yet."""

    series: tuple[tuple[str, nw.Series], ...]


def read(given: Any, role: str) -> Table:
    """Read `given` into a `Table`.

    Parameters
    ----------
    given
        Array, list, frame, series or `Selection`.
    role
        ``"x"``, ``"y"`` or ``"z"``; used in names and messages.
    """
    series = given.series if isinstance(given, Selection) else _frame_series(given, role)
    if series is not None:
        return _read_series(series, role)
    array = _as_array(given, role)
    if array.ndim == 1:
        return Table(role, (_from_array(array, role, role),))
    names = [f"{role}[{j}]" for j in range(array.shape[1])]
    if not names:
        raise EmptyInputError(f"{role} has no columns (shape {array.shape}){_none_hint(role)}")
    return Table(role, tuple(_from_array(array[:, j], name, name) for j, name in enumerate(names)))


def select_columns(data: Any, x: Any, y: Any, z: Any) -> tuple[Selection, Selection, Selection | None]:
    """Pick the columns called `x`, `y` and `z` out of the frame `data`.

    Parameters
    ----------
    data
        A pandas, polars or other eager data frame.
    x, y, z
        A column name or a sequence of names; `z` may be ``None`` or empty.
    """
    frame = _to_narwhals(data, "data")
    if not isinstance(frame, nw.DataFrame):
        raise UnsupportedTypeError(
            f"data must be a data frame (pandas, polars, pyarrow ...), got {type(data).__name__}; "
            "give arrays directly as x, y and z"
        )
    by_name = {str(label): frame.get_column(label) for label in frame.columns}

    def pick(wanted: Any, role: str) -> Selection:
        series = []
        for name in _names(wanted, role):
            if name not in by_name:
                raise UnknownColumnError(
                    f"{role}: the data frame has no column {name!r}.{suggestion(name, by_name)} "
                    f"Its columns are: {_listing(by_name)}"
                )
            if any(name == chosen for chosen, _ in series):
                raise DuplicateColumnError(f"{role} names the column {name!r} twice")
            series.append((name, by_name[name]))
        return Selection(tuple(series))

    for role, wanted in (("x", x), ("y", y)):
        if wanted is None or (isinstance(wanted, (list, tuple)) and not wanted):
            raise ParameterError(f"{role} must name at least one column of data")
    unconditional = z is None or (isinstance(z, (list, tuple)) and not z)
    return pick(x, "x"), pick(y, "y"), None if unconditional else pick(z, "z")


def _names(wanted: Any, role: str) -> list[str]:
    candidates = list(wanted) if isinstance(wanted, (list, tuple)) else [wanted]
    for candidate in candidates:
        if isinstance(candidate, bool) or not isinstance(candidate, (str, int, np.integer)):
            raise ParameterError(
                f"with data=, {role} must be a column name or a list of names, got {type(wanted).__name__}"
                f"{' of ' + type(candidate).__name__ if candidate is not wanted else ''}; "
                "either name columns of data, or give arrays without data="
            )
    return [str(candidate) for candidate in candidates]


def _listing(names: Iterable[str], limit: int = 12) -> str:
    shown = [repr(name) for name in names]
    return ", ".join(shown[:limit]) + (f", ... ({len(shown)} in all)" if len(shown) > limit else "")


def _none_hint(role: str) -> str:
    return "; pass z=None for an unconditional test" if role == "z" else ""


# --- frames and series -------------------------------------------------------------------------------------


def _to_narwhals(given: Any, role: str) -> Any:
    try:
        return nw.from_native(given, eager_only=True, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        labels = [str(label) for label in getattr(given, "column_names", getattr(given, "columns", ()))]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        raise DuplicateColumnError(f"{role} has several columns called {_listing(twice)}; rename them") from error


def _frame_series(given: Any, role: str) -> tuple[tuple[str, nw.Series], ...] | None:
    """Return the named series of a frame or series, or ``None`` when `given` is neither."""
    frame = _to_narwhals(given, role)
    if isinstance(frame, nw.Series):
        return ((str(role if frame.name in (None, "") else frame.name), frame),)
    if not isinstance(frame, nw.DataFrame):
        return None
    names = [str(label) for label in frame.columns]
    if not names:
        raise EmptyInputError(f"{role} is a data frame without columns{_none_hint(role)}")
    for name in names:
        if names.count(name) > 1:
            raise DuplicateColumnError(f"{role} has several columns called {name!r}; rename them")
    return tuple(zip(names, frame.iter_columns(), strict=True))


def _read_series(series: Sequence[tuple[str, nw.Series]], role: str) -> Table:
    columns = tuple(_from_series(one, name, f"column {name!r} of {role}") for name, one in series)
    return Table(role, columns, index=nw.maybe_get_index(series[0][1]))


def _from_series(series: nw.Series, name: str, where: str) -> Column:
    dtype = series.dtype
    if dtype.is_numeric():
        return Column(name, where, np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64))
    if dtype.is_temporal():
        raise UnsupportedTypeError(f"{where} has type {dtype}: {_DATES}")
    declared = isinstance(dtype, (nw.Categorical, nw.Enum))
    return _from_objects(series.to_list(), name, where, categorical=declared)


# --- arrays and lists --------------------------------------------------------------------------------------


def _as_array(given: Any, role: str) -> np.ndarray:
    if isinstance(given, (str, bytes)):
        raise ParameterError(f"{role} is the text {given!r}; to name a column, give the data frame as data=")
    try:
        # Lists become objects first: NumPy would turn [1, "a"] into text, and rows of mixed type likewise.
        array = np.array(given, dtype=object) if isinstance(given, (list, tuple)) else np.asanyarray(given)
    except Exception as error:
        raise UnsupportedTypeError(f"{role} ({type(given).__name__}) cannot be read as an array: {error}") from error
    if array.ndim == 0:
        hint = "call .collect() first" if hasattr(given, "collect") else "give an array, a list or a data frame"
        hint = "call .toarray() first" if hasattr(given, "toarray") else hint
        raise UnsupportedTypeError(f"{role} is a {type(given).__name__}, which is not a table; {hint}")
    if array.ndim > 2:
        raise UnsupportedTypeError(f"{role} has {array.ndim} dimensions; give one row per observation (1-d or 2-d)")
    return array


def _from_array(array: np.ndarray, name: str, where: str) -> Column:
    kind = array.dtype.kind
    if kind in "iufb" and isinstance(array, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(array)
        column = _from_array(np.asarray(array.data), name, where)
        return replace(column, values=np.where(hidden, np.nan if kind != "b" else -1, column.values))
    if kind in "iuf":
        with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite and is reported as such
            return Column(name, where, np.array(array, dtype=np.float64))
    if kind == "b":
        return Column(name, where, np.asarray(array).astype(np.int64), ("False", "True"))
    if kind == "c":
        raise UnsupportedTypeError(f"{where} has type {array.dtype}: {_COMPLEX}")
    if kind in "mM":
        raise UnsupportedTypeError(f"{where} has type {array.dtype}: {_DATES}")
    if kind == "V":
        raise UnsupportedTypeError(f"{where} is a structured array; give one plain column per field")
    if isinstance(array, np.ma.MaskedArray):
        return _from_objects([None if value is np.ma.masked else value for value in array], name, where)
    return _from_objects(array.tolist(), name, where)


# --- Python objects ----------------------------------------------------------------------------------------


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return isinstance(value, Decimal) and value.is_nan()


def _from_objects(values: Sequence[Any], name: str, where: str, *, categorical: bool = False) -> Column:
    """Read a column of Python objects: all numbers, all text or all booleans, with missing entries anywhere."""
    missing = [_is_missing(value) for value in values]
    present = [value for value, gone in zip(values, missing, strict=True) if not gone]
    if not present:
        return Column(name, where, np.full(len(values), np.nan))
    if categorical or all(isinstance(value, (bool, np.bool_, str)) for value in present):
        kinds = {"text" if isinstance(value, str) else "booleans" for value in present}
        if len(kinds) > 1 and not categorical:
            raise UnsupportedTypeError(f"{where} mixes text and booleans; make it all text or all booleans")
        return _categorical([None if gone else v for v, gone in zip(values, missing, strict=True)], name, where)
    out = np.full(len(values), np.nan)
    for row, (value, gone) in enumerate(zip(values, missing, strict=True)):
        if not gone:
            out[row] = _to_float(value, where, row, has_text=any(isinstance(v, str) for v in present))
    return Column(name, where, out)


def _to_float(value: Any, where: str, row: int, *, has_text: bool) -> float:
    if isinstance(value, (numbers.Real, np.bool_, Decimal)):
        if has_text:
            raise UnsupportedTypeError(
                f"{where} mixes text and numbers (row {row} holds the number {value!r}); "
                "make it all numbers, or all text to have it treated as categories"
            )
        try:
            return float(value)
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    if isinstance(value, str):
        raise UnsupportedTypeError(
            f"{where} mixes text and other values (row {row} holds {value!r}); "
            "make it all numbers, or all text to have it treated as categories"
        )
    hint = "values must be numbers, text or booleans"
    if isinstance(value, (complex, np.complexfloating)):
        hint = _COMPLEX
    elif hasattr(value, "year") or type(value).__name__ in ("timedelta", "Timedelta", "datetime64", "timedelta64"):
        hint = _DATES
    elif isinstance(value, (list, tuple, np.ndarray)):
        hint = "rows must all have the same length"
    raise UnsupportedTypeError(f"{where} holds a {type(value).__name__} in row {row}: {hint}")


def _categorical(values: Sequence[Hashable | None], name: str, where: str) -> Column:
    labels = {value: str(value) for value in set(values) - {None}}
    if len(set(labels.values())) < len(labels):  # the categories 1 and "1", say
        labels = {value: repr(value) for value in labels}
    levels = tuple(sorted(labels.values()))
    code_of = {value: levels.index(label) for value, label in labels.items()}
    codes = np.array([-1 if value is None else code_of[value] for value in values], dtype=np.int64)
    return Column(name, where, codes, levels)
