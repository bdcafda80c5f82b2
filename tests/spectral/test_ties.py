"""Rounded measurements: noise as wide as a cell, and no rejection of a true null at any resolution."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit import SpectralCIT
from spectralcit.inputs import Block
from spectralcit.nuisance import Augmented, KernelRidge
from spectralcit.spectral.phases import lattice_frequencies
from spectralcit.spectral.ties import lies_on_lattice, spread_ties


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
    assert not lies_on_lattice(block(smooth))
    assert lies_on_lattice(block(rounded))


def test_a_lattice_is_seen_without_ties():
    values = np.random.default_rng(3).choice(100_000, 300, replace=False) * 0.01
    assert lies_on_lattice(block(values))


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


def test_lattices_within_a_column_are_peaks_of_its_characteristic_function():
    rng = np.random.default_rng(5)
    values = 40.0 + 20.0 * rng.standard_normal(2000)
    heaped = np.where(rng.uniform(size=2000) < 0.4, 10 * np.round(values / 10), np.round(values))
    frequencies, heights = lattice_frequencies(heaped, 4.0)
    assert np.allclose(frequencies * 10, np.round(frequencies * 10), atol=0.05)
    assert heights[0] == pytest.approx(0.4, abs=0.05)  # the share of rows on the coarse lattice


def test_further_columns_are_removed_as_least_squares_would():
    rng = np.random.default_rng(6)
    z, columns = rng.standard_normal((200, 2)), rng.standard_normal((200, 3))
    targets = rng.standard_normal((200, 2)) + columns[:, :2]
    nuisance = KernelRidge(Block(z, ("a", "b"), ("continuous",) * 2, (0, 1)), 200, rng)
    fit = Augmented(nuisance, columns).fit_location(targets)
    assert fit.plain.chosen.smoother.feature_map is None  # nothing but least squares
    design = np.column_stack([np.ones(200), z, columns])
    hat = design @ np.linalg.pinv(design)
    left = targets - hat @ targets
    assert np.allclose(fit.remove(targets), left)
    assert np.allclose(fit.out_of_sample, left / (1.0 - np.diag(hat))[:, None])
    assert np.allclose(fit.row_scale, np.sqrt(1.0 - np.diag(hat)))
    assert fit.degrees_of_freedom == pytest.approx(6.0)


@pytest.mark.parametrize("with_z", [True, False])
def test_rows_that_agree_in_z_may_come_in_any_order_and_sides_may_change_places(with_z):
    rng = np.random.default_rng(7)
    z = rng.integers(0, 12, 300).astype(float)
    x, y = (np.round(z / 2 + 2 * rng.standard_normal(300)) for _ in range(2))
    rows = rng.permutation(300)
    given = (z, z[rows]) if with_z else (None, None)
    pvalue = SpectralCIT(random_state=0).test(x, y, given[0]).pvalue
    for first, second in ((x, y), (y, x)):
        moved = SpectralCIT(random_state=0).test(first[rows], second[rows], given[1]).pvalue
        assert moved == pytest.approx(pvalue, rel=1e-9)


@pytest.mark.parametrize("cells", [1.0, 10.0])
def test_steps_of_z_are_removed_from_coarse_and_from_heaped_values(cells):
    rejections = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        z, own, other = rng.standard_normal((3, 500))
        coarse = rng.uniform(size=(2, 500)) < 0.5
        x, y = (
            np.where(c, np.round(3 * z + 0.15 * e), np.round(cells * (3 * z + 0.15 * e)) / cells)
            for c, e in zip(coarse, (own, other), strict=True)
        )
        rejections += SpectralCIT(random_state=seed).test(x, y, z).reject()
    assert rejections <= 2


def test_two_lattices_that_rise_together_do_not_share_their_noise():
    for seed in range(4):
        z = np.random.default_rng(seed).standard_normal(400)
        result = SpectralCIT(random_state=seed).test(np.round(3 * z), 2 * np.round(3 * z) + 1, z)
        assert result.pvalue > 1e-6  # with common noise it is 1e-300
