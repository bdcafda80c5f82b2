"""Times of which some are censored: recognised among what users give as y, read, and checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import CensoredTimesError
from .columns import Column
from .read import CensoredTimes, Table

__all__ = ["as_censored", "event_flags"]


def as_censored(y: Any) -> CensoredTimes | None:
    """Recognise a censored time: a tuple ``(times, events)``, or an array with a boolean and a numeric field.

    The first is the order of lifelines, the second the structured array of scikit-survival.

    Examples
    --------
    >>> as_censored(([3.0, 5.0], [1, 0])).event, as_censored([[3.0, 5.0], [1, 0]])
    ([1, 0], None)
    """
    if isinstance(y, CensoredTimes):
        return y
    if isinstance(y, tuple) and len(y) == 2 and all(_is_column(part) for part in y):
        return CensoredTimes(*y)
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is None or len(names) != 2:
        return None
    kinds = {y.dtype[name].kind: name for name in names}
    numeric = [kind for kind in kinds if kind in "iuf"]
    return CensoredTimes(y[kinds[numeric[0]]], y[kinds["b"]]) if numeric and "b" in kinds else None


def _is_column(part: Any) -> bool:
    return not isinstance(part, (str, bytes)) and hasattr(part, "__len__")


def event_flags(time: Table, event: Table) -> np.ndarray | None:
    """Check times and events of one length without missing values; ``None`` when no time is censored."""
    if len(time.columns) != 1 or time.columns[0].levels is not None:
        found = f"{len(time.columns)} columns" if len(time.columns) != 1 else "categories"
        raise CensoredTimesError(f"the time of a censored y must be one column of numbers, got {found}")
    if len(event.columns) != 1:
        raise CensoredTimesError(f"the event of a censored y must be one column, got {len(event.columns)}")
    clock = time.columns[0]
    wrong = clock.values <= 0.0
    if wrong.any():
        row = int(np.argmax(wrong))
        raise CensoredTimesError(
            f"times must be positive, but {clock.where} has {wrong.sum()} that are not, the first, "
            f"{clock.values[row]:g}, in {clock.place(row)}; a row without time at risk is empty: leave it "
            "out, or count an event on the day of entry as half a day"
        )
    happened = _zero_or_one(event.columns[0])
    if not happened.any():
        raise CensoredTimesError(
            f"{event.columns[0].where} has no event among {len(happened)} rows: all times are censored, and "
            "nothing can be said about when events happen (1 is an event, 0 a censored time)"
        )
    return None if happened.all() else happened


def _zero_or_one(column: Column) -> np.ndarray:
    if column.levels is None:
        wrong = (column.values != 0.0) & (column.values != 1.0)
        if not wrong.any():
            return column.values == 1.0
        row = int(np.argmax(wrong))
        found = f"{column.values[row]:g} in {column.place(row)}"
    elif set(column.levels) <= {"False", "True"}:
        return np.array(column.levels)[column.values] == "True"
    else:
        found = "categories " + ", ".join(repr(level) for level in column.levels[:3])
    raise CensoredTimesError(
        f"{column.where} must hold 0 (censored) and 1 (event), or False and True, but has {found}; to test "
        "two outcome columns, give a list of names instead of a pair"
    )
