"""Region images that look a little like stained tissue, of known stains: to try a path with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .pictures import LIGHT
from .stains import REFERENCE_STAINS, Stains

__all__ = ["simulate_region"]


def simulate_region(
    rng: np.random.Generator,
    *,
    height: int = 128,
    width: int = 128,
    nuclei: float = 0.15,
    radius: float = 4.0,
    stains: Stains = REFERENCE_STAINS,
    light: float = LIGHT,
) -> NDArray[np.uint8]:
    """Draw round nuclei in haematoxylin on a ground of uneven eosin, by the law of Beer and Lambert.

    Parameters
    ----------
    rng
        Where chance comes from.
    height, width
        Pixels.
    nuclei
        The share of the area that nuclei take, before they overlap.
    radius
        Pixels of a nucleus, on average.
    stains
        Colours and strengths.
    light
        What clean glass measures.

    Examples
    --------
    >>> simulate_region(np.random.default_rng(0), height=32, width=48).shape
    (32, 48, 3)
    """
    rows, columns = np.mgrid[:height, :width]
    number = rng.poisson(nuclei * height * width / (np.pi * radius**2))
    inside = np.zeros((height, width), dtype=bool)
    for _ in range(number):
        centre = rng.uniform((0, 0), (height, width))
        reach = radius * rng.uniform(0.7, 1.3)
        inside |= (rows - centre[0]) ** 2 + (columns - centre[1]) ** 2 < reach**2
    turn = rng.uniform(0, 2 * np.pi, 2)
    waves = np.sin(rows / 9.0 + turn[0]) * np.sin(columns / 13.0 + turn[1])
    grain = rng.uniform(0.7, 1.0, (2, height, width))
    amounts = np.stack([inside * grain[0], (0.75 + 0.2 * waves) * grain[1] * ~inside], axis=-1)
    shown = light * np.exp(-(amounts * stains.strengths) @ stains.vectors)
    return np.clip(np.rint(shown), 0, 255).astype(np.uint8)
