"""Stains made alike from slide to slide, after Macenko et al. (2009): two directions of optical density.

A pixel of a slide stained with haematoxylin and eosin has the optical density ``c_h v_h + c_e v_e``: two unit
vectors that are the stains' colours, and how much of each stain is there. All pixels lie in the plane of the
two vectors, between them. The plane is that of the two leading singular vectors of the densities; the stains
are the two ends of the pixels' angles in it, a robust percentile from either side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ImageError
from .pictures import LIGHT, checked_image, checked_mask, optical_density, tissue_mask

__all__ = ["REFERENCE_STAINS", "Stains", "fit_stains", "normalise_stains"]

_OUTERMOST = 1.0  # per cent of the pixels beyond either angle, as published
_STRONGEST = 99.0  # percentile that stands for the maximum of a concentration, as published
_LEAST_PIXELS = 100  # by hand: one pixel beyond either percentile
# By hand: haematoxylin and eosin are 20 to 40 degrees apart; rounding to 8 bits alone spreads one stain over
# up to three.
_LEAST_DEGREES = 5.0


@dataclass(frozen=True)
class Stains:
    """Colours and strengths of the two stains of a slide.

    Parameters
    ----------
    vectors
        Two by three: the optical densities in red, green and blue of haematoxylin, then of eosin, as unit
        vectors.
    strengths
        How much of each there is where there is much of it, the 99th percentile of its concentration.
    """

    vectors: NDArray[np.float64]
    strengths: NDArray[np.float64]

    def concentrations(self, density: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much of either stain makes these densities (... by three): least squares, ... by two."""
        mixed = density.reshape(-1, 3) @ np.linalg.pinv(self.vectors)
        return mixed.reshape(*density.shape[:-1], 2)


# By hand: a violet and a pink of middle strength, near those that programs in common use take; what matters
# is that all slides of a study are given the same. For an encoder that was trained on other colours, take
# `fit_stains` of an image of its own.
REFERENCE_STAINS = Stains(
    np.array([[0.56, 0.72, 0.41], [0.22, 0.80, 0.56]])
    / np.linalg.norm([[0.56, 0.72, 0.41], [0.22, 0.80, 0.56]], axis=1, keepdims=True),
    np.array([2.0, 1.0]),
)


def fit_stains(image: Any, *, mask: Any = None, light: float = LIGHT, name: str = "the image") -> Stains:
    """Find the colours and strengths of haematoxylin and eosin in an image.

    Parameters
    ----------
    image
        RGB pixels of 8 bits: the whole region of a slide, not a single tile, which may hold one stain alone.
    mask
        One boolean per pixel: where to look. Empty glass is left out in any case.
    light
        What clean glass measures.
    name
        How errors call the image.

    Raises
    ------
    ImageError
        If there are fewer than 100 pixels of tissue, or one colour only.

    References
    ----------
    Macenko, Niethammer, Marron et al. (2009), A method for normalizing histology slides for quantitative
    analysis, ISBI.
    """
    pixels = checked_image(image, name)
    inside = tissue_mask(pixels, light=light)
    if mask is not None:
        inside = inside & checked_mask(mask, pixels.shape, name)
    density = optical_density(pixels[inside], light)
    if len(density) < _LEAST_PIXELS:
        raise ImageError(
            f"{name} has {len(density)} pixels of tissue; the colours of the stains need {_LEAST_PIXELS}"
        )
    vectors = _extreme_colours(density)
    apart = np.degrees(np.arccos(np.clip(vectors[0] @ vectors[1], -1.0, 1.0)))
    if apart < _LEAST_DEGREES:
        raise ImageError(
            f"{name} shows one colour of stain only (its colours are {apart:.1f} degrees apart, where "
            f"{_LEAST_DEGREES:.0f} are needed); give the stains of another image of the slide, or leave "
            "normalisation out"
        )
    unscaled = Stains(vectors, np.ones(2))
    strengths = np.percentile(unscaled.concentrations(density), _STRONGEST, axis=0)
    return Stains(vectors, strengths)


def _extreme_colours(density: NDArray[np.float64]) -> NDArray[np.float64]:
    """Haematoxylin and eosin, two by three: the robust ends of the pixels' angles in their plane."""
    # Singular vectors of the densities are eigenvectors of their second moments, and the latter are 3 by 3.
    _, directions = np.linalg.eigh(density.T @ density)
    plane = directions[:, [2, 1]]
    # Densities are positive, so the leading direction is too, up to its sign: angles then stay within a
    # quarter turn of zero, and a percentile of them means something.
    plane = plane * np.where(plane.sum(axis=0) < 0, -1.0, 1.0)
    along, across = (density @ plane).T
    ends = np.percentile(np.arctan2(across, along), [_OUTERMOST, 100.0 - _OUTERMOST])
    vectors = np.column_stack([np.cos(ends), np.sin(ends)]) @ plane.T
    # Eosin is pink: of the two it takes less of the red light.
    return vectors[np.argsort(-vectors[:, 0])]


def normalise_stains(
    image: Any,
    stains: Stains | None = None,
    *,
    reference: Stains = REFERENCE_STAINS,
    light: float = LIGHT,
) -> NDArray[np.uint8]:
    """Show an image as if it had been stained like the reference.

    Parameters
    ----------
    image
        RGB pixels of 8 bits.
    stains
        Those of the image; `fit_stains` of it when not given. All tiles of a slide share one.
    reference
        The stains that all slides are given.
    light
        What clean glass measures.

    Returns
    -------
    numpy.ndarray
        Of the shape of the image, 8 bits. What neither stain explains of a colour is lost, as published.
    """
    pixels = checked_image(image)
    own = fit_stains(pixels, light=light) if stains is None else stains
    amounts = own.concentrations(optical_density(pixels, light)) * (reference.strengths / own.strengths)
    shown = light * np.exp(-amounts @ reference.vectors)
    return np.clip(np.rint(shown), 0, 255).astype(np.uint8)
