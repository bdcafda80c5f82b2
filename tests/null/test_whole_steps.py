"""Counts of few pairs, against Poisson's distribution itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from spectralcit.null.bootstrap import Multipliers
from spectralcit.null.whole_steps import as_normal, expected_steps


@pytest.mark.parametrize("expected", [0.3, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("step", [1.0, 0.2, -3.0])
def test_tails_are_those_of_poisson_in_any_unit_and_on_either_side(expected, step):
    seen = np.arange(int(expected + 6.0 * np.sqrt(expected)) + 2)
    seen = seen[seen > expected + 0.5]
    variance = np.full(len(seen), expected * step**2)
    normal = as_normal(step * (seen - expected), variance, np.full(len(seen), step)) / np.sqrt(variance)
    exact = stats.poisson.sf(seen - 1, expected)
    ratio = stats.norm.sf(np.sign(step) * normal) / exact
    assert (ratio > 1.0).all(), "never bolder than the exact tail"
    assert (ratio < 2.0).all()


def test_without_steps_sums_stay_as_they_are():
    total = np.array([-3.0, 0.0, 2.5])
    np.testing.assert_array_equal(as_normal(total, np.ones(3), np.zeros(3)), total)
    tiny = as_normal(total, np.ones(3), np.full(3, 1e-9))
    np.testing.assert_allclose(tiny, total, rtol=1e-6, atol=1e-8)


def test_sums_without_variance_and_counts_below_none_are_finite():
    found = as_normal(np.array([0.0, -5.0]), np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    assert np.isfinite(found).all()


def test_expected_steps_by_hand():
    np.testing.assert_array_equal(expected_steps(np.array([8.0, 3.0]), np.array([2.0, 0.0])), [2.0, np.inf])


def test_sparse_pearson_statistics_have_the_tail_that_is_drawn():
    """Forty cells in which two are expected, 200,000 tables."""
    rng = np.random.default_rng(1)
    cells, expected = 40, 2.0
    drawn = np.square((rng.poisson(expected, (200_000, cells)) - expected) / np.sqrt(expected)).sum(axis=1)
    multipliers = Multipliers(4000, 50, rng)
    rows = rng.choice([-1.0, 1.0], size=(400, cells)) * np.sqrt(4000 / 400)
    null = multipliers.null_of_sums(rows).with_mean(float(cells))
    sparse = null.of_counts(np.ones(cells), np.full(cells, expected))
    for level in (0.05, 0.01, 0.001):
        threshold = np.quantile(drawn, 1.0 - level)
        assert float(sparse.sf(threshold)) == pytest.approx(level, rel=0.35)
    # The draws follow, so that the combination of several blocks stays what it was.
    np.testing.assert_allclose(sparse.sf(sparse.draws), null.sf(null.draws), rtol=1e-6)
