"""Boosted trees as a classifier of two samples."""

import numpy as np
from scipy.special import expit

from spectralcit.statistics.boosting import TreeBooster, bin_columns


def test_bins_keep_the_order_and_the_ties():
    rng = np.random.default_rng(4)
    values = np.column_stack([rng.normal(size=500), rng.integers(0, 4, 500)])
    codes = bin_columns(values)
    order = np.argsort(values[:, 0])
    assert (np.diff(codes[order, 0]) >= 0).all()
    assert np.bincount(codes[:, 0].astype(int)).max() <= 10  # 500 rows in 63 bins
    np.testing.assert_array_equal(codes[:, 1], values[:, 1])


def test_booster_sees_dependence_that_no_single_column_shows():
    # The second sample is the first one with a column permuted: no first split has any gain.
    rng = np.random.default_rng(6)
    x = rng.normal(size=(300, 1))
    ones, zeros = np.hstack([x, x]), np.hstack([x, rng.permutation(x)])
    probability = TreeBooster(30, 0.1, 5)(ones, zeros, seed=0)
    assert probability(np.array([[1.0, 1.0], [-1.0, -1.0]])).min() > 0.6
    assert probability(np.array([[1.0, -1.0], [-1.0, 1.0]])).max() < 0.3


def test_booster_finds_a_boundary_without_touching_global_state():
    rng = np.random.default_rng(5)
    ones, zeros = rng.normal(1, 1, (300, 2)), rng.normal(-1, 1, (300, 2))
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    probability = TreeBooster(50, 0.1, 3)(ones, zeros, seed=0)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    test = rng.normal(1, 1, (400, 2))
    truth = expit(2 * test.sum(axis=1))
    assert np.abs(probability(test) - truth).mean() < 0.15
