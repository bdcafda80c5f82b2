"""Encode columns as numbers: one-hot for categories, unchanged for numbers unless their size is extreme."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import TooManyCategoriesError
from .columns import Column
from .data import Block, Kind
from .dates import layouts_of
from .numerals import has_decimal_comma, is_number
from .read import Table

__all__ = ["MAX_CATEGORIES", "encode", "is_discrete", "levels_problem"]

# Most levels of a categorical column; by hand: more would make one-hot columns too sparse to learn from.
MAX_CATEGORIES = 50
_MOST_POOLED = 0.5  # of the rows of an X or Y, by hand: beyond it a column is a list of names
MAX_DISCRETE_VALUES = 10  # by hand: scores and small counts; `Block` tells users
_EXTREME = 1e100  # squares stay finite and non-zero for magnitudes between 1/_EXTREME and _EXTREME


def encode(table: Table) -> tuple[Block, tuple[str, ...]]:
    """Encode the columns of one role, none of them constant or with missing values; notes come beside.

    A categorical column with k levels gives one 0/1 column per level, or a single one (of the second level)
    when k = 2. Numbers are kept, except that a column whose largest magnitude is above 1e100 or below 1e-100
    is divided by a power of two, which is exact and leaves conditional independence as it is; a note says so.
    """
    arrays: list[np.ndarray] = []
    names: list[str] = []
    kinds: list[Kind] = []
    groups: list[int] = []
    notes: list[str] = []
    for group, column in enumerate(table.columns):
        if column.levels is None:
            values, exponent = _tame(column.values)
            if exponent:
                notes.append(f"{column.where} was divided by 2**{exponent} because its magnitude is extreme")
            encoded, labels, kind = values[:, None], [column.name], _numeric_kind(values)
        else:
            column, pooled = _pooled(column, table.role)
            notes += pooled
            encoded, labels = _one_hot(column)
            kind = "indicator"
        arrays.append(encoded)
        names += labels
        kinds += [kind] * len(labels)
        groups += [group] * len(labels)
    return Block(np.hstack(arrays), tuple(names), tuple(kinds), tuple(groups)), tuple(notes)


def _tame(values: np.ndarray) -> tuple[np.ndarray, int]:
    largest = np.abs(values).max()
    if 1 / _EXTREME <= largest <= _EXTREME:
        return values, 0
    exponent = int(np.frexp(largest)[1])
    return np.ldexp(values, -exponent), exponent


def _numeric_kind(values: np.ndarray) -> Kind:
    # Most continuous columns show it in their first rows, which spares sorting a million values.
    if len(np.unique(values[:1000])) > MAX_DISCRETE_VALUES:
        return "continuous"
    if len(np.unique(values)) == 2:
        return "indicator"
    return "discrete" if is_discrete(values) else "continuous"


def is_discrete(values: np.ndarray) -> bool:
    """Tell whether numbers take few values, each often: at most ten, and five rows per value on average."""
    distinct = len(np.unique(values))
    return distinct <= MAX_DISCRETE_VALUES and distinct <= len(values) / 5


def levels_problem(column: Column, role: str) -> TooManyCategoriesError | None:
    """The error about a column with too many categories to take the rarest as one."""
    if column.levels is None:
        return None
    present, counts = np.unique(column.values, return_counts=True)
    most = column.max_levels or MAX_CATEGORIES
    if len(present) <= most:
        return None
    looks = _looks_like([column.levels[code] for code in present], from_file=column.lines is not None)
    names = counts.max() == 1
    share = np.sort(counts)[: -(most - 1)].sum() / counts.sum()
    if not looks and not names and (role == "z" or share <= _MOST_POOLED):
        return None
    hint = looks or "merge rare levels or leave the column out"
    if not looks and not names and column.lines is not None:
        hint += f", or allow more: max_levels={len(present)}"
    return TooManyCategoriesError(
        f"{column.where} has {len(present)} categories, more than the {most} allowed; {hint}"
    )


def _pooled(column: Column, role: str) -> tuple[Column, list[str]]:
    """The column with its rare levels as one when there are too many, and a note about it.

    A function of X that depends on Y given Z proves that X does, so pooling in X and Y costs power only. In Z
    it leaves in place what differs between the pooled levels.
    """
    assert column.levels is not None
    problem = levels_problem(column, role)
    if problem is not None:
        raise problem
    present, counts = np.unique(column.values, return_counts=True)
    most = column.max_levels or MAX_CATEGORIES
    if len(present) <= most:
        return column, _comma_note(column, [column.levels[code] for code in present])
    order = np.argsort(-counts, kind="stable")
    kept, rare = order[: most - 1], order[most - 1 :]
    share = counts[rare].sum() / counts.sum()
    other = _free_label(column.levels)
    levels = (*column.levels, other)
    values = np.where(np.isin(column.values, present[kept]), column.values, len(column.levels))
    effect = "removed" if role == "z" else "seen"
    note = (
        f"{column.where} has {len(present)} categories; the {len(rare)} rarest, {share:.0%} of the rows, "
        f"were taken as one ({other}): what differs between these is not {effect}"
    )
    return replace(column, values=values, levels=levels), [note]


def _comma_note(column: Column, levels: list[str]) -> list[str]:
    """A note about few categories that are numbers with a decimal comma; of a file its reader says it."""
    if column.lines is not None or not any(map(has_decimal_comma, levels)):
        return []
    looks = _looks_like(levels, from_file=False)
    return [f"{column.where} is taken as {len(levels)} categories; {looks}"] if looks else []


def _free_label(levels: tuple[str, ...]) -> str:
    label = "other"
    while label in levels:
        label += "_"
    return label


def _one_hot(column: Column) -> tuple[np.ndarray, list[str]]:
    assert column.levels is not None
    present = np.unique(column.values)
    shown = present[1:] if len(present) == 2 else present
    encoded = (column.values[:, None] == shown[None, :]).astype(np.float64)
    return encoded, [f"{column.name}[{column.levels[code]}]" for code in shown]


def _looks_like(levels: list[str], *, from_file: bool) -> str:
    """What categories look like that were probably meant as something else, with advice; or nothing."""
    if all(map(is_number, levels)):
        return "it looks like numbers stored as text; convert it to a numeric type"
    if all(is_number(level) or has_decimal_comma(level) for level in levels):
        advice = "give decimal=','" if from_file else "convert it: column.str.replace(',', '.').astype(float)"
        return f"it looks like numbers with a decimal comma; {advice}"
    if layouts_of(levels):
        advice = "write them as year-month-day" if from_file else "convert them: pandas.to_datetime(column)"
        return f"it looks like dates stored as text; {advice}"
    return ""
