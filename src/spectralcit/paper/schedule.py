"""What a training run does at every step, and on which rows: all that is random in it besides the weights.

Mini-batches are drawn without replacement: each level walks through its own shuffles of the training rows,
and the incomplete batch at the end of a shuffle is dropped. An epoch is one such walk of the outer model.
"""

from __future__ import annotations

import numpy as np

from ..learning.batches import shuffled_batches
from .config import PaperConfig

__all__ = ["INNER", "OUTER", "Streams", "schedule"]

INNER, OUTER = 1, 2  # the two kinds of a step; any numbers that follow each other would do


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

    Three independent generators, so that for instance a longer warm-up does not change the batches that the
    outer model sees.
    """

    def __init__(self, seed: np.random.SeedSequence, n_rows: int, batch: int) -> None:
        # A fresh copy: spawn() counts its children, and training the same
        # problem twice must draw the same numbers.
        fresh = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
        weights, inner, outer = (np.random.default_rng(child) for child in fresh.spawn(3))
        self.weights = weights
        self._walks = {
            INNER: shuffled_batches(inner, n_rows, batch, keep_rest=False),
            OUTER: shuffled_batches(outer, n_rows, batch, keep_rest=False),
        }

    def indices(self, kinds: np.ndarray) -> np.ndarray:
        """Row numbers for steps of these kinds, of shape (len(kinds), batch)."""
        return np.stack([next(self._walks[int(kind)]) for kind in kinds]).astype(np.int32)
