"""One order for rows, columns and sides, whatever order they were given in.

Landmarks, folds and signs are drawn by position. With positions that follow from the values, a p-value does
not depend on how a table happened to be sorted, nor on which variable is called X. Rows that agree in all of
Z are the exception: they keep the order they came in, which folds and the noise that spreads ties can see.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..inputs import Block, CIData
from ..numeric.standardize import standardized
from .dictionary import SideFeatures

__all__ = ["comes_first", "in_order", "joint_order", "mirrored", "row_order", "with_ordered_columns"]

_ROUNDING = 1e-9  # of a mean near one: a smaller difference may come from the order of summation
_KEY_COLUMNS = 4  # features of each side that order the rows; rows that agree in all of them are rare


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
    """Return positions that sort the rows by Z; rows with equal Z stay as they are."""
    return np.arange(n) if z is None else np.lexsort(z.values.T[::-1])


def in_order(data: CIData) -> tuple[CIData, np.ndarray]:
    """Sort columns by their values and rows by Z; return the rows' former positions as well."""
    x, y, z = (None if block is None else with_ordered_columns(block) for block in (data.x, data.y, data.z))
    assert x is not None
    assert y is not None
    order = row_order(z, data.n)
    z = None if z is None else z.subset(order)
    return replace(data, x=x.subset(order), y=y.subset(order), z=z), order


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
    """Return positions that sort the rows by the features of both sides."""
    keys = [side.linear[:, :_KEY_COLUMNS] for side in (first, second)]
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
