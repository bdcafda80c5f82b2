"""The source columns of a block as people know them: numbers, or levels and which of them each row has."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from .data import Block

__all__ = ["SourceColumn", "source_columns"]


@dataclass(frozen=True, eq=False)
class SourceColumn:
    """One column as it was given."""

    name: str
    values: np.ndarray  # numbers, or the number of each row's level
    labels: tuple[str, ...]  # the levels, where it has some; otherwise empty
    members: tuple[int, ...]  # its encoded columns in the block


def source_columns(block: Block, known: Collection[str] = ()) -> list[SourceColumn]:
    """Undo the encoding of a block.

    Of two levels one indicator is left, so the other level has lost its name. Names in `known` are those of
    columns, whatever brackets they have.

    Examples
    --------
    >>> values = np.array([[1.5, 0, 1, 1], [2.5, 1, 0, 0]])
    >>> kinds = ("continuous", "indicator", "indicator", "indicator")
    >>> for one in source_columns(Block(values, ("a", "b[u]", "b[v]", "c[yes]"), kinds, (0, 1, 1, 2))):
    ...     print(one.name, one.values, one.labels)
    a [1.5 2.5] ()
    b [1 0] ('u', 'v')
    c [1. 0.] ('not yes', 'yes')
    """
    groups = np.asarray(block.groups)
    return [_undo(block, np.flatnonzero(groups == source), known) for source in dict.fromkeys(block.groups)]


def _undo(block: Block, members: np.ndarray, known: Collection[str]) -> SourceColumn:
    names = [block.names[j] for j in members]
    own = tuple(int(j) for j in members)
    values = block.values[:, members]
    source, bracket, rest = names[0].partition("[")
    source = next((name for name in known if names[0].startswith(f"{name}[")), source)
    one_of_two = len(names) == 1 and bool(bracket) and rest.endswith("]") and names[0] not in known
    if len(names) == 1 and not (one_of_two and set(np.unique(values)) <= {0.0, 1.0}):
        return SourceColumn(names[0], values[:, 0], (), own)
    labels = [name[len(source) + 1 : -1] for name in names]
    if len(names) == 1:
        return SourceColumn(source, values[:, 0], (f"not {labels[0]}", labels[0]), own)
    return SourceColumn(source, np.argmax(values, axis=1), tuple(labels), own)
