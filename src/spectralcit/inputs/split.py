"""Seeded splits of the rows. This is the only place where the order of the rows can influence a test."""

from __future__ import annotations

import numpy as np

from ..errors import ParameterError

__all__ = ["halves", "train_test_rows"]


def train_test_rows(n: int, test_fraction: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Split ``range(n)`` at random into training and test rows, by one permutation drawn from `rng`.

    The test part has ``round(test_fraction * n)`` rows, at least one and at most ``n - 1``. Both parts are
    sorted, so they depend on which rows were drawn and not on the order of drawing.
    """
    if not 0.0 < test_fraction < 1.0:
        raise ParameterError(f"test_fraction must be strictly between 0 and 1, got {test_fraction!r}")
    if n < 2:
        raise ParameterError(f"a split needs at least two rows, got {n}")
    n_test = min(max(round(test_fraction * n), 1), n - 1)
    order = rng.permutation(n)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def halves(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Split ``range(n)`` into sorted halves by one permutation; the first is the smaller when `n` is odd."""
    if n < 2:
        raise ParameterError(f"a split needs at least two rows, got {n}")
    order = rng.permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 :])
