"""Squares over estimated variances, against Student's and Fisher's distributions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from spectralcit.null.bootstrap import Multipliers
from spectralcit.null.quadratic import QuadraticNull
from spectralcit.null.student import freedom_of_variance, student_square, with_known_variance


@pytest.mark.parametrize("freedom", [8.0, 20.0, 57.0, 300.0])
@pytest.mark.parametrize("p", [0.5, 0.05, 1e-3, 1e-5])
def test_one_square_has_the_tail_of_t(freedom, p):
    t = stats.t.isf(p / 2.0, freedom)
    assert float(stats.chi2.sf(with_known_variance(t**2, freedom), 1)) == pytest.approx(p, rel=0.2)


@pytest.mark.parametrize("count", [2, 5, 12])
@pytest.mark.parametrize("p", [0.5, 0.05, 1e-3])
def test_several_squares_have_the_tail_of_f(count, p):
    total = count * stats.f.isf(p, count, 40)
    assert float(stats.chi2.sf(with_known_variance(total, 40.0, count), count)) == pytest.approx(p, rel=0.12)


def test_of_more_squares_than_degrees_of_freedom_nothing_is_claimed():
    """Bartlett's rule would find 7e-5 in the middle of 200 squares over 20 degrees of freedom."""
    assert float(stats.chi2.sf(with_known_variance(200.0, 20.0, 200.0), 200)) > 0.5


@given(st.floats(0.0, 200.0), st.floats(1.0, 1e6), st.floats(1.0, 50.0))
def test_both_ways_are_inverse(square, freedom, count):
    there = student_square(square, freedom, count)
    assert float(with_known_variance(there, freedom, count)) == pytest.approx(square, rel=1e-6, abs=1e-9)


def test_degrees_of_freedom_by_hand():
    alike, one = np.full(30, 2.0), np.zeros(30)
    one[3] = 1.0
    assert freedom_of_variance(np.column_stack([alike, one])).tolist() == pytest.approx([30.0, 1.0])
    normal = np.square(np.random.default_rng(0).standard_normal(100_000))
    assert float(freedom_of_variance(normal)) == pytest.approx(100_000 / 3, rel=0.05)
    assert float(freedom_of_variance(np.zeros(5))) == 0.0


def test_variances_of_many_rows_are_as_good_as_known():
    null = QuadraticNull(np.array([0.5, 3.0]), 1.0, 2.0, 8.0)
    far = null.with_estimated_variance(1e9)
    q = np.array([0.1, 1.0, 10.0, 30.0])
    np.testing.assert_allclose(far.sf(q), null.sf(q), rtol=1e-5)
    np.testing.assert_allclose(far.draws, null.draws, rtol=1e-6)


def test_draws_keep_their_pvalues_and_observed_squares_get_larger_ones():
    rng = np.random.default_rng(1)
    null = Multipliers(80, 500, rng).null_of_sums(rng.standard_normal((80, 3)))
    estimated = null.with_estimated_variance(20.0)
    np.testing.assert_allclose(estimated.sf(estimated.draws), null.sf(null.draws), rtol=1e-9)
    assert (estimated.sf(np.array([8.0, 12.0, 20.0])) > null.sf(np.array([8.0, 12.0, 20.0]))).all()


def test_a_mean_that_is_known_better_keeps_the_tail():
    null = QuadraticNull(np.array([0.5, 3.0]), 1.0, 2.0, 8.0).with_estimated_variance(20.0)
    assert float(null.with_mean(2.0).sf(24.0)) == pytest.approx(float(null.sf(12.0)))


def test_nothing_varies_without_noise():
    flat = QuadraticNull(np.zeros(10), 0.0, 0.0, 0.0).with_estimated_variance(0.0)
    np.testing.assert_array_equal(flat.sf(np.array([0.0, 1.0])), 1.0)
