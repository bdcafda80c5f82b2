"""Images made by the law of Beer and Lambert, written anew here: the oracle of the package's own."""

from __future__ import annotations

import numpy as np

VIOLET = np.array([0.65, 0.70, 0.29])
PINK = np.array([0.07, 0.99, 0.11])


def unit(vector):
    return np.asarray(vector) / np.linalg.norm(vector)


def stained(amounts, violet=VIOLET, pink=PINK, light=255.0):
    """8-bit pixels of so much of either stain: the last axis of `amounts` has two."""
    amounts = np.asarray(amounts, float)
    density = amounts[..., :1] * unit(violet) + amounts[..., 1:] * unit(pink)
    return np.rint(light * np.exp(-density)).astype(np.uint8)


def random_amounts(rng, height=120, width=160):
    """Many pixels of one stain alone, as tissue has them, and mixtures."""
    amounts = rng.uniform(0.3, 1.5, (height, width, 2))
    kind = rng.integers(0, 3, (height, width))
    amounts[kind == 0, 0] = 0.0
    amounts[kind == 1, 1] = 0.0
    return amounts
