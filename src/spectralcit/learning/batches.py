"""Mini-batches: how many rows one has, and which."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import TooFewRowsError

__all__ = ["effective_batch_size", "shuffled_batches"]

# By hand: few enough shapes that a neighbouring number of rows finds its loop compiled, few rows left out.
_GRAIN = 32


def effective_batch_size(n_rows: int, batch_size: int) -> int:
    """`batch_size`, at least 2, or the largest multiple of 32 that fits in fewer rows.

    The rounding keeps the shape, and with it the compiled loop, the same for neighbouring numbers of rows;
    the rows left out differ from shuffle to shuffle.
    """
    if n_rows < 2:
        raise TooFewRowsError(
            f"{n_rows} training rows; the losses compare pairs of rows and need at least 2."
        )
    if batch_size <= n_rows:
        return max(2, int(batch_size))
    return n_rows if n_rows < _GRAIN else n_rows - n_rows % _GRAIN


def shuffled_batches(
    rng: np.random.Generator, n_rows: int, size: int, *, keep_rest: bool
) -> Iterator[np.ndarray]:
    """Walk through one shuffle of the rows after another, `size` row numbers at a time.

    What is left at the end of a shuffle opens the next batch, or is dropped, so that no row comes twice in
    one batch; then `size` is at most `n_rows`.
    """
    left = np.empty(0, dtype=np.intp)
    while True:
        while len(left) < size:
            order = rng.permutation(n_rows)
            left = np.concatenate([left, order]) if keep_rest else order
        yield left[:size]
        left = left[size:]
