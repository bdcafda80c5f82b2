from __future__ import annotations

import sys

import numpy as np
import pytest

from spectralcit.errors import ImageError, MissingExtraError
from spectralcit.imaging import cut_tiles, fit_stains, read_image, tissue_mask

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def pixels():
    return np.random.default_rng(1).integers(0, 256, (20, 30, 3)).astype(np.uint8)


@pytest.mark.parametrize("suffix", ["png", "tiff", "bmp"])
def test_pixels_come_back_as_they_were_written(tmp_path, pixels, suffix):
    Image.fromarray(pixels).save(tmp_path / f"region.{suffix}")
    np.testing.assert_array_equal(read_image(tmp_path / f"region.{suffix}"), pixels)


def test_an_alpha_channel_that_hides_nothing_is_dropped(tmp_path, pixels):
    opaque = np.dstack([pixels, np.full(pixels.shape[:2], 255, np.uint8)])
    Image.fromarray(opaque).save(tmp_path / "region.png")
    np.testing.assert_array_equal(read_image(tmp_path / "region.png"), pixels)
    opaque[3, 4, 3] = 254
    Image.fromarray(opaque).save(tmp_path / "region.png")
    with pytest.raises(ImageError, match=r"region\.png is transparent in places"):
        read_image(tmp_path / "region.png")


def test_files_that_are_no_images_are_errors_with_their_names(tmp_path, pixels):
    (tmp_path / "notes.png").write_text("not an image")
    with pytest.raises(ImageError, match=r"notes\.png cannot be read as an image"):
        read_image(tmp_path / "notes.png")
    with pytest.raises(ImageError, match=r"there is no file .*note\.png.*Did you mean 'notes\.png'"):
        read_image(tmp_path / "note.png")
    Image.fromarray(pixels).save(tmp_path / "whole.png")
    whole = (tmp_path / "whole.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ImageError, match=r"cut\.png cannot be read as an image"):
        read_image(tmp_path / "cut.png")


@pytest.mark.parametrize("mode", ["L", "P", "CMYK", "I;16"])
def test_other_colours_than_rgb_are_an_error(tmp_path, pixels, mode):
    picture = (
        Image.fromarray(pixels[..., 0].astype(np.uint16))
        if mode == "I;16"
        else Image.fromarray(pixels).convert(mode)
    )
    picture.save(tmp_path / "grey.tiff")
    with pytest.raises(ImageError, match=rf"grey\.tiff is not an RGB image .* mode '{mode}'"):
        read_image(tmp_path / "grey.tiff")


def test_an_image_too_large_for_pillow_is_an_error(tmp_path, pixels, monkeypatch):
    Image.fromarray(pixels).save(tmp_path / "large.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 200)  # an error beyond twice that
    with pytest.raises(ImageError, match=r"large\.png cannot be read as an image: .*limit of 400 pixels"):
        read_image(tmp_path / "large.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 400)  # a warning of Pillow's, which is not passed on
    assert read_image(tmp_path / "large.png").shape == pixels.shape


def test_without_pillow_the_error_says_what_to_install(tmp_path, pixels, monkeypatch):
    Image.fromarray(pixels).save(tmp_path / "region.png")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'spectralcit\[imaging\]'"):
        read_image(tmp_path / "region.png")


@pytest.mark.parametrize(
    "wrong",
    [np.zeros((5, 5)), np.zeros((5, 5, 3)), np.zeros((5, 5, 2), np.uint8), np.zeros((0, 5, 3), np.uint8)],
)
def test_arrays_that_are_no_images_are_errors(wrong):
    for function in (tissue_mask, cut_tiles, fit_stains):
        with pytest.raises(ImageError, match=r"is not RGB of 8 bits|has no pixels"):
            function(wrong)


def test_tissue_is_what_takes_away_light():
    image = np.full((10, 10, 3), 250, np.uint8)
    image[2:4, 5:7] = (140, 60, 150)
    expected = np.zeros((10, 10), bool)
    expected[2:4, 5:7] = True
    np.testing.assert_array_equal(tissue_mask(image), expected)
    # Glass that measures 180 is glass, if one says so.
    assert tissue_mask(np.full((2, 2, 3), 180, np.uint8)).all()
    assert not tissue_mask(np.full((2, 2, 3), 180, np.uint8), light=180.0).any()
