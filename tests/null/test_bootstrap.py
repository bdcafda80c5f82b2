"""The multiplier bootstrap against enumeration, and the calibration of what combines p-values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from spectralcit.null.bootstrap import Multipliers
from spectralcit.null.joint import JointNull, joint_p
from spectralcit.null.quadratic import QuadraticNull


def all_signs(n):
    return np.array(list(itertools.product([-1.0, 1.0], repeat=n)))


def test_moments_equal_enumeration_over_all_signs():
    rng = np.random.default_rng(0)
    terms = rng.standard_normal((8, 3))
    multipliers = Multipliers(8, 100, rng)
    multipliers.signs = all_signs(8)
    values = np.square(all_signs(8) @ terms).sum(axis=1) / 8
    gram = multipliers.inner_products(np.ones((8, 1)), terms)
    for null in (multipliers.null_of_sums(terms), multipliers.null_of_inner_products(gram)):
        np.testing.assert_allclose(np.sort(null.draws), np.sort(values), rtol=1e-5, atol=1e-6)
        assert null.mean == pytest.approx(values.mean())
        assert null.variance == pytest.approx(values.var())
        assert null.third == pytest.approx(np.mean((values - values.mean()) ** 3), rel=1e-5)


def test_sums_with_many_columns_use_the_other_gram_matrix():
    rng = np.random.default_rng(1)
    terms = rng.standard_normal((6, 40))
    multipliers = Multipliers(6, 100, rng)
    multipliers.signs = all_signs(6)
    null = multipliers.null_of_sums(terms)
    values = np.square(all_signs(6) @ terms).sum(axis=1) / 6
    np.testing.assert_allclose(null.draws, values)
    assert (null.mean, null.variance) == (pytest.approx(values.mean()), pytest.approx(values.var()))


def test_products_through_gram_matrices_equal_products_of_groups():
    rng = np.random.default_rng(5)
    left, right = rng.standard_normal((50, 4)), rng.standard_normal((50, 3))
    multipliers = Multipliers(50, 200, rng, max_groups=20)
    direct = multipliers.null_of_sums(multipliers.sums_of_products(left, right))
    through = multipliers.null_of_inner_products(multipliers.inner_products(left, right))
    np.testing.assert_allclose(through.draws, direct.draws, rtol=1e-4, atol=1e-5)
    assert (through.mean, through.variance) == (
        pytest.approx(direct.mean, rel=1e-5),
        pytest.approx(direct.variance, rel=1e-5),
    )


def test_groups_partition_the_rows():
    multipliers = Multipliers(1003, 10, np.random.default_rng(2), max_groups=50)
    assert len(multipliers.groups) == 50
    np.testing.assert_array_equal(np.sort(np.concatenate(multipliers.groups)), np.arange(1003))


@pytest.mark.parametrize("combination", ["harmonic-mean", "min"])
def test_joint_p_is_uniform_under_the_null(combination):
    rng = np.random.default_rng(3)
    pvalues = []
    for _ in range(400):
        terms = rng.standard_normal((60, 4))
        blocks = [terms[:, :1], terms[:, 1:], terms]  # the third overlaps with both
        multipliers = Multipliers(60, 300, rng)
        statistics = np.array([np.square(b.sum(axis=0)).sum() / 60 for b in blocks])
        nulls = [multipliers.null_of_sums(b) for b in blocks]
        pvalues.append(joint_p(statistics, nulls, np.array([2.0, 1.0, 1.0]), combination).pvalue)
    assert stats.kstest(pvalues, "uniform").pvalue > 0.01
    assert 0.02 < np.mean(np.array(pvalues) <= 0.05) < 0.09


def test_joint_p_falls_with_the_statistic_without_a_jump_and_never_reaches_zero():
    rng = np.random.default_rng(4)
    multipliers = Multipliers(200, 500, rng)
    null = multipliers.null_of_sums(rng.standard_normal((200, 1)))
    grid = np.linspace(0.0, 60.0, 400)
    pvalues = [joint_p(np.array([t]), [null], np.ones(1)).pvalue for t in grid]
    assert np.all(np.diff(pvalues) <= 1e-12)
    assert pvalues[0] == 1.0
    knee = next(i for i, p in enumerate(pvalues) if p < 0.05)
    assert pvalues[knee] > 0.035  # steps of 0.15 in the statistic: no cliff where counts give way to the tail
    assert 0.0 < joint_p(np.array([1e9]), [null], np.ones(1)).pvalue < 1e-300


def test_combinations_before_calibration_by_hand():
    rng = np.random.default_rng(5)
    multipliers = Multipliers(100, 200, rng)
    nulls = [multipliers.null_of_sums(rng.standard_normal((100, 1))) for _ in range(2)]
    statistics, weights = np.array([4.0, 3.0]), np.array([3.0, 1.0])
    p, q = (float(null.sf(t)) for null, t in zip(nulls, statistics, strict=True))
    harmonic = joint_p(statistics, nulls, weights)
    assert harmonic.statistic == pytest.approx(np.log(0.75 / p + 0.25 / q))
    smallest = joint_p(statistics, nulls, weights, "min")
    assert smallest.statistic == pytest.approx(-np.log(min(p / 0.75, q / 0.25)))
    np.testing.assert_allclose(harmonic.pvalues, [p, q])


def test_a_block_without_variation_says_nothing():
    flat = QuadraticNull(np.zeros(100), 0.0, 0.0, 0.0)
    np.testing.assert_array_equal(flat.sf(np.array([0.0, 1.0])), 1.0)


def test_far_below_the_knee_the_combination_is_the_pvalue_itself():
    rng = np.random.default_rng(7)
    multipliers = Multipliers(300, 2000, rng)
    nulls = [multipliers.null_of_sums(rng.standard_normal((300, 2))) for _ in range(8)]
    joint = JointNull(nulls, np.ones(8))
    at_knee = joint.draws[99]
    assert at_knee < 0.05  # harmonic means of many p-values are smaller than one of them
    np.testing.assert_allclose(joint.sf(np.array([at_knee])), 0.05, rtol=0.02)
    np.testing.assert_allclose(joint.sf(np.array([1e-12])), 1e-12, rtol=1e-4)


def test_no_pvalue_is_smaller_than_all_signs_equal():
    assert Multipliers(10, 100, np.random.default_rng(8)).least_pvalue == 2.0**-9
    assert Multipliers(1000, 100, np.random.default_rng(9), max_groups=50).least_pvalue == 2.0**-49


def test_more_signs_come_after_the_first_and_follow_from_the_seed():
    twice = []
    for _ in range(2):
        rng = np.random.default_rng(10)
        first = Multipliers(500, 100, rng)
        twice.append((first, first.with_more_signs(rng)))
    first, more = twice[0]
    assert len(more.signs) == 400
    assert np.array_equal(more.signs[:100], first.signs)
    assert np.array_equal(more.signs, twice[1][1].signs)
    assert all(np.array_equal(a, b) for a, b in zip(more.groups, first.groups, strict=True))
    assert len(np.unique(more.signs, axis=0)) == 400
    many = Multipliers(20, 5000, np.random.default_rng(11))
    assert len(many.with_more_signs(np.random.default_rng(12)).signs) == 5000
