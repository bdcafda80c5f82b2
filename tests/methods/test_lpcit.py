"""LPCIT: whitening against a Wald statistic, its two nulls, size and power."""

import numpy as np
import pytest
from scipy import stats

from spectralcit import ci_test
from spectralcit.errors import ParameterError
from spectralcit.methods.lpcit import _gp_residuals, kernel_at_locations, whitened_mean
from spectralcit.numeric.kernels import gaussian_gram, median_width, standardize
from spectralcit.numeric.streams import generator


def draw(seed, n=200, effect=0.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    x = np.sin(z) + 0.5 * rng.normal(size=n)
    return x, np.cos(z) + 0.5 * rng.normal(size=n) + effect * x, z


def test_whitened_mean_is_the_wald_statistic_whatever_the_scales():
    rng = np.random.default_rng(0)
    products = rng.normal(size=(100, 4)) @ rng.normal(size=(4, 4)) + 0.1
    mean, covariance = products.mean(axis=0), np.cov(products.T, ddof=0)
    wald = 100 * mean @ np.linalg.solve(covariance, mean)
    assert (whitened_mean(products) ** 2).sum() == pytest.approx(wald, rel=1e-5)
    rescaled = products * np.array([1.0, 1e-30, 1e30, 5.0])
    assert (whitened_mean(rescaled) ** 2).sum() == pytest.approx(wald, rel=1e-5)


def test_statistic_equals_the_oracle_without_z():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 80, 1))
    draws = generator(7, "lpcit")
    first, second = (kernel_at_locations(standardize(v), 3, draws) for v in (x, y))
    products = (first - first.mean(0)) * (second - second.mean(0))
    t = 80 * products.mean(0) @ np.linalg.solve(np.cov(products.T, ddof=0), products.mean(0))
    result = ci_test(x, y, method="lpcit", n_locations=3, p=2, random_state=7)
    assert result.statistic == pytest.approx(t, rel=1e-4)
    assert result.pvalue == pytest.approx(stats.chi2.sf(result.statistic, 3), rel=1e-9)


def test_features_are_kernels_at_points_with_the_covariance_of_the_data():
    rng = np.random.default_rng(2)
    values = standardize(rng.normal(size=(400, 2)) @ np.array([[1.0, 0.9], [0.0, 0.4]]))
    features = kernel_at_locations(values, 3, np.random.default_rng(3))
    points = np.random.default_rng(3).standard_normal((3, 400)) / 20 @ values
    assert np.allclose(features, gaussian_gram(values, median_width(values), points))
    many = np.random.default_rng(4).standard_normal((20_000, 400)) / 20 @ values
    assert np.allclose(np.cov(many.T), np.cov(values.T), atol=0.05)


def test_regression_removes_a_function_of_z():
    z = np.linspace(-2, 2, 150)[:, None]
    noise = 0.1 * np.random.default_rng(5).normal(size=(150, 2))
    target = np.column_stack([np.sin(3 * z[:, 0]), z[:, 0] ** 2])
    left, _, ridge = _gp_residuals(z, target + noise)
    assert np.corrcoef(left[:, 0], noise[:, 0])[0, 1] > 0.9
    assert ridge < 0.1


@pytest.mark.parametrize("p", [1, 2])
def test_size_and_power(p):
    null = [ci_test(*draw(s), method="lpcit", p=p, random_state=s).pvalue for s in range(40)]
    power = [ci_test(*draw(s, effect=1.0), method="lpcit", p=p, random_state=s).pvalue for s in range(10)]
    assert np.mean(np.array(null) <= 0.05) <= 0.15
    assert np.mean(null) < 0.7  # not asleep
    assert np.mean(np.array(power) <= 0.05) >= 0.8


def test_unconditional_null_is_uniform():
    pvalues = []
    for seed in range(150):
        x, y = np.random.default_rng(seed).normal(size=(2, 200))
        pvalues.append(ci_test(x, y, method="lpcit", p=2, n_locations=2, random_state=seed).pvalue)
    assert stats.kstest(pvalues, "uniform").pvalue > 0.01


def test_bad_parameters():
    x, y, z = draw(0)
    with pytest.raises(ParameterError, match="p must be"):
        ci_test(x, y, z, method="lpcit", p=3)
    with pytest.raises(ParameterError, match="n_locations"):
        ci_test(x, y, z, method="lpcit", n_locations=51)
