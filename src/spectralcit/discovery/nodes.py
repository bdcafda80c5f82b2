"""The nodes of a search: which columns of a table each has, and what it is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ..base import BaseCITest
from ..errors import (
    DuplicateColumnError,
    LengthMismatchError,
    ParameterError,
    TooFewRowsError,
    UnknownColumnError,
    suggestion,
)
from ..inputs import DataTable, RowArguments, RowDesign
from ..inputs.check import check_infinite, check_rows, check_usable
from ..inputs.columns import Column
from ..inputs.design import declare_rows
from ..inputs.missing import handle_missing
from ..inputs.read import Table

__all__ = ["check_columns", "resolve_names", "resolve_nodes", "rows_apart"]


def rows_apart(
    columns: Sequence[Column], rows: RowArguments, test: BaseCITest
) -> tuple[tuple[Column, ...], RowArguments]:
    """Check what was said about the rows, now and not hours later; columns that say it are not searched."""
    known = {column.name: column for column in columns}
    said: dict[str, Any] = dict(rows)
    used = set()
    for role, given in rows.items():
        if role in ("groups", "time", "weights") and isinstance(given, str):
            if given not in known:
                raise UnknownColumnError(
                    f"{role}: the data has no column {given!r}.{suggestion(given, known)}"
                )
            used.add(given)
            said[role] = DataTable("data", len(known[given].values), {given: known[given]})
    declared = declare_rows(len(columns[0].values), **cast(RowArguments, said))
    if declared is not None:
        test.check_design(RowDesign(given=declared.given))
    return tuple(column for column in columns if column.name not in used), cast(RowArguments, said)


def resolve_nodes(nodes: Any, columns: Sequence[Column]) -> tuple[tuple[int, ...], ...]:
    """Turn what the user gave as `nodes` into column numbers."""
    if nodes is None:
        return tuple((j,) for j in range(len(columns)))
    known = {column.name: j for j, column in enumerate(columns)}

    def number(column: Any) -> int:
        if isinstance(column, (int, np.integer)) and 0 <= column < len(columns):
            return int(column)
        if column in known:
            return known[column]
        raise UnknownColumnError(f"nodes: the data has no column {column!r}.{suggestion(column, known)}")

    members = nodes.values() if isinstance(nodes, Mapping) else nodes
    try:
        wanted = [[one] if isinstance(one, (int, np.integer, str)) else list(one) for one in members]
        found = tuple(tuple(number(column) for column in one) for one in wanted)
    except TypeError as error:  # something is no list, or a column is one
        raise ParameterError(f"nodes must hold columns or lists of columns, got {nodes!r}") from error
    flat = [j for node in found for j in node]
    if not all(found):
        raise ParameterError("nodes: every node needs at least one column")
    if len(set(flat)) < len(flat):
        twice = next(j for j in flat if flat.count(j) > 1)
        raise DuplicateColumnError(f"nodes: {columns[twice].where} is used more than once")
    return found


def resolve_names(
    names: Any, nodes: Any, columns: Sequence[Column], members: Sequence[Sequence[int]]
) -> tuple[str, ...]:
    """Names of the nodes: those given, the keys of a mapping, or the names of their columns."""
    if names is None and isinstance(nodes, Mapping):
        names = nodes
    if names is None:
        # `read` calls the columns of an array data[0], data[1], ...; nodes get a name that reads like one.
        plain = [f"X{j}" if column.where == column.name else column.name for j, column in enumerate(columns)]
        names = ["+".join(plain[j] for j in node) for node in members]
    if not isinstance(names, Iterable):
        raise ParameterError(f"names must be a list of names, got {names!r}")
    found = tuple(str(name) for name in names)
    if len(found) != len(members):
        raise LengthMismatchError(f"there are {len(members)} nodes, but {len(found)} names")
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise DuplicateColumnError(f"two nodes are called {twice!r}")
    return found


def check_columns(columns: Sequence[Column], test: BaseCITest) -> None:
    """Complain now about what would stop a search later."""
    table = Table("data", tuple(columns))
    check_rows(table.n, test.min_rows, 0)
    check_infinite([table])
    if test.missing == "raise":
        handle_missing([table], test.missing)
    complete = [column.take(np.flatnonzero(~column.missing)) for column in columns]
    for column, present in zip(columns, complete, strict=True):
        if len(present.values) < test.min_rows:
            raise TooFewRowsError(
                f"{column.where} has {len(present.values)} values that are not missing; the test needs at "
                f"least {test.min_rows}"
            )
    check_usable([Table("data", tuple(complete))])
