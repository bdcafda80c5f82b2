"""HSIC against the definition with explicit sums, and its two nulls against each other."""

import numpy as np
import pytest
from scipy import stats

from spectralcit import ci_test
from spectralcit.errors import ParameterError


def three_sums(x, y, width):
    """The biased estimate from its definition as three sums, one number at a time."""
    n = len(x)
    k = [[np.exp(-np.sum((a - b) ** 2) / (2 * width**2)) for b in x] for a in x]
    l = [[np.exp(-np.sum((a - b) ** 2) / (2 * width**2)) for b in y] for a in y]  # noqa: E741
    first = sum(k[i][j] * l[i][j] for i in range(n) for j in range(n)) / n**2
    second = sum(map(sum, k)) * sum(map(sum, l)) / n**4
    third = sum(sum(k[i]) * sum(l[i]) for i in range(n)) / n**3
    return first + second - 2 * third


def test_statistic_equals_the_definition():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2))
    y = x[:, :1] + rng.normal(size=(30, 1))
    zx, zy = (stats.zscore(v, ddof=1) for v in (x, y))
    result = ci_test(x, y, method="hsic", width=0.9)
    assert result.statistic == pytest.approx(30 * three_sums(zx, zy, 0.9), rel=1e-9)


def test_gamma_moments_match_permutations():
    # Mean and variance of the gamma null against those of the statistic over permutations of independent
    # data.
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 150))
    gamma = ci_test(x, y, method="hsic").null.parameters
    draws = [ci_test(x, rng.permutation(y), method="hsic").statistic for _ in range(400)]
    assert gamma["shape"] * gamma["scale"] == pytest.approx(np.mean(draws), rel=0.05)
    assert gamma["shape"] * gamma["scale"] ** 2 == pytest.approx(np.var(draws), rel=0.35)


@pytest.mark.parametrize("effect", [0.0, 0.15, 0.25])
def test_gamma_and_permutation_agree(effect):
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    y = effect * x + rng.normal(size=200)
    gamma = ci_test(x, y, method="hsic").pvalue
    permutation = ci_test(x, y, method="hsic", null="permutation", random_state=0).pvalue
    assert permutation == pytest.approx(gamma, abs=0.06)


def test_permutation_null_is_uniform():
    pvalues = []
    for seed in range(150):
        x, y = np.random.default_rng(seed).normal(size=(2, 25))
        pvalues.append(
            ci_test(x, y, method="hsic", null="permutation", n_permutations=99, random_state=seed).pvalue
        )
    assert stats.kstest(pvalues, "uniform").pvalue > 0.01


def test_symmetry_effect_size_and_degenerate_inputs():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(100, 2)), rng.normal(size=100)
    forth, back = ci_test(x, y, method="hsic"), ci_test(y, x, method="hsic")
    assert forth.pvalue == pytest.approx(back.pvalue, rel=1e-9)
    assert ci_test(y, 2 * y + 1, method="hsic").effect_size == pytest.approx(1.0)
    constant = ci_test(x, y, method="hsic", width=1e9)
    assert constant.pvalue == 1.0
    assert constant.warnings
    with pytest.raises(ParameterError, match="kcit"):
        ci_test(y, x[:, 0], x[:, 1], method="hsic")
    with pytest.raises(ParameterError, match="width"):
        ci_test(x, y, method="hsic", width=(1.0, 2.0, 3.0))
