"""Chances of few groups: those of independent rows are uniform, whatever was removed and however tied."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spectralcit import prepare
from spectralcit.inputs import select_columns
from spectralcit.inputs.few_groups import chance_of, few_are_alike, is_few, uncorrelated_sides
from spectralcit.inputs.left import orthonormal
from spectralcit.inputs.together import Together

CODES = np.repeat(np.arange(10), 10)
GROUPS = Together(CODES)


def test_chances_of_independent_rows_are_uniform_and_unrelated_though_the_sides_are_tied():
    chances = []
    for seed in range(400):
        rng = np.random.default_rng(6_100_500 + seed)
        removed = orthonormal(rng.normal(size=(10, 5))[CODES] + rng.normal(size=(100, 5)))
        shared = rng.normal(size=(100, 1))
        x, y = shared + 0.5 * rng.normal(size=(100, 2)), shared + 0.5 * rng.normal(size=(100, 1))
        chances.append([chance_of(side, GROUPS) for side in uncorrelated_sides(x, y, removed)])
    found = np.array(chances)
    for share in (0.05, 0.3):  # four standard errors
        assert (found <= share).mean(axis=0) == pytest.approx(share, abs=4 * np.sqrt(share / 400))
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.2


def test_sides_are_mixed_as_little_as_makes_them_uncorrelated():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    y = x[:, :1] + rng.normal(size=(80, 1))
    of_x, of_y = uncorrelated_sides(x, y, orthonormal(rng.normal(size=(80, 3))))
    both = np.hstack([of_x.columns, of_y.columns])
    np.testing.assert_allclose(both.T @ both / 76, np.eye(3), atol=1e-10)
    assert np.corrcoef(of_x.columns[:, 0], x[:, 0])[0, 1] > 0.85
    assert np.corrcoef(of_y.columns[:, 0], y[:, 0])[0, 1] > 0.85


def test_columns_that_repeat_count_once():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 100, 1)) + rng.normal(size=(2, 10, 1))[:, CODES]
    basis = orthonormal(np.empty((100, 0)))
    once, twice = (uncorrelated_sides(np.hstack([x] * k), y, basis)[0] for k in (1, 2))
    assert chance_of(twice, GROUPS) == pytest.approx(chance_of(once, GROUPS), rel=0.05)


def test_only_few_groups_are_judged_and_both_sides_must_be_alike():
    rng = np.random.default_rng(2)
    alike = [3 * rng.normal(size=(10, 1))[CODES] + rng.normal(size=(100, 1)) for _ in "xy"]
    basis = orthonormal(np.empty((100, 0)))
    assert few_are_alike(GROUPS, uncorrelated_sides(*alike, basis), 0.001)
    assert not few_are_alike(
        GROUPS, uncorrelated_sides(alike[0], np.sin(np.arange(100.0))[:, None], basis), 1.0
    )
    assert [is_few(Together(np.arange(count))) for count in (7, 8, 16, 17)] == [False, True, True, False]


@pytest.mark.parametrize("labelled", [False, True], ids=["in a row", "shuffled, with a label"])
def test_ten_groups_of_ten_rows_are_noticed(labelled):
    """An intraclass correlation of .3 in X, Y and Z: missed in 4 of 100; of 40, 6 or more once in 160."""
    noticed = 0
    for seed in range(40):
        rng = np.random.default_rng(6_100_900 + seed)
        between, within = rng.normal(size=(3, 10))[:, CODES], rng.normal(size=(3, 100))
        x, y, z = np.sqrt(0.3) * between + np.sqrt(0.7) * within
        frame = pd.DataFrame({"x": x + z, "y": y + z, "z": z, "ward": CODES})
        given = (frame["x"], frame["y"], frame["z"])
        if labelled:
            given = select_columns(frame.iloc[rng.permutation(100)], "x", "y", ["z"])
        noticed += any("groups=" in note for note in prepare(*given).notes)
    assert noticed >= 35


def test_a_grade_that_both_sides_follow_smoothly_is_a_covariate():
    warned = 0
    for seed in range(40):
        rng = np.random.default_rng(6_101_000 + seed)
        grade = rng.integers(1, 13, 200)
        x, y = grade / 6 + rng.normal(size=200), (grade - 6.0) ** 2 / 18 + rng.normal(size=200)
        asked = select_columns(pd.DataFrame({"x": x, "y": y, "grade": grade}), "x", "y", None)
        warned += any("groups=" in note for note in prepare(*asked).notes)
    assert warned <= 5
