"""Missing values: an error by default; rows that lack something deleted; or cells left to be drawn later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import MissingValuesError, ParameterError
from .columns import Column
from .missingness import depends_on_both, mutual_dependence
from .read import Table

__all__ = ["POLICIES", "Handled", "handle_missing", "stand_in"]

# What `BaseCITest.missing` offers.
POLICIES = ("raise", "drop", "impute")
_SUSPECTED = 0.2  # p-value, by hand: to keep rows without x or without y for no reason costs power only
# Values that a column with missing cells needs, so that there is something to draw them from; by hand.
_FEWEST_SEEN = 20
_MANY = (
    0.5  # of the cells of a column, by hand: beyond it most of the answer comes from the model of the draws
)

# What can be done about gaps, and about rows that were dropped because of them; then the same beside a
# censored y, given which nothing is drawn.
_ADVICE = {
    False: (
        "fill them in, pass missing='drop' to delete such rows, or missing='impute' to draw them under the "
        "null hypothesis"
    ),
    True: (
        "fill them in, or pass missing='drop' to delete such rows; beside a censored y nothing can be imputed"
    ),
}
_REMEDY = {
    False: "use missing='impute' unless the cells are missing because of their own values",
    True: (
        "beside a censored y nothing can be imputed: find the missing values, or do not rely on a small "
        "p-value"
    ),
}


@dataclass(frozen=True, eq=False)
class Handled:
    """Tables without missing values, what was done about these, and the cells to draw if there are any."""

    tables: list[Table]
    rows: np.ndarray  # of the tables as they came
    n_dropped: int = 0
    notes: tuple[str, ...] = ()
    incomplete: tuple[Table, ...] | None = None  # with their gaps; `tables` then holds stand-ins for them


def handle_missing(tables: Sequence[Table], policy: str) -> Handled:
    """Treat the missing values of tables of one length, whose roles are x, y and possibly z."""
    if policy not in POLICIES:
        raise ParameterError(f"missing must be one of {POLICIES}, got {policy!r}")
    masks = [(column, column.missing) for table in tables for column in table.columns]
    affected = [(column, mask) for column, mask in masks if mask.any()]
    if not affected:
        return Handled(list(tables), np.arange(tables[0].n))
    listing = "; ".join(
        f"{column.where}: {'all' if mask.all() else int(mask.sum())}, "
        f"first in {column.place(int(np.argmax(mask)))}"
        for column, mask in affected
    )
    if policy == "raise":
        raise MissingValuesError(f"missing values in {listing}; {_ADVICE[_is_censored(tables)]}")
    return _dropped(tables, listing) if policy == "drop" else _to_be_drawn(tables)


def _is_censored(tables: Sequence[Table]) -> bool:
    return any(table.role == "event" for table in tables)


def _dropped(tables: Sequence[Table], listing: str) -> Handled:
    n = tables[0].n
    kept = np.flatnonzero(~np.logical_or.reduce([column.missing for t in tables for column in t.columns]))
    notes = [f"{n - len(kept)} of {n} rows were dropped because of missing values ({listing})"]
    if depends_on_both(tables) or mutual_dependence(tables):
        notes.append(
            "values are missing in a way that depends on x and y: the rows that are left are a biased "
            f"choice, in which x and y may seem tied though they are not; {_REMEDY[_is_censored(tables)]}"
        )
    return Handled([table.take(kept) for table in tables], kept, n - len(kept), tuple(notes))


def _to_be_drawn(tables: Sequence[Table]) -> Handled:
    n = tables[0].n
    without = {t.role: np.logical_and.reduce([c.missing for c in t.columns]) for t in tables}
    useless = without["x"] | without["y"]
    if mutual_dependence(tables, below=_SUSPECTED):
        useless = without["x"] & without["y"]
    rows = np.flatnonzero(~useless)
    kept = [table.take(rows) for table in tables]
    notes = []
    if useless.any():
        notes.append(
            f"{useless.sum()} of {n} rows were left out: they have no value of x or none of y, and so say "
            "nothing about how the two are tied"
        )
    gaps = [column for table in kept for column in table.columns if column.missing.any()]
    for column in gaps:
        seen = int((~column.missing).sum())
        if seen < _FEWEST_SEEN:
            raise MissingValuesError(
                f"{column.where} has {seen} values that are not missing; missing='impute' needs at least "
                f"{_FEWEST_SEEN} to learn from: leave the column out"
            )
    if gaps:
        notes.append(_drawn_note(gaps))
    standing_in = [
        replace(table, columns=tuple(stand_in(column) for column in table.columns)) for table in kept
    ]
    return Handled(standing_in, rows, int(useless.sum()), tuple(notes), tuple(kept) if gaps else None)


def _drawn_note(gaps: Sequence[Column]) -> str:
    shares = "; ".join(f"{column.where}: {column.missing.mean():.0%}" for column in gaps)
    text = (
        f"missing values were drawn under the null hypothesis ({shares}), assuming that whether a value is "
        "missing depends on values that were seen only; if it depends on the missing value itself, no "
        "imputation repairs it"
    )
    if max(column.missing.mean() for column in gaps) > _MANY:
        text += ". More than half of a column was drawn: the answer rests on how well it could be predicted"
    return text


def stand_in(column: Column) -> Column:
    """The column with its median, or its most frequent category, in place of what is missing."""
    missing = column.missing
    if not missing.any():
        return column
    seen = column.values[~missing]
    is_number = column.levels is None
    middle = np.quantile(seen, 0.5, method="lower") if is_number else np.argmax(np.bincount(seen))
    return replace(column, values=np.where(missing, middle, column.values).astype(column.values.dtype))
