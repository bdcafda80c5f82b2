"""One source column: numbers with NaN for missing, or categories with a code for missing.

The container does not matter: the same values give the same column whether they come from a list, a NumPy
array, a pandas or a polars series.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np

from ..errors import UnsupportedTypeError
from .dates import days_of_array, days_of_objects, days_of_series

__all__ = ["Column", "column_from_array", "column_from_series"]

# What to do instead, said in several places.
_TIMES = "times of day and periods are not supported; convert them to numbers, for instance hours"
_COMPLEX = "complex numbers are not supported; give real and imaginary part as two columns"
_ONE_TYPE = "make it all numbers, or all text to have it treated as categories"


@dataclass(frozen=True, eq=False)
class Column:
    """One source column."""

    name: str  # the frame's, or ``x[2]`` for the third column of an array given as ``x``
    where: str  # how error messages call it
    values: np.ndarray  # float64 with NaN for missing, or codes of categories with -1 for missing
    levels: tuple[str, ...] | None = None  # sorted labels of categories; None for numbers
    lines: np.ndarray | None = None  # line of the file that each value was read from, if there is a file
    scale: tuple[str, ...] | None = None  # labels of the numbers 0, 1, 2, ... of an ordinal scale
    notes: tuple[str, ...] = ()  # what was guessed when the column was read, for the user
    max_levels: int | None = None  # most categories, where the user wants another number than the usual

    @property
    def missing(self) -> np.ndarray:
        """Mask of the missing entries."""
        return np.isnan(self.values) if self.levels is None else self.values < 0

    def take(self, rows: np.ndarray) -> Column:
        """Return the column restricted to `rows`."""
        return replace(self, values=self.values[rows], lines=None if self.lines is None else self.lines[rows])

    def on_scale(self, order: Sequence[str]) -> Column:
        """Return a column of categories as numbers: the position of each label in `order`."""
        assert self.levels is not None
        position = {label: float(k) for k, label in enumerate(order)}
        table = np.array([*(position[level] for level in self.levels), np.nan])  # code -1 is missing
        return replace(self, values=table[self.values], levels=None, scale=tuple(order))

    def place(self, row: int) -> str:
        """Say where row number `row` is: a line of the file, or a row counted from zero."""
        return f"row {row}" if self.lines is None else f"line {self.lines[row]}"


def column_from_series(series: nw.Series, name: str, where: str) -> Column:
    """Read a narwhals series."""
    dtype = series.dtype
    if dtype.is_numeric():
        return Column(name, where, np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64))
    if dtype.is_temporal():
        days = days_of_series(series)
        if days is None:
            raise UnsupportedTypeError(f"{where} has type {dtype}: {_TIMES}")
        return Column(name, where, days)
    declared = isinstance(dtype, (nw.Categorical, nw.Enum))
    column = _from_objects(series.to_list(), name, where, categorical=declared)
    order = _declared_order(series) if declared else ()
    return column if column.levels is None or not order else column.on_scale(order)


def _declared_order(series: nw.Series) -> list[str]:
    """Labels from low to high, where the type says so: pandas' ``ordered=True``, or arrow's.

    An Enum of polars lists its labels in an order too, but does not say that it means anything; to take a
    name for a number could leave in X and Y what Z explains.
    """
    native = series.to_native()
    if getattr(getattr(native, "dtype", None), "ordered", False):
        return _labels(list(native.dtype.categories))
    if getattr(getattr(native, "type", None), "ordered", False):
        return _labels(native.unify_dictionaries().chunk(0).dictionary.to_pylist())
    return []


def column_from_array(array: np.ndarray, name: str, where: str) -> Column:
    """Read a 1-d array of any dtype, masked or not."""
    kind = array.dtype.kind
    if kind == "c":
        raise UnsupportedTypeError(f"{where} has type {array.dtype}: {_COMPLEX}")
    if kind == "V":
        raise UnsupportedTypeError(f"{where} is a structured array; give one plain column per field")
    hidden = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    plain = np.asarray(array.data) if isinstance(array, np.ma.MaskedArray) else array
    if kind in "iuf":
        with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite and is reported so
            values = np.array(plain, dtype=np.float64)
        return Column(name, where, values if hidden is None else np.where(hidden, np.nan, values))
    if kind in "mM":
        days = days_of_array(plain)
        return Column(name, where, days if hidden is None else np.where(hidden, np.nan, days))
    if kind == "b":
        codes = plain.astype(np.int64)
        return Column(
            name, where, codes if hidden is None else np.where(hidden, -1, codes), ("False", "True")
        )
    objects = plain.tolist()
    if kind == "S":
        objects = [value.decode("utf-8", "backslashreplace") for value in objects]
    if hidden is not None:
        objects = [None if gone else value for value, gone in zip(objects, hidden, strict=True)]
    return _from_objects(objects, name, where)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in (
        "NAType",
        "NaTType",
    ):  # pandas marks, without importing pandas
        return True
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return isinstance(value, Decimal) and value.is_nan()


def _from_objects(values: Sequence[Any], name: str, where: str, *, categorical: bool = False) -> Column:
    """Read Python objects: all numbers, all text or all booleans, with missing entries anywhere."""
    cleaned = [None if _is_missing(value) else value for value in values]
    types = {type(value) for value in cleaned} - {type(None)}
    if not types:
        return Column(name, where, np.full(len(cleaned), np.nan))
    if categorical or all(issubclass(one, str) for one in types):
        return _categorical(cleaned, name, where)
    if all(issubclass(one, (bool, np.bool_)) for one in types):
        codes = np.array([-1 if value is None else int(value) for value in cleaned], dtype=np.int64)
        return Column(name, where, codes, ("False", "True"))
    days = days_of_objects(cleaned)
    if days is not None:
        return Column(name, where, days)
    foreign = {one for one in types if not issubclass(one, (numbers.Real, np.bool_, Decimal))}
    if foreign:
        row = next(row for row, value in enumerate(cleaned) if type(value) in foreign)
        raise UnsupportedTypeError(f"{where} {_complaint(cleaned[row], row)}")
    return Column(name, where, np.array([_to_float(value) for value in cleaned]))


def _to_float(value: Any) -> float:
    try:
        return float("nan") if value is None else float(value)
    except OverflowError:  # an integer beyond the range of float64; reported later as infinite
        return float("inf") if value > 0 else float("-inf")


def _complaint(value: Any, row: int) -> str:
    kind = type(value).__name__
    if isinstance(value, str):
        return f"mixes text with other values (row {row} holds {value!r}); {_ONE_TYPE}"
    hint = "values must be numbers, text or booleans"
    if isinstance(value, (complex, np.complexfloating)):
        hint = _COMPLEX
    elif isinstance(value, datetime.date):
        hint = "a column of dates must hold nothing else"
    elif hasattr(value, "year") or kind in ("time", "timedelta", "datetime64", "timedelta64"):
        hint = _TIMES
    elif isinstance(value, (list, tuple, np.ndarray)):
        hint = "rows must all have the same length"
    return f"holds a value of type {kind} in row {row}: {hint}"


def _categorical(values: Sequence[Hashable], name: str, where: str) -> Column:
    distinct = list(set(values) - {None})
    labels = dict(zip(distinct, _labels(distinct), strict=True))
    levels = tuple(sorted(labels.values()))
    rank = {label: code for code, label in enumerate(levels)}
    code_of = {None: -1, **{value: rank[label] for value, label in labels.items()}}
    return Column(name, where, np.array([code_of[value] for value in values], dtype=np.int64), levels)


def _labels(categories: Sequence[Hashable]) -> list[str]:
    """Texts of categories, which stay apart: the categories 1 and "1" are "1" and "'1'"."""
    texts = [str(category) for category in categories]
    return texts if len(set(texts)) == len(texts) else [repr(category) for category in categories]
