"""Combinations of p-values against their definitions, scipy, simulation and edge cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from spectralcit.errors import ParameterError
from spectralcit.null.combine import combine

METHODS = ["cauchy", "fisher", "stouffer", "bonferroni", "simes", "hommel", "harmonic-mean"]
pvalue_lists = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@pytest.mark.parametrize("method", METHODS)
@given(pvalue_lists, st.randoms(use_true_random=False))
def test_range_and_order_of_the_pvalues(method, pvalues, random):
    p = combine(pvalues, method)
    assert 0 < p <= 1
    shuffled = list(pvalues)
    random.shuffle(shuffled)
    assert combine(shuffled, method) == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
@given(pvalue_lists, st.floats(0, 1))
def test_smaller_pvalues_never_give_a_larger_one(method, pvalues, factor):
    smaller = [pvalues[0] * factor, *pvalues[1:]]
    assert combine(smaller, method) <= combine(pvalues, method) * (1 + 1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("p", [1e-308, 1e-20, 0.3, 1.0])
def test_a_single_pvalue_is_itself(method, p):
    assert combine([p], method) == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
def test_type_one_error_for_independent_tests(method, level):
    draws = np.random.default_rng(0).uniform(size=(20_000, 5))
    rejections = np.mean([combine(row, method) <= level for row in draws[:4000]])
    slack = 4 * np.sqrt(level * (1 - level) / 4000)
    assert rejections <= level + slack + (0.02 if method == "cauchy" and level > 0.1 else 0)
    if method in ("fisher", "stouffer", "simes"):  # exact for independent tests
        assert rejections >= level - slack


def test_fisher_and_stouffer_agree_with_scipy():
    p = np.array([0.01, 0.3, 0.8, 0.04])
    assert combine(p, "fisher") == pytest.approx(stats.combine_pvalues(p, "fisher").pvalue, rel=1e-10)
    assert combine(p, "stouffer") == pytest.approx(stats.combine_pvalues(p, "stouffer").pvalue, rel=1e-10)
    weights = np.array([1.0, 2.0, 0.5, 4.0])
    assert combine(p, "stouffer", weights) == pytest.approx(
        stats.combine_pvalues(p, "stouffer", weights=weights).pvalue, rel=1e-10
    )


def test_cauchy_by_its_definition():
    p, w = np.array([0.01, 0.3, 0.8]), np.array([0.5, 0.25, 0.25])
    expected = stats.cauchy.sf(w @ np.tan((0.5 - p) * np.pi))
    assert combine(p, "cauchy", 8 * w) == pytest.approx(expected, rel=1e-10)


def test_weighted_fisher_has_the_right_null():
    draws = np.random.default_rng(1).uniform(size=(3000, 3))
    combined = [combine(row, "fisher", [3.0, 1.0, 0.2]) for row in draws]
    assert stats.kstest(combined, "uniform").pvalue > 0.01


def test_tiny_pvalues_keep_their_digits():
    # For tiny p the Cauchy combination is K / sum(1/p), the harmonic mean.
    assert combine([1e-250, 1e-250, 0.5], "cauchy") == pytest.approx(1.5e-250, rel=1e-9)
    assert combine([1e-300, 0.5], "bonferroni") == pytest.approx(2e-300, rel=1e-12)
    assert combine([1e-300, 0.5], "harmonic-mean") == pytest.approx(4e-300, rel=1e-12)
    assert 0 < combine([0.0, 0.0], "fisher") < 1e-300


def test_one_silent_test_does_not_silence_the_others():
    assert combine([1e-8, 1.0], "cauchy") < 1e-6
    assert combine([1e-8, 1.0], "stouffer") <= 1.0


def test_zero_weight_means_absent():
    for method in ("cauchy", "fisher", "stouffer", "bonferroni"):
        assert combine([0.03, 0.5], method, [1.0, 0.0]) == pytest.approx(0.03, rel=1e-9)


@pytest.mark.parametrize(
    "pvalues, method, weights",
    [([], "cauchy", None), ([1.2], "cauchy", None), ([np.nan], "fisher", None), ([0.1], "magic", None),
     ([0.1, 0.2], "cauchy", [1.0]), ([0.1, 0.2], "fisher", [-1.0, 1.0]), ([0.1, 0.2], "simes", [1.0, 1.0]),
     ([0.1, 0.2], "stouffer", [0.0, 0.0])],
)  # fmt: skip
def test_bad_arguments(pvalues, method, weights):
    with pytest.raises(ParameterError):
        combine(pvalues, method, weights)
