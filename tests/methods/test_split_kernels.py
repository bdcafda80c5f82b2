"""CIRCE and SplitKCI: conditional means against refitting, size, power, ends of ranges."""

import numpy as np
import pytest

from spectralcit import ci_test
from spectralcit.errors import ParameterError
from spectralcit.inputs import Standardizer, train_test_rows
from spectralcit.nuisance import conditional_mean
from spectralcit.nuisance.conditional_mean import choose_regression, prediction_weights, residual_gram
from spectralcit.numeric.kernels import center, gaussian_gram, median_width
from spectralcit.numeric.streams import generator


def draw(seed, n=300, effect=0.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    x = 0.7 * z + 0.7 * rng.normal(size=n)
    return x, np.sin(z) + 0.7 * rng.normal(size=n) + effect * x, z


def test_residual_kernel_by_explicit_coefficients():
    rng = np.random.default_rng(0)
    y_new, y_a, y_b = rng.normal(size=(8, 1)), rng.normal(size=(12, 1)), rng.normal(size=(10, 1))
    z_new, z_a, z_b = rng.normal(size=(8, 2)), rng.normal(size=(12, 2)), rng.normal(size=(10, 2))
    w_a = gaussian_gram(z_new, 0.8, z_a) @ np.linalg.inv(gaussian_gram(z_a, 0.8) + 0.3 * np.eye(12))
    w_b = gaussian_gram(z_new, 1.1, z_b) @ np.linalg.inv(gaussian_gram(z_b, 1.1) + 0.1 * np.eye(10))
    assert np.allclose(prediction_weights(z_a, z_new, 0.8, 0.3), w_a)
    everything = gaussian_gram(np.vstack([y_new, y_a, y_b]), 1.3)
    first = np.hstack([np.eye(8), -w_a, np.zeros((8, 10))])
    second = np.hstack([np.eye(8), np.zeros((8, 12)), -w_b])
    expected = first @ everything @ second.T
    assert np.allclose(residual_gram(y_new, 1.3, (y_a, w_a), (y_b, w_b)), (expected + expected.T) / 2)
    assert np.allclose(residual_gram(y_new, 1.3, (y_a, w_a)), first @ everything @ first.T)


def test_leave_one_out_error_is_that_of_refitting(monkeypatch):
    rng = np.random.default_rng(1)
    z = rng.normal(size=(25, 1))
    y = np.sin(2 * z) + 0.2 * rng.normal(size=(25, 1))
    gram = gaussian_gram(y, 1.0)

    def refitted(width, ridge):
        total = 0.0
        for i in range(25):
            rest = np.arange(25) != i
            w = prediction_weights(z[rest], z[[i]], width, ridge)[0]
            total += gram[i, i] - 2 * w @ gram[rest, i] + w @ gram[np.ix_(rest, rest)] @ w
        return total

    unit = median_width(z)
    candidates = [(unit * w, r) for w in (0.25, 1.0) for r in (0.03, 0.3, 3.0)]
    monkeypatch.setattr(conditional_mean, "_WIDTHS", np.array([0.25, 1.0]))
    monkeypatch.setattr(conditional_mean, "_RIDGES", np.array([0.03, 0.3, 3.0]))
    monkeypatch.setattr(conditional_mean, "_MAX_LEVERAGE", 1.0)
    assert choose_regression(z, gram) == pytest.approx(min(candidates, key=lambda c: refitted(*c)))


def test_circe_statistic_by_plain_sums():
    x, y, z = (v[:, None] for v in draw(3, n=60, effect=0.5))
    train, test = train_test_rows(60, 0.5, generator(4, "circe"))
    scales = [Standardizer.fit(v[train]) for v in (x, y, z)]
    x_train, y_train, z_train = (s.transform(v[train]) for s, v in zip(scales, (x, y, z), strict=True))
    x_test, y_test, z_test = (s.transform(v[test]) for s, v in zip(scales, (x, y, z), strict=True))
    width_y = median_width(y_train)
    chosen = choose_regression(z_train, gaussian_gram(y_train, width_y))
    weights = prediction_weights(z_train, z_test, *chosen)
    ky = residual_gram(y_test, width_y, (y_train, weights))
    kx = center(gaussian_gram(x_test, median_width(x_train)))
    kz = gaussian_gram(z_test, median_width(z_train))
    total = sum(kx[i, j] * ky[i, j] * kz[i, j] for i in range(30) for j in range(30) if i != j)
    result = ci_test(x, y, z, method="circe", test_fraction=0.5, random_state=4)
    assert result.statistic == pytest.approx(30 * total / (30 * 29), rel=1e-9)
    assert (result.n_train, result.n_test) == (30, 30)


def test_two_regressions_are_less_biased_than_one():
    # Under the null the mean statistic is the bias of the regression; splitting makes it smaller.
    options = {"test_fraction": 0.5, "n_bootstrap": 1}
    one, two = (
        [ci_test(*draw(s, n=200), method=m, random_state=s, **options).effect_size for s in range(25)]
        for m in ("circe", "split-kci")
    )
    assert abs(np.mean(two)) < abs(np.mean(one))


@pytest.mark.parametrize("method", ["circe", "split-kci"])
def test_size_and_power(method):
    options = {"method": method, "n_bootstrap": 199}
    null = [ci_test(*draw(s), random_state=s, **options).pvalue for s in range(50)]
    power = [ci_test(*draw(s, n=400, effect=1.0), random_state=s, **options).pvalue for s in range(15)]
    assert np.mean(np.array(null) <= 0.05) <= 0.16
    assert np.mean(np.array(power) <= 0.05) >= 0.8


@pytest.mark.parametrize("method", ["circe", "split-kci"])
def test_unconditional_degenerate_and_bad_parameters(method):
    rng = np.random.default_rng(5)
    x = rng.normal(size=300)
    assert ci_test(x, x**2 + 0.3 * rng.normal(size=300), method=method, random_state=0).pvalue < 0.01
    assert ci_test(x, rng.normal(size=300), method=method, random_state=0).pvalue > 0.005
    x, y, z = draw(6, n=60)
    doubled = (np.repeat(v, 2) for v in (x, y, z))  # duplicate rows make the kernel of z singular
    assert 0 < ci_test(*doubled, method=method, random_state=0).pvalue <= 1
    with pytest.raises(ParameterError, match="test_fraction"):
        ci_test(x, y, z, method=method, test_fraction=1.5)
    with pytest.raises(ParameterError, match="n_bootstrap"):
        ci_test(x, y, z, method=method, n_bootstrap=0)


@pytest.mark.parametrize("method", ["circe", "split-kci"])
@pytest.mark.parametrize("test_fraction", [0.1, 0.9])
def test_the_ends_of_the_range_of_test_fractions_give_a_result(method, test_fraction):
    result = ci_test(*draw(8, n=20), method=method, test_fraction=test_fraction, random_state=0)
    assert min(result.n_train, result.n_test) == 2
    assert 0 < result.pvalue <= 1
