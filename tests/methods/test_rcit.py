"""RCIT and RCoT against causal-learn on the same features, least squares, and their own invariances."""

import numpy as np
import pytest

from spectralcit import ci_test
from spectralcit.errors import ParameterError
from spectralcit.methods.rcit import RCIT, fourier_features, partial_cross_covariance
from spectralcit.numeric.kernels import gaussian_gram, median_width, standardize


def problem(seed, n=400, effect=0.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    x = np.tanh(z @ rng.normal(size=2)) + 0.5 * rng.normal(size=n)
    y = (z @ rng.normal(size=2)) ** 2 / 2 + 0.5 * rng.normal(size=n) + effect * x
    return x[:, None], y[:, None], z


@pytest.mark.adapters
@pytest.mark.parametrize("joins_z", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_statistic_and_pvalue_agree_with_causal_learn_on_its_features(seed, joins_z):
    rcit = pytest.importorskip("causallearn.utils.RCIT.RCIT")
    x, y, z = problem(seed, effect=0.1 * seed)
    drawn = []

    class Recording(rcit.RCIT):
        def random_fourier_features(self, *args, **kwargs):
            drawn.append(super().random_fourier_features(*args, **kwargs))
            return drawn[-1]

    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002  (causal-learn has no other way to be seeded)
    expected_p, expected = Recording(approx="hbe", num_f=25, rcit=joins_z).compute_pvalue(x, y, z)
    np.random.set_state(state)  # noqa: NPY002
    feature_z, feature_x, feature_y = map(standardize, drawn)
    pieces = partial_cross_covariance(feature_x, feature_y, feature_z)
    test = RCIT(approx="hbe", df_correction=False)
    outcome = test._outcome(*pieces, np.random.default_rng(0))
    assert outcome.statistic == pytest.approx(expected, rel=1e-6)
    assert outcome.pvalue == pytest.approx(expected_p, abs=1e-6)


def test_partial_covariance_is_that_of_least_squares_residuals():
    rng = np.random.default_rng(0)
    x, y, z = (standardize(rng.normal(size=(200, k))) for k in (3, 4, 10))
    rx = x - z @ np.linalg.lstsq(z, x, rcond=None)[0]
    ry = y - z @ np.linalg.lstsq(z, y, rcond=None)[0]
    covariance, left_x, left_y, leverages = partial_cross_covariance(x, y, z)
    assert np.allclose(covariance, rx.T @ ry / 199, atol=1e-9)
    assert np.allclose(left_x, rx, atol=1e-7)
    assert np.allclose(left_y, ry, atol=1e-7)
    hat = z @ np.linalg.pinv(z)
    assert np.allclose(leverages, np.diag(hat) + 1 / 200, atol=1e-6)


def test_fourier_features_approximate_the_gaussian_kernel():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(60, 2))
    features = fourier_features(values, 40_000, rng)
    assert np.allclose(features @ features.T / 40_000, gaussian_gram(values, median_width(values)), atol=0.03)


def test_approximations_agree_with_each_other():
    x, y, z = problem(2, n=800, effect=0.05)
    pvalues = {
        approx: ci_test(x, y, z, method="rcot", approx=approx, random_state=1).pvalue
        for approx in ("lpb", "hbe", "sw", "exact", "permutation")
    }
    assert max(pvalues.values()) - min(pvalues.values()) < 0.06
    assert pvalues["lpb"] == pytest.approx(pvalues["exact"], abs=2e-3)


def test_collinear_features_are_harmless():
    # One binary column: all cosines of it are linear functions of it.
    rng = np.random.default_rng(3)
    z = rng.integers(0, 2, size=300).astype(float)
    x, y = z + rng.normal(size=300), z + rng.normal(size=300)
    result = ci_test(x, y, z, method="rcit", random_state=0)
    assert 0.001 < result.pvalue <= 1
    assert result.diagnostics["regression_df"] == pytest.approx(2, abs=0.01)


@pytest.mark.parametrize("approx", ["lpb", "chi2", "permutation"])
@pytest.mark.parametrize("method", ["rcit", "rcot"])
def test_size_and_power(method, approx):
    options = {"method": method, "approx": approx, "n_permutations": 99}
    null = [ci_test(*problem(s), random_state=s, **options).pvalue for s in range(60)]
    power = [ci_test(*problem(s, effect=1.0), random_state=s, **options).pvalue for s in range(15)]
    assert np.mean(np.array(null) <= 0.05) <= 0.15
    assert np.mean(np.array(power) <= 0.05) >= 0.8


def test_the_corrected_null_has_the_mean_of_the_statistic():
    # Independent noise, 150 rows, up to 100 features of a 5-column z: published and corrected null means.
    ratios = {True: [], False: []}
    for seed in range(150):
        rng = np.random.default_rng(seed)
        x, y, z = rng.normal(size=150), rng.normal(size=150), rng.normal(size=(150, 5))
        for corrected in ratios:
            result = ci_test(x, y, z, method="rcot", num_f=100, df_correction=corrected, random_state=seed)
            ratios[corrected].append((result.statistic, sum(result.null.parameters["weights"])))
    observed = np.array(ratios[True])
    published = np.array(ratios[False])
    assert observed[:, 0].mean() / observed[:, 1].mean() == pytest.approx(1.0, abs=0.2)
    assert published[:, 0].mean() / published[:, 1].mean() > 1.4


def test_unconditional_and_degenerate():
    x, y, z = problem(4)
    rng = np.random.default_rng(0)
    assert ci_test(x, rng.normal(size=400), method="rcit", random_state=0).pvalue > 0.001
    assert ci_test(x, x**2 + 0.1 * rng.normal(size=x.shape), method="rcit", random_state=0).pvalue < 1e-3
    few = ci_test(x[:60], y[:60], rng.normal(size=(60, 8)), method="rcit", num_f=100, random_state=0)
    assert any("num_f" in w for w in few.warnings)
    assert ci_test(x, y, z, method="rcit", num_f2=1, random_state=0).pvalue > 0
    for bad in ({"num_f": 0}, {"num_f2": 2.5}, {"approx": "lpd4"}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            ci_test(x, y, z, method="rcit", **bad)


def test_seed_and_global_state():
    x, y, z = problem(5)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    p = ci_test(x, y, z, method="rcit", random_state=7).pvalue
    assert ci_test(x, y, z, method="rcit", random_state=7).pvalue == p
    assert ci_test(x, y, z, method="rcit", random_state=8).pvalue != p
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


@pytest.mark.parametrize("method", ["rcit", "rcot"])
def test_few_rows_keep_the_error_rate(method):
    rejections = 0
    for seed in range(60):
        rng = np.random.default_rng([7, seed])
        z = rng.normal(size=(60, 3))
        x, y = z @ [1.0, 0.5, -0.5] + rng.normal(size=60), z @ [0.5, -1.0, 0.5] + rng.normal(size=60)
        rejections += ci_test(x, y, z, method=method, random_state=seed).reject()
    assert rejections <= 9  # with 100 features of z for 60 rows: nearly all


@pytest.mark.parametrize("method", ["rcit", "rcot"])
def test_rows_in_any_order_give_the_same_pvalue(method):
    x, y, z = problem(3, n=900, effect=0.1)
    expected = ci_test(x, y, z, method=method, random_state=0).pvalue
    for order in (np.argsort(z[:, 0]), np.argsort(x[:, 0]), np.random.default_rng(0).permutation(900)):
        pvalue = ci_test(x[order], y[order], z[order], method=method, random_state=0).pvalue
        assert pvalue == pytest.approx(expected, rel=1e-4)  # nearly collinear features round at 1e-6
