"""Ordinal scales as people type them: ``grade`` if its labels are numbered, or ``pain=low<medium<high``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..errors import ParameterError
from ..inputs.columns import Column
from ..inputs.table import DataTable
from .cells import MISSING
from .select import columns_matching

__all__ = ["scales_wanted", "with_scales"]

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")  # that a label such as "grade 2" or "10-19" is ordered by, the first


def scales_wanted(spec: str, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The columns that `spec` names, each with its labels from low to high, which may be none.

    Examples
    --------
    >>> scales_wanted("grade, pain=low<medium<high", ["age", "grade", "pain"])
    {'grade': (), 'pain': ('low', 'medium', 'high')}
    """
    found: dict[str, tuple[str, ...]] = {}
    for item in filter(None, (part.strip() for part in spec.split(","))):
        columns, equals, order = item.partition("=")
        labels = tuple(label.strip() for label in order.split("<")) if equals else ()
        if equals and (len(labels) < 2 or len(set(labels)) < len(labels) or not all(labels)):
            raise ParameterError(
                f"ordinal={item!r}: write the labels from low to high, as in pain=low<medium<high"
            )
        if empty := [label for label in labels if label.lower() in MISSING]:
            raise ParameterError(f"ordinal={item!r}: {empty[0]!r} means in a file that the value is missing")
        found |= dict.fromkeys(columns_matching(columns.strip(), names), labels)
    return found


def with_scales(table: DataTable, wanted: Mapping[str, tuple[str, ...]]) -> DataTable:
    """The table with the positions of labels on their scales in place of categories."""
    columns = {
        name: _on_scale(column, wanted[name]) if name in wanted else column
        for name, column in table.columns.items()
    }
    return replace(table, columns=columns)


def _on_scale(column: Column, order: tuple[str, ...]) -> Column:
    if column.levels is None:  # numbers are ordered already
        return column
    numbers = [_NUMBER.search(level) for level in column.levels]
    if not order and all(numbers):
        firsts = [float(match[0]) for match in numbers if match]
        if len(set(firsts)) == len(firsts):
            order = tuple(column.levels[k] for k in np.argsort(firsts))
    unknown = [level for level in column.levels if level not in order]
    if not order or unknown:
        example = "<".join(column.levels[:4])
        what = f"{unknown[0]!r} is not on its scale" if order else "its labels do not say their order"
        raise ParameterError(
            f"ordinal: {column.where}: {what}; write its labels from low to high, for instance "
            f"ordinal='{column.name}={example}'"
        )
    return column.on_scale(order)
