"""Cells of nearby z with about equal counts, as a k-d tree makes them, and permutations within cells."""

from __future__ import annotations

import numpy as np

from .kernels import standardize

__all__ = ["nested_cells", "share_within", "shuffle_within", "split_cells"]


def nested_cells(
    z: np.ndarray, discrete: np.ndarray, sizes: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the coarse and of the fine cell of each row; a fine cell lies within one coarse cell.

    Continuous columns are cut at medians, always across the column that varies most in the cell. Rows of a
    cell agree in all discrete columns when there is no other column, or when their combinations have enough
    rows for a fine cell on average; else discrete columns are cut like continuous ones. `discrete` is a mask
    of the columns, `sizes` are the wanted rows per coarse and per fine cell; where only discrete columns are
    left, cells are as large as they are.
    """
    values = standardize(z)
    combinations, strata = np.unique(values[:, discrete], axis=0, return_inverse=True)
    if discrete.all() or len(values) >= sizes[1] * len(combinations):
        values, strata = values[:, ~discrete], strata.ravel()
    else:
        strata = np.zeros(len(values), dtype=int)
    coarse = split_cells(values, strata, sizes[0])
    return coarse, split_cells(values, coarse, sizes[1])


def split_cells(values: np.ndarray, cells: np.ndarray, size: int) -> np.ndarray:
    """Cut every cell at medians until it has fewer than twice `size` rows; equal rows stay together.

    Examples
    --------
    >>> split_cells(np.array([[5.0], [1.0], [2.0], [6.0]]), np.zeros(4, dtype=int), 2).tolist()
    [1, 0, 0, 1]
    """
    todo = [np.flatnonzero(cells == cell) for cell in np.unique(cells)]
    result, found = np.empty(len(cells), dtype=int), 0
    while todo:
        rows = todo.pop()
        lower = _lower_half(values[rows], size)
        if lower is None:
            result[rows], found = found, found + 1
        else:
            todo += [rows[~lower], rows[lower]]
    return result


def _lower_half(values: np.ndarray, size: int) -> np.ndarray | None:
    """Mask of the lower part of a balanced cut, or None when no column allows one."""
    if len(values) < 2 * size or values.shape[1] == 0:
        return None
    for column in np.argsort(-values.std(axis=0), kind="stable"):
        v = values[:, column]
        middle = np.median(v)
        # With ties at the median they go to one side or the other, whichever is more balanced.
        lower = min((v < middle, v <= middle), key=lambda part: abs(2 * int(part.sum()) - len(v)))
        if min(int(lower.sum()), len(v) - int(lower.sum())) >= size:
            return lower
    return None


def shuffle_within(cells: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Order of the rows after a uniformly random permutation within each cell."""
    order = np.empty(len(cells), dtype=int)
    order[np.argsort(cells, kind="stable")] = np.lexsort((rng.random(len(cells)), cells))
    return order


def share_within(values: np.ndarray, cells: np.ndarray) -> float:
    """Largest share, over the columns, of the variance that is left within the cells."""
    counts = np.bincount(cells)
    total = values.var(axis=0)
    sums = np.stack([np.bincount(cells, column) for column in values.T], axis=1)
    left = ((values - (sums / counts[:, None])[cells]) ** 2).mean(axis=0)
    return float((left / np.where(total > 0, total, 1.0)).max())
