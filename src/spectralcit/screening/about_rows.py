"""What is said about the rows of a screen: groups, times and weights, found in its table once."""

from __future__ import annotations

from typing import Any, cast

from ..errors import UnknownColumnError, suggestion
from ..inputs import RowArguments
from ..inputs.design import declare_rows
from ..numeric.digest import column_digest, digest
from .sources import Source

__all__ = ["digest_of_rows", "found_in", "in_recipe"]

_COLUMNS = ("groups", "time", "weights")  # which may be named as columns of the table


def found_in(source: Source, said: RowArguments) -> tuple[RowArguments, tuple[str, ...]]:
    """Look up columns that are named; also their names, which then play no other role."""
    rows: dict[str, Any] = dict(said)
    names = []
    for role in _COLUMNS:
        name = rows.get(role)
        if not isinstance(name, str):
            continue
        if name not in source.names:
            raise UnknownColumnError(
                f"{role}: there is no column {name!r}.{suggestion(name, source.names)} Give the name of a "
                "column, or one value per row"
            )
        rows[role] = source.pick(name)
        names.append(name)
    return cast(RowArguments, rows), tuple(names)


def digest_of_rows(rows: RowArguments, n: int) -> bytes:
    """Digest of what was said, which decides every answer; raises what is wrong with it."""
    declared = declare_rows(n, **rows)
    if declared is None:
        return b""
    parts = (declared.groups, declared.time, declared.weights, declared.rows)
    settings = repr((declared.given, declared.block_length)).encode()
    return digest(settings, *(b"" if part is None else column_digest(part) for part in parts))


def in_recipe(said: RowArguments) -> dict[str, str]:
    """What to write to say it again, in Python; arrays have no short form."""
    plain = (str, int, bool)
    return {name: repr(given) if isinstance(given, plain) else "..." for name, given in said.items()}
