"""What a training run does at every step, and on which rows: all that is random in it besides the weights.

Mini-batches are drawn without replacement: each level walks through its own shuffles of the training rows,
and the incomplete batch at the end of a shuffle is dropped. An epoch is one such walk of the outer model.

In the authors' program both levels share one walk and take turns over its batches; an incomplete batch counts
as one there, and is filled up here from the next shuffle, because every batch has the same size.
"""

from __future__ import annotations

import math

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
    >>> shared = PaperConfig(n_epochs=1, n_warmup=1, epoch="shared")
    >>> schedule(800, 256, shared, conditional=True).tolist()
    [1, 1, 1, 1, 1, 2, 1, 2]
    """
    if config.epoch == "shared":
        return _shared_schedule(math.ceil(n_rows / batch), config, conditional=conditional)
    n_outer = config.n_epochs * (n_rows // batch)
    if not conditional:
        return np.full(n_outer, OUTER, dtype=np.int32)
    period = [INNER] * config.n_steps_inner + [OUTER]
    return np.array([INNER] * config.n_warmup + period * n_outer, dtype=np.int32)


def _shared_schedule(n_batches: int, config: PaperConfig, *, conditional: bool) -> np.ndarray:
    if not conditional:
        return np.full(config.n_epochs * n_batches, OUTER, dtype=np.int32)
    turn = np.arange(config.n_epochs * n_batches) % (config.n_steps_inner + 1)
    updates = np.where(turn == config.n_steps_inner, OUTER, INNER)
    return np.concatenate([np.full(config.n_warmup * n_batches, INNER), updates]).astype(np.int32)


class Streams:
    """The random choices of one problem: weights, inner batches, outer batches.

    Three independent generators, so that for instance a longer warm-up does not change the batches that the
    outer model sees; with `shared` batches both levels take theirs from one walk.
    """

    def __init__(
        self, seed: np.random.SeedSequence, n_rows: int, batch: int, *, shared: bool = False
    ) -> None:
        # A fresh copy: spawn() counts its children, and training the same
        # problem twice must draw the same numbers.
        fresh = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
        weights, inner, outer = (np.random.default_rng(child) for child in fresh.spawn(3))
        self.weights = weights
        if shared:
            walk = shuffled_batches(inner, n_rows, batch, keep_rest=True)
            self._walks = {INNER: walk, OUTER: walk}
            return
        self._walks = {
            INNER: shuffled_batches(inner, n_rows, batch, keep_rest=False),
            OUTER: shuffled_batches(outer, n_rows, batch, keep_rest=False),
        }

    def indices(self, kinds: np.ndarray) -> np.ndarray:
        """Row numbers for steps of these kinds, of shape (len(kinds), batch)."""
        return np.stack([next(self._walks[int(kind)]) for kind in kinds]).astype(np.int32)
