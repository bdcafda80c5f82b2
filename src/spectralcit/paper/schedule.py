"""What a training run does at every step, and on which rows: all that is random in it besides the weights.

Mini-batches are drawn without replacement: each level walks through its own shuffles of the training rows,
and the incomplete batch at the end of a shuffle is dropped. An epoch is one such walk of the outer model.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import TooFewRowsError
from .config import PaperConfig

__all__ = ["IDLE", "INNER", "OUTER", "Streams", "effective_batch_size", "schedule"]

IDLE, INNER, OUTER = 0, 1, 2


def effective_batch_size(n_rows: int, batch_size: int) -> int:
    """``batch_size``, or the largest multiple of 32 that fits in fewer rows.

    The rounding keeps the shape, and with it the compiled loop, the same for
    neighbouring numbers of rows; the rows left out differ from shuffle to
    shuffle.

    Examples
    --------
    >>> [effective_batch_size(n, 256) for n in (1000, 200, 20)]
    [256, 192, 20]
    """
    if n_rows < 2:
        raise TooFewRowsError(
            f"{n_rows} training rows; the losses compare pairs of rows and need at least 2."
        )
    if batch_size <= n_rows:
        return max(2, batch_size)
    return n_rows if n_rows < 32 else n_rows - n_rows % 32


def schedule(n_rows: int, batch: int, config: PaperConfig, *, conditional: bool) -> np.ndarray:
    """The kind of every step of a training run, in order.

    Examples
    --------
    >>> config = PaperConfig(n_epochs=1, n_warmup=2, n_steps_inner=1)
    >>> schedule(512, 256, config, conditional=True).tolist()
    [1, 1, 1, 2, 1, 2]
    >>> schedule(512, 256, config, conditional=False).tolist()
    [2, 2]
    """
    n_outer = config.n_epochs * (n_rows // batch)
    if not conditional:
        return np.full(n_outer, OUTER, dtype=np.int32)
    period = [INNER] * config.n_steps_inner + [OUTER]
    return np.array([INNER] * config.n_warmup + period * n_outer, dtype=np.int32)


class Streams:
    """The random choices of one problem: weights, inner batches, outer batches.

    Three independent generators, so that for instance a longer warm-up does
    not change the batches that the outer model sees.
    """

    def __init__(self, seed: np.random.SeedSequence, n_rows: int, batch: int) -> None:
        # A fresh copy: spawn() counts its children, and training the same
        # problem twice must draw the same numbers.
        fresh = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
        weights, inner, outer = (np.random.default_rng(child) for child in fresh.spawn(3))
        self.weights = weights
        self._batch = batch
        self._walks = {
            INNER: _shuffled_batches(inner, n_rows, batch),
            OUTER: _shuffled_batches(outer, n_rows, batch),
        }

    def indices(self, kinds: np.ndarray) -> np.ndarray:
        """Row numbers (len(kinds), batch); idle steps get row 0, which they ignore."""
        out = np.zeros((len(kinds), self._batch), dtype=np.int32)
        for k, kind in enumerate(kinds):
            if kind != IDLE:
                out[k] = next(self._walks[int(kind)])
        return out


def _shuffled_batches(rng: np.random.Generator, n_rows: int, batch: int) -> Iterator[np.ndarray]:
    while True:
        order = rng.permutation(n_rows)
        for start in range(0, n_rows - batch + 1, batch):
            yield order[start : start + batch]
