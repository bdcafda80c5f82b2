"""Random generators that do not repeat the numbers behind simulated data."""

from __future__ import annotations

import zlib

import numpy as np

__all__ = ["generator"]


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Generator for one purpose of one test.

    People simulate data with ``default_rng(0)`` and test them with ``random_state=0``. A test that drew from
    the same stream would meet its own data again as its random frequencies, locations or multipliers.
    """
    return np.random.default_rng([zlib.crc32(purpose.encode()), seed])
