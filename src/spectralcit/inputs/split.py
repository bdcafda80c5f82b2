"""Seeded splits of the rows. This is the only place where the order of the rows can influence a test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import ParameterError

__all__ = ["folds_of", "halves", "train_test_rows"]


def train_test_rows(
    n: int, test_fraction: float, rng: np.random.Generator, codes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Split ``range(n)`` at random into training and test rows, by one permutation drawn from `rng`.

    The test part has ``round(test_fraction * n)`` rows, at least one and at most ``n - 1``. Both parts are
    sorted, so they depend on which rows were drawn and not on the order of drawing. Rows of one of the groups
    `codes` stay together; the shares are then shares of the groups.
    """
    if not 0.0 < test_fraction < 1.0:
        raise ParameterError(f"test_fraction must be strictly between 0 and 1, got {test_fraction!r}")
    if n < 2:
        raise ParameterError(f"a split needs at least two rows, got {n}")
    if codes is not None:
        return _whole_groups(codes, lambda count: train_test_rows(count, test_fraction, rng))
    n_test = min(max(round(test_fraction * n), 1), n - 1)
    order = rng.permutation(n)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def halves(
    n: int, rng: np.random.Generator, codes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Split ``range(n)`` into sorted halves by one permutation; the first is the smaller when `n` is odd.

    Rows of one of the groups `codes` stay together.
    """
    if n < 2:
        raise ParameterError(f"a split needs at least two rows, got {n}")
    if codes is not None:
        return _whole_groups(codes, lambda count: halves(count, rng))
    order = rng.permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 :])


def folds_of(n: int, n_folds: int, rng: np.random.Generator, codes: np.ndarray | None = None) -> np.ndarray:
    """Return the fold of each row, drawn by one permutation; rows of a group of `codes` share theirs."""
    if codes is None:
        return rng.permutation(n) % n_folds
    places = np.unique(codes, return_inverse=True)[1].ravel()
    return folds_of(int(places.max()) + 1, n_folds, rng)[places]


def _whole_groups(
    codes: np.ndarray, split: Callable[[int], tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    places = np.unique(codes, return_inverse=True)[1].ravel()
    first, second = split(int(places.max()) + 1)
    return np.flatnonzero(np.isin(places, first)), np.flatnonzero(np.isin(places, second))
