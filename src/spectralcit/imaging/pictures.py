"""Region images as arrays: read, checked to be RGB of 8 bits, and told apart from the empty glass."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ImageError, MissingExtraError, no_such_file

__all__ = ["LIGHT", "checked_image", "checked_mask", "optical_density", "read_image", "tissue_mask"]

LIGHT = 255.0  # what a pixel of clean glass measures; scanners set their white point there

# Macenko et al. (2009) leave out what absorbs less than 0.15; programs in common use take natural logarithms.
STAINED = 0.15


def read_image(path: str | Path) -> NDArray[np.uint8]:
    """Read a region image, such as one that QuPath exported: PNG, TIFF, JPEG or what else Pillow reads.

    Parameters
    ----------
    path
        The file. An alpha channel is dropped if nothing in the image is transparent.

    Returns
    -------
    numpy.ndarray
        Height by width by three (red, green, blue), 8 bits.

    Raises
    ------
    ImageError
        If the file cannot be read, or its pixels are not RGB of 8 bits.
    """
    path = Path(path)
    if not path.is_file():
        raise ImageError(str(no_such_file(path)))
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError("images need Pillow: pip install 'spectralcit[imaging]'") from error
    try:
        with warnings.catch_warnings():
            # Regions are large: a warning is of no use. Beyond twice its limit Pillow gives an error.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            opened = Image.open(path)
        with opened:
            if opened.mode not in ("RGB", "RGBA"):
                raise ImageError(
                    f"{path} is not an RGB image of 8 bits but of Pillow's mode {opened.mode!r}; "
                    "export it as RGB"
                )
            pixels = np.asarray(opened)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        if isinstance(error, ImageError):
            raise
        raise ImageError(f"{path} cannot be read as an image: {error}") from error
    return checked_image(pixels, str(path))


def checked_image(image: Any, name: str = "the image") -> NDArray[np.uint8]:
    """Return an image as an array of RGB pixels, or say why it is none."""
    pixels = np.asarray(image)
    if pixels.ndim != 3 or pixels.shape[2] not in (3, 4) or pixels.dtype != np.uint8:
        raise ImageError(
            f"{name} is not RGB of 8 bits: an array of shape {pixels.shape} and type {pixels.dtype}, where "
            "(height, width, 3) and uint8 are needed"
        )
    if pixels.shape[0] == 0 or pixels.shape[1] == 0:
        raise ImageError(f"{name} has no pixels: its shape is {pixels.shape}")
    if pixels.shape[2] == 4:
        if int(pixels[..., 3].min()) < 255:
            raise ImageError(f"{name} is transparent in places; export it on a white ground, as RGB")
        pixels = pixels[..., :3]
    return pixels


def checked_mask(mask: Any, shape: tuple[int, ...], name: str = "the image") -> NDArray[np.bool_]:
    """Return a mask with one boolean per pixel and at least one that is true, or say why it is none."""
    chosen = np.asarray(mask)
    if chosen.shape != shape[:2]:
        raise ImageError(f"the mask of {name} has shape {chosen.shape}; the image has {shape[:2]} pixels")
    if chosen.dtype != bool and not np.isin(np.unique(chosen), (0, 1, 255)).all():
        raise ImageError(f"the mask of {name} is neither boolean nor of the values 0 and 1, or 0 and 255")
    chosen = chosen.astype(bool)
    if not chosen.any():
        raise ImageError(
            f"the mask of {name} is empty: no pixel is inside; draw a region, or leave the mask out"
        )
    return chosen


def optical_density(image: NDArray[np.uint8], light: float = LIGHT) -> NDArray[np.float64]:
    """Return how much light every pixel takes away, ``-log(I / light)``, at least 0 (Beer and Lambert).

    Parameters
    ----------
    image
        Of any shape.
    light
        What clean glass measures.

    Examples
    --------
    >>> optical_density(np.array([255, 94], np.uint8)).round(2)
    array([0., 1.])
    """
    # A black pixel would be infinitely dense; one grey level is what 8 bits can tell.
    seen = np.maximum(image.astype(np.float64), 1.0)
    return np.maximum(-np.log(seen / light), 0.0)


def tissue_mask(image: Any, *, threshold: float = STAINED, light: float = LIGHT) -> NDArray[np.bool_]:
    """Tell tissue from empty glass: pixels that take away enough light on average over the three colours.

    Parameters
    ----------
    image
        RGB pixels of 8 bits, as `read_image` gives them.
    threshold
        The smallest mean optical density of tissue; 0.15 is a seventh of the light.
    light
        What clean glass measures.

    Examples
    --------
    >>> tissue_mask(np.array([[[255, 255, 255], [150, 60, 140]]], np.uint8))
    array([[False,  True]])
    """
    pixels = checked_image(image)
    dense: NDArray[np.bool_] = optical_density(pixels, light).mean(axis=2) >= threshold
    return dense
