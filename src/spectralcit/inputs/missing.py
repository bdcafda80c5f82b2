"""Missing values: an error by default, or deletion of every row that lacks something (test-wise deletion)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import MissingValuesError, ParameterError
from .read import Table

__all__ = ["handle_missing"]

# What `BaseCITest.missing` offers.
POLICIES = ("raise", "drop")


def handle_missing(tables: Sequence[Table], policy: str) -> tuple[list[Table], int, tuple[str, ...]]:
    """Tables of one length without their missing values, how many rows that cost, and a note about it."""
    if policy not in POLICIES:
        raise ParameterError(f"missing must be one of {POLICIES}, got {policy!r}")
    masks = [(column, column.missing) for table in tables for column in table.columns]
    affected = [(column, mask) for column, mask in masks if mask.any()]
    if not affected:
        return list(tables), 0, ()
    n = tables[0].n
    listing = "; ".join(
        f"{column.where}: {'all' if mask.all() else int(mask.sum())}, "
        f"first in {column.place(int(np.argmax(mask)))}"
        for column, mask in affected
    )
    if policy == "raise":
        raise MissingValuesError(
            f"missing values in {listing}; fill them in, or pass missing='drop' to delete such rows"
        )
    lacking = np.logical_or.reduce([mask for _, mask in affected])
    kept = np.flatnonzero(~lacking)
    n_dropped = n - len(kept)
    note = f"{n_dropped} of {n} rows were dropped because of missing values ({listing})"
    return [table.take(kept) for table in tables], n_dropped, (note,)
