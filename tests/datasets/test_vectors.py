"""Vectors and images: what X says about Y beyond Z, seen with the feature that knows where to look."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit.datasets import get_dataset
from spectralcit.datasets.vectors import EFFECTS

ROWS = 20_000


def without(z, values):
    """What a polynomial in each column of Z leaves; enough for a tanh of moderate slope."""
    powers = np.polynomial.hermite_e.hermevander(z, 9).reshape(len(z), -1)
    return values - powers @ np.linalg.lstsq(powers, values, rcond=None)[0]


def explained(features, values):
    """R² of a regression."""
    features = features - features.mean(axis=0)
    values = values - values.mean()
    fitted = features @ np.linalg.lstsq(features, values, rcond=None)[0]
    return (fitted**2).mean() / (values**2).mean()


def second_order(columns):
    """The columns and their products."""
    left, right = np.triu_indices(columns.shape[1])
    return np.hstack([columns, columns[:, left] * columns[:, right]])


@pytest.mark.parametrize("spread", [0.0, 0.5])
@pytest.mark.parametrize("effect", EFFECTS)
def test_effects_on_a_vector(effect, spread):
    for dependent in (False, True):
        dataset = get_dataset("vector-effect", d_x=4, d_y=1, d_z=1, effect=effect, spread=spread)
        x, y, z = dataset.draw(ROWS, 1, dependent)
        scale = np.exp(spread * z)
        left_x, left_y = without(z, x) / scale, without(z, y) / scale
        found = explained(second_order(left_x), left_y[:, 0])
        assert found > 0.1 if dependent else found < 0.005  # 14 features: .0007 by chance


@pytest.mark.parametrize("effect", ["square", "product", "one square", "cosine"])
def test_no_column_of_x_is_correlated_with_one_of_y(effect):
    x, y, z = get_dataset("vector-effect", d_x=6, d_y=3, d_z=1, effect=effect).draw(ROWS, 2, True)
    cross = np.corrcoef(without(z, x).T, without(z, y).T)[:6, 6:]
    assert np.abs(cross).max() < 0.05


def test_the_effect_has_the_same_law_under_both_hypotheses():
    for effect in EFFECTS:
        null, alternative = (
            get_dataset("vector-effect", effect=effect, strength=2.0).draw(ROWS, 3, dependent)[1]
            for dependent in (False, True)
        )
        np.testing.assert_allclose(null.var(axis=0), alternative.var(axis=0), rtol=0.1)


def test_a_trait_of_the_embedding_drives_y():
    for dependent in (False, True):
        dataset = get_dataset("vector-embedding", d_x=8, d_z=2, own=2, noise=1e-9)
        x, y, z = dataset.draw(ROWS, 4, dependent)
        inner = np.arctanh(np.clip(x, -1 + 1e-7, 1 - 1e-7))
        traits = np.linalg.svd(without(z, inner), full_matrices=False)[0][:, :2] * np.sqrt(ROWS)
        found = explained(second_order(traits), without(z, y))
        assert found > 0.2 if dependent else found < 0.005


def test_shapes():
    for params, shapes in [
        ({}, ((30, 384), (30,), (30, 8))),
        ({"d_y": 5, "d_x": 20, "d_z": 3}, ((30, 20), (30, 5), (30, 3))),
    ]:
        sample = get_dataset("vector-embedding", **params).draw(30, 0, dependent=False)
        assert tuple(block.shape for block in sample) == shapes
    x, y, z = get_dataset("image-orientation", target="both").draw(30, 0, dependent=True)
    assert (x.shape, y.shape, z.shape) == ((30, 144), (30, 2), (30, 2))
    x, y, z = get_dataset("vector-effect", d_x=200, d_y=1).draw(30, 0, dependent=True)
    assert (x.shape, y.shape, z.shape) == ((30, 200), (30, 1), (30, 5))


@pytest.mark.parametrize("stimulus", ["grating", "bar"])
def test_orientation_is_in_the_gradients_and_not_in_the_pixels(stimulus):
    for dependent in (False, True):
        dataset = get_dataset("image-orientation", stimulus=stimulus, pixel_noise=0.0)
        x, y, z = dataset.draw(ROWS, 5, dependent)
        left = y - z[:, 0]
        patch = x.reshape(-1, 12, 12)
        down, across = np.gradient(patch, axis=(1, 2))
        energy_across, energy_down = (across**2).sum(axis=(1, 2)), (down**2).sum(axis=(1, 2))
        orientation = (energy_across - energy_down) / (energy_across + energy_down)
        found = np.corrcoef(orientation, left)[0, 1]
        assert found > 0.5 if dependent else abs(found) < 0.03
        assert explained(x - z[:, :1], left) < 0.012  # 144 pixels: .0072 by chance
