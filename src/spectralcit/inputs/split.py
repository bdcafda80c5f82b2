"""Seeded splits of the rows. This is the only place where the order of the rows can influence a test."""

from __future__ import annotations

import numpy as np

from ..errors import ParameterError

__all__ = ["halves", "train_test_rows"]


def train_test_rows(n: int, test_fraction: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Split ``range(n)`` at random into training and test rows.

    The test part has ``round(test_fraction * n)`` rows, at least one and at most ``n - 1``. Both parts are
    sorted, so they depend on which rows were drawn and not on the order of drawing.

    Parameters
    ----------
    n
        Number of rows, at least 2.
    test_fraction
        Share of test rows, strictly between 0 and 1.
    rng
        Source of randomness; exactly one permutation is drawn from it.

    Returns
    -------
    train, test : ndarray of int
        Sorted row indices; together they are ``range(n)``.

    Examples
    --------
    >>> train, test = train_test_rows(10, 0.2, np.random.default_rng(0))
    >>> len(train), len(test)
    (8, 2)
    """
    if not 0.0 < test_fraction < 1.0:
        raise ParameterError(f"test_fraction must be strictly between 0 and 1, got {test_fraction!r}")
    if n < 2:
        raise ParameterError(f"a split needs at least two rows, got {n}")
    n_test = min(max(round(test_fraction * n), 1), n - 1)
    order = rng.permutation(n)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def halves(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Split ``range(n)`` at random into two halves; the first is the smaller one when `n` is odd.

    Parameters
    ----------
    n
        Number of rows, at least 2.
    rng
        Source of randomness; exactly one permutation is drawn from it.

    Returns
    -------
    first, second : ndarray of int
        Sorted row indices; together they are ``range(n)``.

    Examples
    --------
    >>> first, second = halves(5, np.random.default_rng(0))
    >>> len(first), len(second)
    (2, 3)
    """
    if n < 2:
        raise ParameterError(f"a split needs at least two rows, got {n}")
    order = rng.permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 :])
