"""Rounded measurements: noise as wide as a cell, and no rejection of a true null at any resolution."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit import SpectralCIT
from spectralcit.inputs import Block
from spectralcit.spectral.ties import on_lattice, spread_ties, within_cells


def block(values):
    return Block(values[:, None], ("a",), ("continuous",), (0,))


def significant_digits(values, digits):
    unit = 10.0 ** (np.floor(np.log10(np.abs(values))) - digits + 1)
    return np.round(values / unit) * unit


def spread(values, seed=0):
    return spread_ties(block(values), np.array([True]), np.random.default_rng(seed)).values[:, 0]


@pytest.mark.parametrize("step", [0.5, 1.0, 0.01])
def test_noise_is_uniform_over_the_cell(step):
    rng = np.random.default_rng(0)
    values = step * np.round(10.0 * rng.standard_normal(2000))
    noise = (spread(values) - values) / step
    inner = np.abs(values) < 20 * step  # beyond, cells are empty and the neighbours farther away
    assert np.abs(noise[inner]).max() <= 0.5
    assert noise[inner].std() == pytest.approx(np.sqrt(1 / 12), abs=0.02)


def test_cells_of_significant_digits_grow_with_the_value():
    values = significant_digits(np.exp(np.random.default_rng(1).normal(3.0, 1.5, 3000)), 2)
    noise = np.abs(spread(values) - values)
    for low in (10.0, 100.0):
        inside = (values > low) & (values < 5 * low)
        assert 0.3 * low / 10 < noise[inside].max() <= 0.51 * low / 10


def test_values_keep_their_order_and_continuous_ones_stay():
    rng = np.random.default_rng(2)
    rounded = np.round(5 * rng.standard_normal(500))
    by_value = np.argsort(spread(rounded))
    assert (np.diff(rounded[by_value]) >= 0).all()
    smooth = rng.standard_normal(500)
    assert (spread(smooth) == smooth).all()
    assert not on_lattice(block(smooth), np.array([True]))
    assert not on_lattice(block(rounded), np.array([False]))


def test_a_lattice_is_seen_without_ties():
    values = np.random.default_rng(3).choice(100_000, 300, replace=False) * 0.01
    assert on_lattice(block(values), np.array([True]))


def test_an_outlier_does_not_get_a_cell_of_its_own():
    values = np.append(np.tile(np.arange(20.0), 20), 1e6)
    assert abs(spread(values)[-1] - 1e6) <= 0.5


ROUNDED = {
    "integers": lambda u: np.round(3 * u),
    "halves": lambda u: np.round(2.4 * u) / 2,
    "two digits": lambda u: significant_digits(np.exp(u), 2),
}


@pytest.mark.parametrize("kind", ["integers", "halves"])
def test_rounded_followers_of_z_are_not_taken_for_dependent(kind):
    rejections = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        z, own, other = rng.standard_normal((3, 400))
        x, y = (ROUNDED[kind](z + 0.12 * noise) for noise in (own, other))
        rejections += SpectralCIT(random_state=seed).test(x, y, z).reject()
    assert rejections <= 2  # of the undisturbed lattice: at least eight


def test_dependence_survives_the_noise():
    rng = np.random.default_rng(4)
    z, own, other = rng.standard_normal((3, 400))
    x, y = np.round(3 * (z + own)), np.round(3 * (z + other + 0.3 * own))
    assert SpectralCIT(random_state=0).test(x, y, z).pvalue < 0.001


def test_coarse_rounding_of_a_follower_is_seen_and_spread_farther():
    rng = np.random.default_rng(5)
    rounded = block(np.round(4 * rng.standard_normal(500)))
    assert within_cells(rounded, np.array([True]), np.array([0.2 / 16]))
    assert not within_cells(rounded, np.array([True]), np.array([0.6 / 16]))
    assert not within_cells(rounded, np.array([False]), np.array([0.2 / 16]))
    noise = spread_ties(rounded, np.array([True]), rng, cells=3).values - rounded.values
    assert 1.3 < np.abs(noise).max() <= 1.5 + 3.0  # wider only where cells are empty


def test_two_lattices_that_rise_together_do_not_share_their_noise():
    for seed in range(4):
        z = np.random.default_rng(seed).standard_normal(400)
        result = SpectralCIT(random_state=seed).test(np.round(3 * z), 2 * np.round(3 * z) + 1, z)
        assert result.pvalue > 1e-6  # with common noise it is 1e-300
