"""Dates as numbers: days since 1970, from typed columns and from texts in one of three layouts."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

__all__ = ["DateLayout", "days_of_array", "days_of_objects", "days_of_series", "layouts_of"]

_EPOCH = datetime.date(1970, 1, 1).toordinal()  # fixed, so that other rows of a table have the same numbers
_SECONDS = 86_400.0  # of a day
# Hours, minutes, perhaps seconds, perhaps the zone; as ISO 8601 and spreadsheets have it.
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d+)?))?\s*(Z|[+-]\d\d:?\d\d)?", re.ASCII)
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:[T ](.+))?", re.ASCII)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?:[T ](.+))?", re.ASCII)


@dataclass(frozen=True)
class DateLayout:
    """One way to write dates; the year has four digits.

    Examples
    --------
    >>> DateLayout("day", "month", "year").days("2.1.1970"), DateLayout("year", "month", "day").days("soon")
    (1.0, None)
    """

    first: str
    second: str
    third: str

    def __str__(self) -> str:
        return f"{self.first}-{self.second}-{self.third}"

    def days(self, text: str) -> float | None:
        """Days since 1970 of a text in this layout, fractions for the time of day; else ``None``."""
        found = (_YEAR_FIRST if self.first == "year" else _YEAR_LAST).fullmatch(text.strip())
        if found is None or (self.first == "month" and found[2] == "."):  # 1.2.2020 is European
            return None
        parts = dict(zip((self.first, self.second, self.third), map(int, found.group(1, 3, 4)), strict=True))
        try:
            day = datetime.date(parts["year"], parts["month"], parts["day"]).toordinal() - _EPOCH
        except ValueError:
            return None
        clock = 0.0 if found[5] is None else _share_of_day(found[5])
        return None if clock is None else day + clock


# Year first is unmistakable; which of the others a column has shows where a day is above twelve.
_LAYOUTS = (
    DateLayout("year", "month", "day"),
    DateLayout("day", "month", "year"),
    DateLayout("month", "day", "year"),
)


def layouts_of(texts: Iterable[str]) -> list[DateLayout]:
    """The layouts in which all texts are dates: none, one, or two when day and month cannot be told apart.

    Examples
    --------
    >>> [str(one) for one in layouts_of(["1/2/2020", "31/12/2020"])], len(layouts_of(["1/2/2020"]))
    (['day-month-year'], 2)
    """
    texts = list(texts)
    return [one for one in _LAYOUTS if texts and all(one.days(text) is not None for text in texts)]


def _share_of_day(text: str) -> float | None:
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        return None
    hours, minutes, seconds = int(found[1]), int(found[2]), float(found[3] or 0)
    if hours > 24 or minutes > 59 or seconds >= 61:
        return None
    east = 0
    if found[4] and found[4] != "Z":
        zone = found[4].replace(":", "")
        east = int(zone[0] + "1") * (3600 * int(zone[1:3]) + 60 * int(zone[3:5]))
    return (3600 * hours + 60 * minutes + seconds - east) / _SECONDS


def days_of_series(series: nw.Series) -> np.ndarray | None:
    """Days since 1970, or length in days, of a series of dates or durations; ``None`` for times of day."""
    if isinstance(series.dtype, nw.Duration):
        whole = series.dt.total_microseconds()
    elif isinstance(series.dtype, nw.Date | nw.Datetime):
        whole = series.dt.timestamp("us")
    else:
        return None
    return np.array(whole.cast(nw.Float64).to_numpy(), dtype=np.float64) / (1e6 * _SECONDS)


def days_of_array(array: np.ndarray) -> np.ndarray:
    """The same of an array of type ``datetime64`` or ``timedelta64``; NaT is NaN."""
    kind = "datetime64[us]" if array.dtype.kind == "M" else "timedelta64[us]"
    micros = array.astype(kind)
    return np.where(np.isnat(micros), np.nan, micros.astype(np.int64) / (1e6 * _SECONDS))


def days_of_objects(values: Sequence[Any]) -> np.ndarray | None:
    """The same of Python's dates, datetimes and ``None``; ``None`` when there is anything else."""
    if not all(value is None or isinstance(value, datetime.date) for value in values):
        return None
    return np.array([np.nan if value is None else _days(value) for value in values])


def _days(value: datetime.date) -> float:
    if not isinstance(value, datetime.datetime):
        return float(value.toordinal() - _EPOCH)
    moment = value.replace(tzinfo=None) - (value.utcoffset() or datetime.timedelta())
    return (moment - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
