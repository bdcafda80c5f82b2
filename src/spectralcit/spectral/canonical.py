"""One order for rows, columns and sides, whatever order they were given in.

Landmarks, folds and signs are drawn by position. With positions that follow from the values, a p-value does
not depend on how a table happened to be sorted, nor on which variable is called X. Rows that agree in all of
Z are ordered by X and Y, symmetrically. That breaks nothing: folds and the noise that spreads ties are drawn
independently of the data, and stay so when a permutation that the data decide hands them out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..inputs import Block, CIData
from ..numeric.coordinates import leverages
from ..numeric.standardize import standardized
from .side_features import SideFeatures

__all__ = [
    "comes_first",
    "has_twins",
    "in_order",
    "joint_order",
    "mirrored",
    "row_order",
    "total_order",
    "with_ordered_columns",
]

_ROUNDING = 1e-9  # of a mean near one: a smaller difference may come from the order of summation
# Continuous features of each side that order the rows: rows that agree in all of them are rare. Of levels and
# events many rows agree in any few, so all of these are used.
_KEY_COLUMNS = 4
_KEY_DECIMALS = 10  # of features of size one: what differs further out may come from the order of summation


def with_ordered_columns(block: Block) -> Block:
    """Return the block with its columns in an order that depends on their values only.

    They are ordered by a sum over the sorted values, and columns with the same values in other rows (ranks,
    say) by how they go with the row's length.
    """
    if block.n_columns == 1:
        return block
    n = len(block.values)
    ranks = np.arange(1, n + 1) / n
    by_values = (np.sort(block.values, axis=0) * ranks[:, None]).sum(axis=0)
    unit = standardized(block.values)
    # Rounded: the order of summation changes the last digits.
    by_rows = np.round((np.square(unit).sum(axis=1)[:, None] * unit).mean(axis=0), 8)
    order = np.lexsort((by_rows, by_values))
    return Block(
        block.values[:, order],
        tuple(block.names[j] for j in order),
        tuple(block.kinds[j] for j in order),
        tuple(block.groups[j] for j in order),
    )


def row_order(z: Block | None, n: int) -> np.ndarray:
    """Return positions that sort the rows by how far out they are in Z, which no linear map of Z changes.

    If some rows agree in all of Z: by Z itself, so that they are neighbours and stay in their order.
    """
    if z is None:
        return np.arange(n)
    # Sums in this order first: their rounding then does not depend on the order of the rows either.
    by_values = np.lexsort(z.values.T[::-1])
    if has_twins(z, by_values) or z.n_columns >= n:
        return by_values
    return by_values[np.argsort(leverages(z.values[by_values]), kind="stable")]


def has_twins(z: Block, order: np.ndarray) -> bool:
    """Tell whether two rows agree in all of Z; `order` makes such rows neighbours."""
    ordered = z.values[order]
    return bool((ordered[1:] == ordered[:-1]).all(axis=1).any())


def total_order(data: CIData) -> np.ndarray:
    """Return positions that sort the rows by Z, then by one side, then by the other.

    The side with fewer columns goes first; of two with equally many, the one that makes the smaller table.
    If both make the same, the sides are exchangeable and so are the two orders.
    """
    z = np.zeros((data.n, 0)) if data.z is None else data.z.values
    x, y = data.x.values, data.y.values
    (by_x, x_first), (by_y, y_first) = (_sorted(np.hstack([z, *sides])) for sides in ((x, y), (y, x)))
    if x.shape[1] != y.shape[1]:
        return by_x if x.shape[1] < y.shape[1] else by_y
    differs = np.flatnonzero((x_first != y_first).ravel())
    first_x = not len(differs) or x_first.flat[differs[0]] < y_first.flat[differs[0]]
    return by_x if first_x else by_y


def _sorted(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort(table.T[::-1])
    return order, table[order]


def in_order(data: CIData) -> tuple[CIData, np.ndarray]:
    """Sort columns by their values and rows by Z; return the rows' former positions as well.

    Rows that agree in all of Z are sorted by X and Y. Without Z nothing depends on the order of the rows,
    and they stay as they are.
    """
    x, y, z = (None if block is None else with_ordered_columns(block) for block in (data.x, data.y, data.z))
    assert x is not None
    assert y is not None
    data = replace(data, x=x, y=y, z=z)
    order = row_order(z, data.n)
    if z is not None and has_twins(z, order):
        order = total_order(data)
    return data.subset(order), order


def comes_first(x: SideFeatures, y: SideFeatures) -> bool:
    """Tell whether `x` goes before `y`: the side with fewer columns, or with the smaller features.

    Features of ranks have the same size on both sides; then their mixed third moments decide.
    """
    if x.linear.shape[1] != y.linear.shape[1]:
        return x.linear.shape[1] < y.linear.shape[1]
    u, v = x.linear, y.linear
    difference = float(np.abs(u).mean() - np.abs(v).mean())
    if abs(difference) < _ROUNDING:
        difference = float((np.square(u).sum(axis=1) @ v).sum() - (np.square(v).sum(axis=1) @ u).sum())
    return difference <= 0.0


def joint_order(first: SideFeatures, second: SideFeatures) -> np.ndarray:
    """Return positions that sort the rows by the features of both sides.

    Rows that agree in the first column differ there by rounding only, which depends on where they stood.
    """
    keys = []
    for side in (first, second):
        leading = np.arange(side.linear.shape[1]) < _KEY_COLUMNS
        keys.append(np.round(side.linear[:, leading | side.discrete], _KEY_DECIMALS))
    return np.lexsort(np.hstack(keys).T[::-1])


def mirrored(name: str) -> str:
    """Return the name of a block with the parts of X and of Y exchanged.

    Examples
    --------
    >>> mirrored("largest linear × fine"), mirrored("all × direct"), mirrored("linear × linear × Z")
    ('largest fine × linear', 'direct × all', 'linear × linear × Z')
    """
    parts = name.split(" × ")
    if len(parts) < 2:
        return name
    *kind, left = parts[0].split(" ")
    return " × ".join([" ".join([*kind, parts[1]]), left, *parts[2:]])
