from __future__ import annotations

import numpy as np
import pytest

from spectralcit.errors import ImageError, ParameterError
from spectralcit.imaging import cut_tiles

DARK = (120, 60, 150)


def numbered(height, width):
    """Tissue everywhere, and every pixel says where it is."""
    rows, columns = np.mgrid[:height, :width]
    return np.stack([rows, columns, np.full_like(rows, 50)], axis=-1).astype(np.uint8)


@pytest.mark.parametrize(("size", "stride"), [(10, None), (10, 4), (7, 13)])
def test_tiles_are_the_pixels_at_their_place(size, stride):
    image = numbered(45, 62)
    tiles = cut_tiles(image, size=size, stride=stride)
    step = stride or size
    places = [(top, left) for top in range(0, 45 - size + 1, step) for left in range(0, 62 - size + 1, step)]
    assert list(zip(tiles.tops, tiles.lefts, strict=True)) == places
    for tile, (top, left) in zip(tiles.pixels, places, strict=True):
        assert tile.shape == (size, size, 3)
        assert tuple(tile[0, 0, :2]) == (top, left)
        assert tuple(tile[-1, -1, :2]) == (top + size - 1, left + size - 1)
    np.testing.assert_array_equal(tiles.tissue, 1.0)


def test_tiles_need_their_share_of_tissue():
    image = np.full((20, 40, 3), 255, np.uint8)
    image[:10, :10] = DARK  # all of the first tile
    image[:5, 10:20] = DARK  # half of the second
    image[10:14, 30:40] = DARK  # two fifths of the last
    tiles = cut_tiles(image, size=10)
    assert list(zip(tiles.tops, tiles.lefts, strict=True)) == [(0, 0), (0, 10)]
    np.testing.assert_allclose(tiles.tissue, [1.0, 0.5])
    np.testing.assert_allclose(cut_tiles(image, size=10, least_tissue=0.4).tissue, [1.0, 0.5, 0.4])
    assert len(cut_tiles(image, size=10, least_tissue=0.0)) == 8


@pytest.mark.parametrize("as_type", [bool, np.uint8, "0 and 255"])
def test_a_mask_keeps_what_is_inside(as_type):
    mask = np.zeros((30, 30), bool)
    mask[10:20, 20:30] = True
    given = mask.astype(np.uint8) * 255 if as_type == "0 and 255" else mask.astype(as_type)
    tiles = cut_tiles(numbered(30, 30), size=10, mask=given)
    assert list(zip(tiles.tops, tiles.lefts, strict=True)) == [(10, 20)]


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (np.zeros((30, 30), bool), "the mask of slide 7 is empty: no pixel is inside"),
        (
            np.ones((30, 31), bool),
            r"the mask of slide 7 has shape \(30, 31\); the image has \(30, 30\) pixels",
        ),
        (np.full((30, 30), 0.5), "the mask of slide 7 is neither boolean nor of the values 0 and 1"),
    ],
)
def test_wrong_masks_are_errors(mask, words):
    with pytest.raises(ImageError, match=words):
        cut_tiles(numbered(30, 30), size=10, mask=mask, name="slide 7")


def test_images_without_a_tile_are_errors():
    glass = np.full((30, 30, 3), 255, np.uint8)
    with pytest.raises(ImageError, match="shows no tissue: every pixel is as light as empty glass"):
        cut_tiles(glass, size=10)
    glass[:3, :10] = DARK
    with pytest.raises(ImageError, match=r"no tile of 10 × 10 pixels of which 50% .*the best has 30%"):
        cut_tiles(glass, size=10)
    outside = np.zeros((30, 30), bool)
    outside[20:, 20:] = True
    with pytest.raises(ImageError, match="shows no tissue inside its mask"):
        cut_tiles(glass, size=10, mask=outside)
    with pytest.raises(ImageError, match="30 × 30 pixels, less than one tile of 31 × 31"):
        cut_tiles(glass, size=31)


@pytest.mark.parametrize("wrong", [{"size": 0}, {"stride": 0, "size": 5}, {"size": 5, "least_tissue": 1.1}])
def test_wrong_sizes_are_errors(wrong):
    with pytest.raises(ParameterError, match="size and stride must be whole numbers of at least 1"):
        cut_tiles(numbered(30, 30), **wrong)
