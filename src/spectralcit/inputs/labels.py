"""Columns that might say which rows belong together: those of the same table that play no role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from .columns import Column
from .read import Selection, Table
from .table import DataTable

__all__ = ["labels_beside"]

_MOST_COLUMNS = (
    200  # of a table that are looked at, by hand: a label is among the first, or the table is wide
)


def labels_beside(given: Sequence[Any], tables: Sequence[Table]) -> dict[str, np.ndarray]:
    """Columns of whole numbers and of text beside those in use, and a pandas index, by what to call them.

    Parameters
    ----------
    given
        x, y and z as the user gave them.
    tables
        The same, read.
    """
    used = {column.name for table in tables for column in table.columns}
    beside: Mapping[str, Any] = next(
        (one.beside for one in given if isinstance(one, Selection | DataTable) and one.beside), {}
    )
    found: dict[str, np.ndarray] = {}
    for name in [name for name in beside if name not in used][:_MOST_COLUMNS]:
        codes = _codes(beside[name])
        if codes is not None:
            found[f"the column {name!r}"] = codes
    index = next((table.index for table in tables if table.index is not None), None)
    if index is not None and not index.is_unique:
        found["the index"] = _of_objects(index.to_numpy())
    return found


def _codes(column: Column | nw.Series) -> np.ndarray | None:
    """Numbers that are equal where the values are, or None for a column of fractions or dates."""
    if isinstance(column, Column):
        whole = column.levels is not None or bool(np.all(column.values == np.floor(column.values)))
        return column.values.astype(np.float64) if whole else None
    if column.dtype.is_integer():
        return np.asarray(column.fill_null(-1).to_numpy(), dtype=np.float64)
    if isinstance(column.dtype, nw.String | nw.Categorical | nw.Enum | nw.Object):
        return _of_objects(column.to_list())
    return None


def _of_objects(values: Iterable[Any]) -> np.ndarray:
    texts = [str(value) for value in values]
    codes = {text: code for code, text in enumerate(sorted(set(texts)))}
    return np.array([codes[text] for text in texts], dtype=np.float64)
