from __future__ import annotations

import numpy as np
import pytest

from spectralcit.errors import ImageError
from spectralcit.imaging import REFERENCE_STAINS, Stains, fit_stains, normalise_stains, simulate_region

from .making import PINK, VIOLET, random_amounts, stained, unit

COLOURS = [(VIOLET, PINK), ((0.56, 0.72, 0.41), (0.22, 0.80, 0.56)), ((0.49, 0.77, 0.41), (0.05, 0.95, 0.3))]


def degrees(one, other):
    return np.degrees(np.arccos(np.clip(unit(one) @ unit(other), -1, 1)))


@pytest.mark.parametrize(("violet", "pink"), COLOURS)
def test_known_stains_come_back(violet, pink):
    rng = np.random.default_rng(0)
    found = fit_stains(stained(random_amounts(rng), violet, pink))
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1.0)
    assert degrees(found.vectors[0], violet) < 1.0
    assert degrees(found.vectors[1], pink) < 1.0
    # The oracle: 99 of 100 pixels of tissue have less than this of a stain.
    amounts = random_amounts(np.random.default_rng(0)).reshape(-1, 2)
    np.testing.assert_allclose(found.strengths, np.percentile(amounts, 99, axis=0), rtol=0.03)


def test_known_amounts_come_back():
    rng = np.random.default_rng(1)
    amounts = rng.uniform(0.2, 1.5, (50, 50, 2))
    density = amounts[..., :1] * unit(VIOLET) + amounts[..., 1:] * unit(PINK)
    stains = Stains(np.array([unit(VIOLET), unit(PINK)]), np.ones(2))
    np.testing.assert_allclose(stains.concentrations(density), amounts, atol=1e-12)


def test_slides_of_other_stains_become_the_same_image():
    """Same tissue, other colours, strengths and scanner: alike to a few grey levels after, not before."""
    amounts = random_amounts(np.random.default_rng(2))
    slides = [
        stained(amounts * (1.0, 1.0), *COLOURS[0]),
        stained(amounts * (0.7, 1.2), *COLOURS[1]),
        stained(amounts * (1.2, 0.8), *COLOURS[2]),
    ]
    before = max(np.abs(slides[0].astype(int) - other).mean() for other in slides[1:])
    shown = [normalise_stains(slide) for slide in slides]
    after = max(np.abs(shown[0].astype(int) - other).mean() for other in shown[1:])
    assert before > 15
    assert after < 2


def test_the_result_is_the_mixture_of_the_reference():
    amounts = random_amounts(np.random.default_rng(3))
    strengths = np.percentile(amounts.reshape(-1, 2), 99, axis=0)
    image = stained(amounts)
    expected = stained(amounts / strengths * REFERENCE_STAINS.strengths, *REFERENCE_STAINS.vectors)
    own = Stains(np.array([unit(VIOLET), unit(PINK)]), strengths)
    assert (
        np.abs(normalise_stains(image, own).astype(int) - expected).max() <= 4
    )  # rounding, before and after
    assert np.abs(normalise_stains(image).astype(int) - expected).mean() < 2


def test_normalising_twice_changes_nothing():
    once = normalise_stains(stained(random_amounts(np.random.default_rng(4))))
    twice = normalise_stains(once)
    assert np.abs(once.astype(int) - twice).max() <= 3
    assert np.abs(once.astype(int) - twice).mean() < 0.5


def test_an_image_that_is_its_own_reference_stays_as_it_is():
    image = stained(random_amounts(np.random.default_rng(5)))
    own = fit_stains(image)
    assert np.abs(normalise_stains(image, own, reference=own).astype(int) - image).max() <= 2


def test_the_order_of_pixels_and_empty_glass_do_not_matter():
    rng = np.random.default_rng(6)
    image = stained(random_amounts(rng))
    shuffled = rng.permutation(image.reshape(-1, 3)).reshape(image.shape)
    framed = np.full((200, 300, 3), 255, np.uint8)
    framed[40:160, 70:230] = image
    for other in (shuffled, framed):
        np.testing.assert_allclose(fit_stains(other).vectors, fit_stains(image).vectors, atol=1e-9)
    glass = normalise_stains(framed)[0, 0]
    np.testing.assert_array_equal(glass, 255)


def test_a_mask_says_where_to_look():
    rng = np.random.default_rng(7)
    left, right = stained(random_amounts(rng), *COLOURS[0]), stained(random_amounts(rng), *COLOURS[2])
    mask = np.zeros((120, 320), bool)
    mask[:, 160:] = True
    found = fit_stains(np.hstack([left, right]), mask=mask)
    np.testing.assert_allclose(found.vectors, fit_stains(right).vectors, atol=1e-9)


def test_one_stain_alone_is_an_error():
    amounts = random_amounts(np.random.default_rng(8)) * (0.0, 1.0)
    with pytest.raises(ImageError, match="region 3 shows one colour of stain only"):
        fit_stains(stained(amounts), name="region 3")


def test_too_little_tissue_is_an_error():
    image = np.full((50, 50, 3), 255, np.uint8)
    image[:3, :33] = (120, 60, 150)
    with pytest.raises(ImageError, match="has 99 pixels of tissue; the colours of the stains need 100"):
        fit_stains(image)


def test_simulated_regions_have_the_stains_they_were_given():
    stains = Stains(np.array([unit(VIOLET), unit(PINK)]), np.array([1.5, 0.9]))
    image = simulate_region(np.random.default_rng(9), height=200, width=200, nuclei=0.3, stains=stains)
    found = fit_stains(image)
    assert max(map(degrees, found.vectors, stains.vectors)) < 1.5


def test_agrees_with_a_program_of_others():
    """torchstain (MIT), which centres densities, and rounds down: the same up to that.

    It leaves out pixels of which any one colour is light, so colours here are such that eosin takes some red.
    """
    torchstain = pytest.importorskip("torchstain")
    rng = np.random.default_rng(10)
    others = ((0.60, 0.65, 0.45), (0.30, 0.85, 0.45))
    reference, image = stained(random_amounts(rng), *COLOURS[1]), stained(random_amounts(rng), *others)
    theirs = torchstain.normalizers.MacenkoNormalizer(backend="numpy")
    theirs.fit(reference, Io=255)
    expected, _, _ = theirs.normalize(image, Io=255, stains=False)
    ours = normalise_stains(image, reference=fit_stains(reference))
    assert np.abs(ours.astype(int) - expected).mean() < 2
