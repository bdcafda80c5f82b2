"""Rows that were sorted: their order says nothing that their values do not say."""

from __future__ import annotations

import numpy as np

from .data import Block

__all__ = ["is_sorted", "is_sorted_on_both_sides"]

_LEAST_STEPS = 10  # rows that share all keys so far; by hand: with fewer, anything looks sorted


def is_sorted(column: np.ndarray) -> bool:
    """Tell whether a column only rises or only falls."""
    return _one_way(np.diff(column))


def is_sorted_on_both_sides(x: Block, y: Block, z: Block | None) -> bool:
    """Tell whether the rows are sorted by some columns, one after the other, of x and of y among them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = np.sort(rng.integers(0, 4, 60)).astype(float), rng.normal(size=60)
    >>> y = y[np.lexsort([y, x])]
    >>> blocks = [Block(each[:, None], ("a",), ("continuous",), (0,)) for each in (x, y)]
    >>> is_sorted_on_both_sides(*blocks, None), is_sorted_on_both_sides(blocks[1], blocks[0], None)
    (True, True)
    """
    sources = (("x", x), ("y", y)) if z is None else (("x", x), ("y", y), ("z", z))
    steps = [(role, np.diff(column)) for role, block in sources for column in block.values.T]
    together = np.ones(len(x.values) - 1, dtype=bool)  # steps between rows that share all keys so far
    keys: set[str] = set()
    while steps and together.sum() >= _LEAST_STEPS:
        key = next((k for k, (_, step) in enumerate(steps) if _one_way(step[together])), None)
        if key is None:
            break
        role, step = steps.pop(key)
        keys.add(role)
        together &= step == 0
    return {"x", "y"} <= keys


def _one_way(step: np.ndarray) -> bool:
    return bool((step >= 0).all() or (step <= 0).all()) and bool((step != 0).any())
