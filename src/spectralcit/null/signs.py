"""Random signs for groups of rows, remembered from one test to the next of the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["drawn_signs"]

_MOST_KEPT = 2_000_000  # signs that are remembered from one test to the next: 16 MB
# The last ones, by where their generator started; many tests in a row start from one seed.
_LAST_DRAWN: dict[tuple[str, int, int, int], tuple[np.ndarray, np.ndarray, Any]] = {}


def drawn_signs(
    rng: np.random.Generator, n: int, n_groups: int, n_draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a permutation of the rows and the signs of groups."""
    key = (repr(rng.bit_generator.state), n, n_groups, n_draws)
    known = _LAST_DRAWN.get(key)
    if known is None:
        permutation = rng.permutation(n)
        signs = rng.choice(np.array([-1.0, 1.0]), size=(n_draws, n_groups))
        signs.flags.writeable = permutation.flags.writeable = False
        known = permutation, signs, rng.bit_generator.state
        _LAST_DRAWN.clear()
        if signs.size <= _MOST_KEPT:
            _LAST_DRAWN[key] = known
    rng.bit_generator.state = known[2]  # as if they were drawn now
    return known[0], known[1]
