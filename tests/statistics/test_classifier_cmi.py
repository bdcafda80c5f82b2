"""A classifier's divergence against known ones, and who lends y to whom."""

import numpy as np
import pytest
from scipy.special import expit

from spectralcit.statistics.boosting import bin_columns
from spectralcit.statistics.classifier_cmi import classifier_cmi, donsker_varadhan


def test_divergence_of_two_gaussians_with_the_true_odds():
    # N(1/2, 1) against N(-1/2, 1): log odds x, divergence 1/2.
    rng = np.random.default_rng(0)
    p, q = rng.normal(0.5, 1, 40_000), rng.normal(-0.5, 1, 40_000)
    assert donsker_varadhan(expit(p), expit(q)) == pytest.approx(0.5, abs=0.03)
    assert donsker_varadhan(np.full(5, 0.5), np.full(5, 0.5)) == 0.0


def test_divergence_is_finite_for_a_classifier_that_is_sure():
    assert np.isfinite(donsker_varadhan(np.ones(3), np.zeros(3)))


def test_the_exchanged_y_is_that_of_the_nearest_row_of_the_other_half():
    x, z = np.random.default_rng(31).normal(size=(60, 1)), np.random.default_rng(32).normal(size=(60, 3))
    y = np.arange(60.0)[:, None]  # the number of the row
    seen = []

    class Spy:
        def __call__(self, ones, zeros, *, seed):
            seen.append((ones, zeros))
            return lambda points: np.full(len(points), 0.5)

    standard = (z - z.mean(axis=0)) / z.std(axis=0)
    assert classifier_cmi(y, z, Spy(), np.random.default_rng(1))(bin_columns(x)) == 0.0
    (ones, zeros), rows = seen[0], np.unique(seen[0][0][:, 1]).astype(int)
    assert len(ones) == 20  # two thirds of one half
    lenders = np.random.default_rng(1).permutation(60)[:30]
    assert not set(rows) & set(lenders)
    for one, zero in zip(ones, zeros, strict=True):
        own = int(one[1])
        nearest = lenders[np.argmin(((standard[lenders] - standard[own]) ** 2).sum(axis=1))]
        assert zero[1] == nearest
        np.testing.assert_array_equal(np.delete(one, 1), np.delete(zero, 1))
