"""Seeds, and random generators that do not repeat the numbers behind simulated data."""

from __future__ import annotations

import numbers
import secrets
import zlib
from typing import Any

import numpy as np

from ..parameters import anything

__all__ = ["generator", "resolve_seed", "seed_option"]

_SEED_LIMIT = 2**32  # what NumPy, SciPy, scikit-learn and JAX all accept


def seed_option(doc: str) -> Any:
    """Field for a seed, for a generator to draw one from, or None for one that is drawn."""
    return anything(
        None,
        doc,
        words=f"an integer from 0 to {_SEED_LIMIT - 1}, a numpy.random.Generator or None",
        accepts=_is_seed,
    )


def _is_seed(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        return value is None or isinstance(value, np.random.Generator)
    return 0 <= int(value) < _SEED_LIMIT


def resolve_seed(random_state: int | np.random.Generator | None) -> int:
    """The seed itself, checked, or one drawn from a generator or from the operating system."""
    seed_option("").metadata["allowed"].check("random_state", random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(_SEED_LIMIT))
    return secrets.randbelow(_SEED_LIMIT) if random_state is None else int(random_state)


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Generator for one purpose of one test.

    People simulate data with ``default_rng(0)`` and test them with ``random_state=0``. A test that drew from
    the same stream would meet its own data again as its random frequencies, locations or multipliers.
    """
    return np.random.default_rng([zlib.crc32(purpose.encode()), seed])
