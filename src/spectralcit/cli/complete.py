"""What the shell completes: names of tests, and names of columns of the file that was typed."""

from __future__ import annotations

import io
from pathlib import Path

import typer

from ..registry import list_tests

__all__ = ["complete_columns", "complete_method"]

# A file above it is read to its first lines only: nobody waits for a completion.
_HEAD_BYTES = 1_000_000


def complete_method(incomplete: str) -> list[tuple[str, str]]:
    """Complete the name of a test, for the shell."""
    return [(one.name, one.tags.summary) for one in list_tests() if one.name.startswith(incomplete)]


def complete_columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete the last of several names of columns; nothing when the file cannot be read."""
    try:
        # In the middle of an option that has no value yet, the words before it are not parsed.
        names = _names(Path(ctx.params.get("data") or ctx.args[0]))
    except Exception:  # in the middle of typing every mistake is possible, and none is worth a message
        return []
    before, comma, last = incomplete.rpartition(",")
    hidden, excluded, start = last.rpartition("!")
    taken = before.split(",")
    return [
        f"{before}{comma}{hidden}{excluded}{name}"
        for name in names
        if name.startswith(start) and name not in taken and "," not in name
    ]


def _names(path: Path) -> tuple[str, ...]:
    from ..tables.arrow import ArrowFile, is_arrow
    from ..tables.read import read_as
    from ..tables.reading import Reading
    from ..tables.text import read_text

    if is_arrow(path):
        return tuple(ArrowFile(path, Reading()).names)
    if path.stat().st_size <= _HEAD_BYTES:
        return tuple(read_as(path, Reading()).names)
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    whole_lines = head[: head.rindex(b"\n") + 1]
    return tuple(read_text(io.BytesIO(whole_lines), path.name, Reading()).names)
