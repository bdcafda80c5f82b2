"""Combinations of p-values against their definitions, simulation and edge cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from spectralcit.errors import ParameterError
from spectralcit.null.combine import bonferroni, cauchy

both = pytest.mark.parametrize("combine", [cauchy, bonferroni])
pvalue_lists = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@both
@given(pvalue_lists, st.randoms(use_true_random=False))
def test_range_and_order_of_the_pvalues(combine, pvalues, random):
    p = combine(pvalues)
    assert 0 < p <= 1
    shuffled = list(pvalues)
    random.shuffle(shuffled)
    assert combine(shuffled) == pytest.approx(p, rel=1e-9)


@both
@given(pvalue_lists, st.floats(0, 1))
def test_smaller_pvalues_never_give_a_larger_one(combine, pvalues, factor):
    smaller = [pvalues[0] * factor, *pvalues[1:]]
    assert combine(smaller) <= combine(pvalues) * (1 + 1e-9)


@both
@pytest.mark.parametrize("p", [1e-308, 1e-20, 0.3, 1.0])
def test_a_single_pvalue_is_itself(combine, p):
    assert combine([p]) == pytest.approx(p, rel=1e-9)


@both
@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
def test_type_one_error_for_independent_tests(combine, level):
    draws = np.random.default_rng(0).uniform(size=(20_000, 5))
    rejections = np.mean([combine(row) <= level for row in draws[:4000]])
    slack = 4 * np.sqrt(level * (1 - level) / 4000)
    assert rejections <= level + slack + (0.02 if combine is cauchy and level > 0.1 else 0)


def test_cauchy_by_its_definition():
    p, w = np.array([0.01, 0.3, 0.8]), np.array([0.5, 0.25, 0.25])
    expected = stats.cauchy.sf(w @ np.tan((0.5 - p) * np.pi))
    assert cauchy(p, 8 * w) == pytest.approx(expected, rel=1e-10)


def test_tiny_pvalues_keep_their_digits():
    # For tiny p the Cauchy combination is K / sum(1/p), the harmonic mean.
    assert cauchy([1e-250, 1e-250, 0.5]) == pytest.approx(1.5e-250, rel=1e-9)
    assert bonferroni([1e-300, 0.5]) == pytest.approx(2e-300, rel=1e-12)


def test_one_silent_test_does_not_silence_the_others():
    assert cauchy([1e-8, 1.0]) < 1e-6


@both
def test_zero_weight_means_absent(combine):
    assert combine([0.03, 0.5], [1.0, 0.0]) == pytest.approx(0.03, rel=1e-9)


@both
@pytest.mark.parametrize(
    "pvalues, weights",
    [([], None), ([1.2], None), ([np.nan], None), ([0.1, 0.2], [1.0]), ([0.1, 0.2], [-1.0, 1.0]),
     ([0.1, 0.2], [0.0, 0.0])],
)  # fmt: skip
def test_bad_arguments(combine, pvalues, weights):
    with pytest.raises(ParameterError):
        combine(pvalues, weights)
