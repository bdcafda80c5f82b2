"""Tiles: squares of a region image that hold enough tissue, and where each of them was."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ImageError, ParameterError
from .pictures import LIGHT, checked_image, checked_mask, tissue_mask

__all__ = ["Tiles", "cut_tiles"]

TILE_SIZE = 224  # pixels; what most encoders of histology were trained on


@dataclass(frozen=True)
class Tiles:
    """Square pieces of one image.

    Parameters
    ----------
    pixels
        Number of tiles by size by size by three, 8 bits.
    tops, lefts
        The row and the column of each tile's first pixel in the image.
    tissue
        The share of each tile's pixels that are tissue inside the mask.
    """

    pixels: NDArray[np.uint8]
    tops: NDArray[np.int64]
    lefts: NDArray[np.int64]
    tissue: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.pixels)


def cut_tiles(
    image: Any,
    *,
    size: int = TILE_SIZE,
    stride: int | None = None,
    mask: Any = None,
    least_tissue: float = 0.5,
    light: float = LIGHT,
    name: str = "the image",
) -> Tiles:
    """Cut an image into square tiles, from the upper left, and keep those with enough tissue.

    Parameters
    ----------
    image
        RGB pixels of 8 bits, as `read_image` gives them. What is left over at the right and at the bottom
        and fills no tile is not used.
    size
        Pixels of a side.
    stride
        Pixels from one tile to the next; `size` when not given, so that tiles touch and do not overlap.
    mask
        One boolean per pixel, such as an annotated region; all pixels when not given.
    least_tissue
        The share of a tile's pixels that must be tissue and inside the mask.
    light
        What clean glass measures.
    name
        How errors call the image.

    Raises
    ------
    ImageError
        If the image is smaller than a tile, the mask is empty, or no tile has enough tissue.

    Examples
    --------
    >>> image = np.full((4, 6, 3), 255, np.uint8)
    >>> image[2:, 2:4] = (150, 60, 140)
    >>> tiles = cut_tiles(image, size=2)
    >>> len(tiles), tiles.tops, tiles.lefts
    (1, array([2]), array([2]))
    """
    pixels = checked_image(image, name)
    step = size if stride is None else stride
    whole = isinstance(size, Integral) and isinstance(step, Integral)
    if not whole or size < 1 or step < 1 or not 0 <= least_tissue <= 1:
        raise ParameterError(
            "size and stride must be whole numbers of at least 1, and least_tissue between 0 and 1; got "
            f"{size}, {step}, {least_tissue}"
        )
    height, width = pixels.shape[:2]
    if min(height, width) < size:
        raise ImageError(f"{name} has {height} × {width} pixels, less than one tile of {size} × {size}")
    inside = tissue_mask(pixels, light=light)
    if mask is not None:
        inside = inside & checked_mask(mask, pixels.shape, name)
    if not inside.any():
        where = "" if mask is None else " inside its mask"
        raise ImageError(f"{name} shows no tissue{where}: every pixel is as light as empty glass")
    shares = _windows(inside, size, step).mean(axis=(2, 3))
    kept_rows, kept_columns = np.nonzero(shares >= least_tissue)
    if len(kept_rows) == 0:
        raise ImageError(
            f"{name} has no tile of {size} × {size} pixels of which {least_tissue:.0%} are tissue inside "
            f"the mask (the best has {shares.max():.0%}); make tiles smaller or lower least_tissue"
        )
    tops, lefts = kept_rows * step, kept_columns * step
    cut = np.stack(
        [pixels[top : top + size, left : left + size] for top, left in zip(tops, lefts, strict=True)]
    )
    return Tiles(cut, tops, lefts, shares[kept_rows, kept_columns])


def _windows(inside: NDArray[np.bool_], size: int, step: int) -> NDArray[np.bool_]:
    """All tiles of a mask, as views: rows of tiles by columns of tiles by size by size."""
    views = np.lib.stride_tricks.sliding_window_view(inside, (size, size))
    return views[::step, ::step]
