"""Functions of the columns of a block: normal scores, cosines of ranks, products."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .data import Block
from .left import Basis, orthonormal
from .order import is_sorted

__all__ = ["basis_of", "scores_of"]

_MOST_COSINES = 12  # of the ranks of a column, at most; by hand: six periods over its range
# Of a column by which the rows are sorted, half waves per row: nothing then tells rough functions of it from
# memory, unless this is short. By hand.
_WAVES_PER_ROW = 1 / 12
_MOST_WAVES = 60  # for the time
_MOST_FUNCTIONS = 80  # of the columns of one block; for the time
_COLUMNS_PER_ROW = 1 / 16  # of the functions that z and the other side may explain a column with; by hand
_MOST_COLUMNS = 10  # of one side, by hand: rows that are alike are so in most columns


def basis_of(n: int, z: Block | None, other: Block | None = None) -> Basis:
    """Return a basis of a constant and of functions of z and of the other side; the last few are kept."""
    return _remembered_basis(n, _content(z), _content(other))


def _content(block: Block | None) -> bytes:
    """What functions of a block depend on."""
    return b"" if block is None else _in_use(block.values).tobytes()


@lru_cache(maxsize=4)  # tests of many columns with one Y given one Z come one after the other
def _remembered_basis(n: int, z: bytes, other: bytes) -> Basis:
    if other:
        return _remembered_basis(n, z, b"").beside(_functions_of(np.frombuffer(other).reshape(n, -1)))
    return orthonormal(_functions_of(np.frombuffer(z).reshape(n, -1)) if z else np.empty((n, 0)))


def scores_of(block: Block) -> np.ndarray:
    """Return the normal scores of the first columns of a block."""
    return np.column_stack([_score(column) for column in block.values[:, :_MOST_COLUMNS].T])


def _score(column: np.ndarray) -> np.ndarray:
    from scipy import special, stats  # half a second that `spectralcit --help` need not wait

    return special.ndtri((stats.rankdata(column) - 0.5) / len(column))


def _functions_of(values: np.ndarray) -> np.ndarray:
    """Return functions of columns: themselves, cosines of their ranks, products of the first few."""
    n, columns = len(values), _in_use(values)
    room = _room(n)
    plain = [_score(column) for column in columns.T]
    each = min(_MOST_COSINES, max((room - len(plain)) // max(len(plain), 1), 0))
    found = [np.column_stack(plain)]
    for column in columns.T:
        count = min(each, (len(np.unique(column)) - 1) // 4)  # by hand: few values are few subjects, perhaps
        if is_sorted(column):
            count = max(count, min(int(n * _WAVES_PER_ROW), _MOST_WAVES))
        if count:
            found.append(_cosines(column, count))
    products = [a * b for j, a in enumerate(plain[:4]) for b in plain[:j]]
    return np.column_stack([*found, *products])


def _in_use(values: np.ndarray) -> np.ndarray:
    """Return the columns that there is room for."""
    return values[:, : max(_room(len(values)) // 2, 1)]


def _room(n: int) -> int:
    """How many functions of so many rows there are, cosines of sorted columns apart."""
    return min(max(int(n * _COLUMNS_PER_ROW), 2), _MOST_FUNCTIONS)


def _cosines(column: np.ndarray, count: int) -> np.ndarray:
    """Return the cosines of the ranks of a column, from half a period over its range on."""
    from scipy import stats  # half a second that `spectralcit --help` need not wait

    ranks = (stats.rankdata(column) - 0.5) / len(column)
    return np.cos(np.pi * np.outer(ranks, np.arange(1, count + 1)))
