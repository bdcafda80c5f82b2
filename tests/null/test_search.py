"""P-values of searches: fitted tails and the number of independent statistics, against closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from spectralcit.null.bootstrap import Multipliers
from spectralcit.null.chi2_mixture import chi2_mixture_sf
from spectralcit.null.quadratic import QuadraticNull
from spectralcit.null.search import effective_number, fitted_sf, joint_sf, smallest_p


def test_fitted_tail_of_a_gamma_variable_is_its_tail():
    draws = np.random.default_rng(0).gamma(9.0, 2.0, size=100_000)
    for q in (18.0, 35.0, 50.0):
        assert float(fitted_sf(draws, q)) == pytest.approx(stats.gamma.sf(q, 9.0, scale=2.0), rel=0.1)
    np.testing.assert_array_equal(fitted_sf(np.ones(50), np.array([0.0, 2.0])), 1.0)


def test_copies_count_once_and_independent_statistics_each():
    rng = np.random.default_rng(1)
    one = rng.uniform(size=(4000, 1))
    assert effective_number(np.repeat(one, 5, axis=1).min(axis=1)) == pytest.approx(1.0, abs=0.1)
    assert effective_number(rng.uniform(size=(4000, 5)).min(axis=1)) == pytest.approx(5.0, rel=0.1)
    assert float(joint_sf(0.01, 5.0)) == pytest.approx(1.0 - 0.99**5)


def test_smallest_p_is_uniform_under_the_null():
    rng = np.random.default_rng(2)
    mixing = rng.standard_normal((4, 8))  # eight correlated statistics
    found = []
    for _ in range(400):
        values = np.abs(rng.standard_normal((301, 4)) @ mixing)
        found.append(smallest_p(values[0], values[1:], 1e-3 * np.ones(8)).pvalue)
    assert stats.kstest(found, "uniform").pvalue > 0.001


def test_a_search_never_surprises_more_than_what_it_found_without_a_search():
    """Largest of 50 normal variables, 12 deviations away: the draws' own spread is a third of one."""
    rng = np.random.default_rng(4)
    draws = np.abs(rng.standard_normal((400, 50))).max(axis=1)[:, None]
    bounded = smallest_p(np.array([12.0]), draws, np.ones(1))
    assert bounded.pvalue == pytest.approx(bounded.null.number * 2.0 * stats.norm.sf(12.0), rel=0.01)
    assert smallest_p(np.array([12.0]), draws, np.zeros(1)).pvalue == pytest.approx(1.0)
    near = np.array([3.6])  # where draws are, they decide
    assert smallest_p(near, draws, np.ones(1)).pvalue == pytest.approx(
        float(fitted_sf(draws[:, 0], 3.6)), rel=0.2
    )


def test_a_search_is_a_null_distribution_of_its_own():
    rng = np.random.default_rng(5)
    search = smallest_p(np.array([1.0, 2.0]), np.abs(rng.standard_normal((500, 2))), np.ones(2))
    assert search.pvalue == pytest.approx(search.pvalues.min())
    assert stats.kstest(search.null.sf(search.null.draws), "uniform").pvalue > 0.01


def test_three_moments_follow_a_mixture_into_the_tail_and_two_do_not():
    weights = 1.0 / np.arange(1, 6) ** 2.0
    mean, variance, third = weights.sum(), 2 * (weights**2).sum(), 8 * (weights**3).sum()
    null = QuadraticNull(np.zeros(1), mean, variance, third)
    two = QuadraticNull(np.zeros(1), mean, variance, 0.0)
    for q in (12.0, 16.0):
        exact = chi2_mixture_sf(q, weights)
        assert float(null.sf(q)) == pytest.approx(exact, rel=0.25)
        assert float(two.sf(q)) < 0.5 * exact
    assert float(null.with_mean(3.0 * mean).sf(36.0)) == pytest.approx(float(null.sf(12.0)))


def test_largest_of_studentised_sums_against_enumeration():
    rng = np.random.default_rng(3)
    sums = rng.standard_normal((10, 3))
    multipliers = Multipliers(10, 100, rng)
    multipliers.signs = np.array(list(itertools.product([-1.0, 1.0], repeat=10)))
    null = multipliers.null_of_largest(sums)
    values = np.abs(multipliers.signs @ sums) / np.sqrt(np.square(sums).sum(axis=0))
    np.testing.assert_allclose(null.draws, values.max(axis=1))
    assert 1.0 <= null.number < 4.0
    assert multipliers.null_of_largest(np.zeros((10, 2))).number == 1.0
