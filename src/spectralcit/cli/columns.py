"""How a column was read, in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..inputs.columns import Column

__all__ = ["described"]


def described(column: Column) -> str:
    """Say how a column was read."""
    if column.scale is not None:
        steps = [*column.scale[:5], *(["..."] if len(column.scale) > 5 else [])]
        return f"ordinal, {len(column.scale)} levels: {' < '.join(steps)}"
    if column.levels is None:
        return "number"
    short = [level if len(level) <= 20 else level[:19] + "…" for level in column.levels]
    levels = [repr(level) if "," in level else level for level in short]
    shown = ", ".join(levels[:5]) + (", ..." if len(levels) > 5 else "")
    return f"category, {len(levels)} {'level' if len(levels) == 1 else 'levels'}: {shown}"
