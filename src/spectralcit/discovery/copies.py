"""Columns that repeat each other: found by digests of what they are encoded as."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

from ..errors import OverlappingColumnsError, SpectralCITWarning
from ..inputs.columns import Column
from ..inputs.encode import encode
from ..inputs.read import Table
from ..numeric.digest import column_digest

__all__ = ["look_for_copies", "prints"]

Prints: TypeAlias = frozenset[bytes]


def prints(column: Column, rows: Any = slice(None)) -> Prints:
    """Digest of each encoded column that `column` turns into: equal for equal values, whatever the type."""
    kept = column.take(rows)
    if not len(kept.values) or kept.missing.any():  # the test itself will complain
        return frozenset([repr(column.where).encode()])
    return frozenset(column_digest(one) for one in encode(Table("z", (kept,)))[0].values.T)


def look_for_copies(names: Sequence[str], nodes: Sequence[Sequence[Column]]) -> None:
    """Warn when a column is in two nodes; refuse one that is a level of a category in another node."""
    owners: dict[bytes, tuple[int, Column]] = {}
    for node, columns in enumerate(nodes):
        for column in columns:
            marks = prints(column)
            for other, twin in {owners[mark] for mark in marks & owners.keys()}:
                if other != node and _is_copy(column, twin):
                    warnings.warn(
                        f"nodes {names[other]!r} and {names[node]!r} hold the same values: they are "
                        "dependent given anything else, and each makes the other redundant, so that a "
                        "search may lose edges of both; leave one out",
                        SpectralCITWarning,
                        stacklevel=3,
                    )
            owners |= dict.fromkeys(marks, (node, column))


def _is_copy(column: Column, twin: Column) -> bool:
    here, there = prints(column), prints(twin)
    if here < there or there < here:
        raise OverlappingColumnsError(
            f"{column.where} and {twin.where}: one is a level of the other, "
            "so conditioning on it cannot be tested; leave one out"
        )
    return here == there
