"""Seeds, and random generators that do not repeat the numbers behind simulated data."""

from __future__ import annotations

import secrets
import zlib
from typing import Any

import numpy as np

from ..parameters import integer

__all__ = ["generator", "resolve_seed", "seed_option"]

_SEED_LIMIT = 2**32  # what NumPy, SciPy, scikit-learn and JAX all accept


def seed_option(doc: str) -> Any:
    """Field for a seed, or None for one that is drawn."""
    return integer(None, doc, least=0, most=_SEED_LIMIT - 1, also=(None,))


def resolve_seed(random_state: int | None) -> int:
    """The seed itself, checked, or one drawn from the operating system."""
    seed_option("").metadata["allowed"].check("random_state", random_state)
    return secrets.randbelow(_SEED_LIMIT) if random_state is None else int(random_state)


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Generator for one purpose of one test.

    People simulate data with ``default_rng(0)`` and test them with ``random_state=0``. A test that drew from
    the same stream would meet its own data again as its random frequencies, locations or multipliers.
    """
    return np.random.default_rng([zlib.crc32(purpose.encode()), seed])
