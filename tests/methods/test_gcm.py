"""GCM and weighted GCM against short NumPy oracles; the shared regression machinery."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge

from spectralcit import ci_test
from spectralcit.errors import ParameterError
from spectralcit.methods.wgcm import sign_weights
from spectralcit.nuisance.regression import cross_fitted_residuals, make_regressor
from spectralcit.null.max_statistic import max_statistic


def confounded(seed, n=300, effect=0.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    x = np.sin(2 * z[:, 0]) + z[:, 1] + 0.5 * rng.normal(size=n)
    y = np.cos(2 * z[:, 0]) + z[:, 1] + 0.5 * rng.normal(size=n) + effect * x
    return x, y, z


def test_gcm_equals_the_oracle():
    x, y, z = confounded(0)
    design = np.column_stack([np.ones(len(x)), z])
    rx = x - design @ np.linalg.lstsq(design, x, rcond=None)[0]
    ry = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    r = rx * ry
    t = np.sqrt(len(r)) * r.mean() / np.sqrt((r**2).mean() - r.mean() ** 2)
    result = ci_test(x, y, z, method="gcm", regressor="linear", n_folds=1)
    assert result.statistic == pytest.approx(t, rel=1e-10)
    assert result.pvalue == pytest.approx(2 * stats.norm.sf(abs(t)), rel=1e-9)
    assert result.effect_size == pytest.approx(rx @ ry / np.sqrt(rx @ rx * (ry @ ry)), rel=1e-10)


def test_multivariate_statistic_is_the_largest_and_its_bootstrap_is_normal_for_one_product():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(400, 3)), rng.normal(size=(400, 2))
    single = [abs(ci_test(x[:, j], y[:, k], method="gcm").statistic) for j in range(3) for k in range(2)]
    assert ci_test(x, y, method="gcm", random_state=0).statistic == pytest.approx(max(single), rel=1e-10)
    found = max_statistic(x[:, :1], y[:, :1], n_bootstrap=20_000, seed=0)
    assert found.pvalue == pytest.approx(2 * stats.norm.sf(found.statistic), abs=0.015)


def test_max_statistic_does_not_depend_on_blocks(monkeypatch):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(100, 4)), rng.normal(size=(100, 5))
    whole = max_statistic(x, y, n_bootstrap=99, seed=1)
    monkeypatch.setattr("spectralcit.null.max_statistic._CELLS_PER_BLOCK", 300)
    pieces = max_statistic(x, y, n_bootstrap=99, seed=1)
    assert (pieces.statistic, pieces.pvalue, pieces.index) == (whole.statistic, whole.pvalue, whole.index)


def test_more_products_than_rows():
    rng = np.random.default_rng(3)
    result = ci_test(rng.normal(size=(60, 20)), rng.normal(size=(60, 20)), method="gcm", random_state=0)
    assert 0 < result.pvalue <= 1


def test_weighted_gcm_without_z_is_gcm():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 200))
    plain, weighted = ci_test(x, y, method="gcm"), ci_test(x, y, method="wgcm", random_state=0)
    assert weighted.statistic == pytest.approx(abs(plain.statistic), rel=1e-10)


def test_fixed_weights_statistic_equals_the_oracle():
    x, y, z = confounded(5)
    rx, ry = (cross_fitted_residuals("linear", z, v[:, None], n_folds=1, seed=0)[:, 0] for v in (x, y))
    largest = 0.0
    for j in range(2):
        for cut in np.quantile(z[:, j], [0.25, 0.5, 0.75]):
            for w in (np.ones(len(x)), np.where(z[:, j] >= cut, 1.0, -1.0)):
                r = w * rx * ry
                largest = max(largest, abs(np.sqrt(len(r)) * r.mean() / r.std()))
    result = ci_test(x, y, z, method="wgcm", regressor="linear", n_folds=1, n_cuts=3, random_state=0)
    assert result.statistic == pytest.approx(largest, rel=1e-10)


@pytest.mark.parametrize("weights", ["fixed", "estimated"])
def test_weights_see_a_sign_change_that_gcm_does_not(weights):
    rng = np.random.default_rng(6)
    z = rng.normal(size=600)
    x = rng.normal(size=600)
    y = np.sign(z) * x + rng.normal(size=600)
    assert ci_test(x, y, z, method="gcm", random_state=0).pvalue > 0.01
    assert ci_test(x, y, z, method="wgcm", weights=weights, random_state=0).pvalue < 0.01


def test_sign_weights_of_a_discrete_column_are_not_repeated():
    z = np.repeat([0.0, 1.0], 20)[:, None]
    assert sign_weights(z, n_cuts=7).shape == (40, 2)


def test_any_regressor_seeded_and_named():
    x, y, z = confounded(11, n=120)
    for regressor in ("forest", "boosting", Ridge()):
        first = ci_test(x, y, z, method="gcm", regressor=regressor, random_state=3)
        assert ci_test(x, y, z, method="gcm", regressor=regressor, random_state=3).pvalue == first.pvalue
    assert make_regressor("forest", 5).random_state == 5
    with pytest.raises(ParameterError, match="Did you mean 'forest'"):
        ci_test(x, y, z, method="gcm", regressor="forrest")
    with pytest.raises(ParameterError, match="fit and predict"):
        ci_test(x, y, z, method="gcm", regressor=3)
    with pytest.raises(ParameterError, match="n_folds"):
        ci_test(x, y, z, method="gcm", n_folds=0)


def test_a_variable_that_z_determines_gives_a_warning():
    _, y, z = confounded(12)
    result = ci_test(z @ [1.0, 2.0], y, z, method="gcm", random_state=0)
    assert any("determines" in w for w in result.warnings)


@pytest.mark.parametrize("method", ["gcm", "wgcm"])
def test_size_and_power(method):
    null = [ci_test(*confounded(s), method=method, random_state=s, n_bootstrap=199).pvalue for s in range(40)]
    power = [
        ci_test(*confounded(s, effect=0.4), method=method, random_state=s, n_bootstrap=199).pvalue
        for s in range(10)
    ]
    assert np.mean(np.array(null) <= 0.05) <= 0.15
    assert np.mean(np.array(power) <= 0.05) >= 0.8
