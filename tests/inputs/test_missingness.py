"""Whether cells are missing because of x and y, as far as the pattern shows it."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit import prepare

N = 400


def case(seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(N, 2))
    return z[:, 0] + rng.normal(size=N), z[:, 0] + rng.normal(size=N), z, rng


def warns(x, y, z):
    return any("missing='impute'" in note for note in prepare(x, y, z, missing="drop").notes)


SCORES = {
    "both": lambda x, y, z: x + y,
    "product": lambda x, y, z: 1.5 * x * y,
    "distance": lambda x, y, z: np.abs(x) + np.abs(y),
}


@pytest.mark.parametrize("score", SCORES)
def test_cells_missing_because_of_both_are_warned_of(score):
    warned = 0
    for seed in range(20):
        x, y, z, rng = case(seed)
        total = SCORES[score](x, y, z) + rng.logistic(size=N)
        z[total > np.quantile(total, 0.7), 0] = np.nan
        warned += warns(x, y, z)
    assert warned >= 19


HARMLESS = {
    "chance": lambda x, y, z: 0.0 * x,
    "x": lambda x, y, z: 2 * x,
    "another z": lambda x, y, z: 2 * z[:, 1],
}


@pytest.mark.parametrize("score", HARMLESS)
def test_others_are_not(score):
    warned = 0
    for seed in range(20):
        x, y, z, rng = case(seed)
        total = HARMLESS[score](x, y, z) + rng.logistic(size=N)
        z[total > np.quantile(total, 0.7), 0] = np.nan
        warned += warns(x, y, z)
    assert warned <= 2


def test_rows_without_x_because_of_y_may_be_dropped_in_silence():
    x, y, z, _ = case(0)
    assert not warns(np.where(y > 0.5, np.nan, x), y, z)
