"""The first row of a table: names of columns, or an error that says why it holds none."""

from __future__ import annotations

from itertools import pairwise

from ..errors import DuplicateColumnError, TableFileError
from ..inputs.table import listing, repeated

__all__ = ["column_names"]


def column_names(cells: list[str], source: str) -> list[str]:
    """Names of the columns; those without one are counted.

    Examples
    --------
    >>> column_names(["age", "", " stage "], "study.csv")
    ['age', 'unnamed_2', 'stage']
    """
    names = [cell.strip() or f"unnamed_{position}" for position, cell in enumerate(cells, start=1)]
    if _is_data(names):
        raise TableFileError(
            f"the first line of {source} holds numbers ({listing(names, 4)}), not names: add a header line"
        )
    if twice := repeated(names):
        places = [str(position) for position, name in enumerate(names, start=1) if name == twice[0]]
        raise DuplicateColumnError(
            f"{source} has {len(places)} columns called {twice[0]!r} (number {' and '.join(places)}); "
            "rename them"
        )
    return names


def _is_data(names: list[str]) -> bool:
    """Tell a row of data from names; whole numbers that ascend, 0, 1, 2, ..., may be names."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    ascending = all(a < b for a, b in pairwise(numbers))
    return not (ascending and all(name.isdigit() for name in names))
