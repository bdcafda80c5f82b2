"""The band of a residual picture: as wide as means vary, and left when something of Z was left in."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from spectralcit import SpectralCIT, prepare
from spectralcit.inputs import Block
from spectralcit.spectral.bands import band_along, bins_of_columns, number_bins
from spectralcit.spectral.pair import leading_pair
from spectralcit.spectral.sides import dictionary_sides, random_streams

RECORD = Path(__file__).parents[2] / "benchmarks" / "results" / "residual_pictures.csv"
NULLS = ("lines", "curves, uneven spread", "numbers, a product and a category", "skewed, yes or no")


def sides_of(data, nuisance="kernel_ridge"):
    rng, map_seed, _, _ = random_streams(0)
    return dictionary_sides(data, nuisance, rng, map_seed)


def drawn(x, y, z, **rows):
    return leading_pair(SpectralCIT(), prepare(x, y, z, **rows), seed=0)


def test_the_band_is_as_wide_as_means_vary_once_a_line_is_removed():
    # Closed form: with the projection P on (1, z), the mean a'r of a bin has the variance |(I - P) a|².
    rng = np.random.default_rng(3)
    z, x, y = rng.normal(size=(3, 3000))
    data = prepare(x + z, y - z, z)
    side = sides_of(data, LinearRegression()).y
    found = drawn_along_z(side, z)
    design = np.column_stack([np.ones(3000), np.sort(z)])
    averages = np.zeros((3000, 12))
    averages[np.arange(3000), np.arange(3000) // 250] = 1 / 250
    left = averages - design @ np.linalg.lstsq(design, averages, rcond=None)[0]
    expected = np.linalg.norm(left, axis=0)
    ratio = found.margin / expected
    assert ratio.min() > 0.9 * ratio.mean()
    # Twelve bins, a 99 % band: Šidák's quantile of twelve independent normal variables is 3.34.
    assert 3.0 < ratio.mean() < 3.7


def drawn_along_z(side, z):
    # Rows of features are in the order of the test; without ties in Z that is by leverage.
    leverage = np.abs(z - z.mean())
    ordered = z[np.argsort(leverage, kind="stable")]
    return band_along(side, side.linear[:, 0], [number_bins("z", ordered)], np.random.default_rng(0))


@pytest.mark.parametrize("left_in", [True, False])
def test_what_was_left_of_z_leaves_the_band(left_in):
    rng = np.random.default_rng(5)
    z = rng.uniform(-2, 2, size=300)
    x, y = np.sin(2 * z) + rng.normal(size=300), np.cos(2 * z) + rng.normal(size=300)
    test = SpectralCIT(nuisance=LinearRegression() if left_in else "kernel_ridge")
    pair = leading_pair(test, prepare(x, y, z), seed=0)
    for side in (pair.x, pair.y):
        assert side.remainder.leaves_band == left_in
        assert (side.remainder.pvalue <= 0.01) == left_in


def test_a_mean_is_that_of_the_rows_of_its_bin():
    rng = np.random.default_rng(1)
    z = rng.integers(4, size=200)
    pair = drawn(rng.normal(size=200) + z, rng.normal(size=200) - z, z)
    found = pair.y.remainder
    expected = [pair.y.residual[z == level].mean() for level in range(4)]
    np.testing.assert_allclose(found.means, expected, atol=1e-6)
    assert found.centres.tolist() == [0, 1, 2, 3]


def test_levels_that_are_removed_exactly_raise_no_alarm():
    rng = np.random.default_rng(2)
    site = rng.choice(["north", "east", "south"], size=150)
    shift = (site == "east") * 3.0
    pair = drawn(shift + rng.normal(size=150), shift + rng.normal(size=150), pd.DataFrame({"site": site}))
    found = pair.x.remainder
    assert found.along == "site"
    assert found.labels == ("east", "north", "south")
    np.testing.assert_allclose(found.means, 0.0, atol=1e-9)
    assert not found.leaves_band


@pytest.mark.parametrize("seed", [15, 25])
def test_a_bin_without_its_rare_yes_is_no_alarm(seed):
    # All residuals of such a bin are small and on one side: their own spread ignores the yes that may come.
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(300, 2))
    x, y = (
        (rng.uniform(size=300) < 1 / (1 + np.exp(-1.5 * z[:, 0] - slope * z[:, 1]))).astype(float)
        for slope in (-1, 1)
    )
    test = SpectralCIT(nuisance=LogisticRegression(C=100.0))  # the truth: nothing of Z is left
    assert not leading_pair(test, prepare(x, y, z), seed=0).y.remainder.leaves_band


def test_rows_that_belong_together_widen_the_band():
    rng = np.random.default_rng(6)
    group = np.repeat(np.arange(40), 10)
    common = rng.normal(size=40)[group]
    z = rng.normal(size=40)[group]
    y = common + 0.3 * rng.normal(size=400)
    x = rng.normal(size=400)
    alone = drawn(x, y, z).y.remainder
    together = drawn(x, y, z, groups=group).y.remainder
    assert together.margin.mean() > 1.5 * alone.margin.mean()
    assert not together.leaves_band


def test_of_many_columns_the_one_of_which_most_is_left_is_drawn():
    rng = np.random.default_rng(7)
    z = pd.DataFrame(rng.uniform(-2, 2, size=(400, 4)), columns=list("abcd"))
    y = np.sin(2 * z["c"]) + 0.3 * rng.normal(size=400)
    test = SpectralCIT(nuisance=LinearRegression())
    found = leading_pair(test, prepare(rng.normal(size=400), y.to_numpy(), z), seed=0).y.remainder
    assert (found.along, found.n_looked) == ("c", 5)  # four columns and their line
    assert found.leaves_band


def test_the_record_of_false_alarms():
    left = defaultdict(list)
    with RECORD.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            left[row["kind"]].append(row["left_x"] == "1" or row["left_y"] == "1")
    for kind in NULLS:
        assert len(left[kind]) == 200
        assert np.mean(left[kind]) <= 0.05
    assert np.mean(left["a wave, of which a line was removed"]) > 0.95


def test_of_many_columns_those_that_the_fit_uses_are_looked_at():
    # Chosen by the target, whose noise the residuals share, the band was left too often.
    rng = np.random.default_rng(8)
    values = rng.normal(size=(100, 40))
    z = Block(values, tuple(f"z{j}" for j in range(40)), ("continuous",) * 40, tuple(range(40)))
    chosen = bins_of_columns(z, values[:, 7] - values[:, 30])
    assert len(chosen) == 20
    assert {bins.name for bins in chosen[:2]} == {"z7", "z30"}
