"""PCM against a linear-model oracle and on alternatives that GCM cannot see."""

import numpy as np
import pytest
from scipy import stats

from spectralcit import ci_test
from spectralcit.errors import ParameterError
from spectralcit.inputs import halves
from spectralcit.methods.pcm import _variance_offset
from spectralcit.numeric.streams import generator


def draw(seed, n=400, effect=0.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    x = np.sin(2 * z[:, 0]) + z[:, 1] + 0.7 * rng.normal(size=n)
    y = z[:, 0] ** 2 / 2 + z[:, 1] + 0.7 * rng.normal(size=n)
    y += effect * (x - np.sin(2 * z[:, 0]) - z[:, 1]) ** 2
    return x, y, z


def test_equals_the_oracle_with_linear_regressions():
    x, y, z = draw(0)

    def ols(train, target, new):
        train, new = (np.column_stack([np.ones(len(v)), v]) for v in (train, new))
        return new @ np.linalg.lstsq(train, target, rcond=None)[0]

    learn, test = halves(len(x), generator(5, "pcm"))
    full = np.column_stack([x, z])
    g_learn, g_test = ols(full[learn], y[learn], full[learn]), ols(full[learn], y[learn], full[test])
    h_learn = g_learn - ols(z[learn], g_learn, z[learn])
    h_test = g_test - ols(z[learn], g_learn, z[test])
    sign = np.sign(((y[learn] - (g_learn - h_learn)) * h_learn).mean())
    squares = (y[learn] - g_learn) ** 2
    v_learn = np.clip(ols(full[learn], squares, full[learn]), 0, None)
    v_test = np.clip(ols(full[learn], squares, full[test]), 0, None)
    f = sign * h_test / (v_test + _variance_offset(v_learn, squares))
    products = (y[test] - ols(z[test], y[test], z[test])) * (f - ols(z[test], f, z[test]))
    t = np.sqrt(len(test)) * products.mean() / products.std()
    result = ci_test(x, y, z, method="pcm", regressor="linear", n_splits=1, n_folds=1, random_state=5)
    assert result.statistic == pytest.approx(t, rel=1e-8)
    assert result.pvalue == pytest.approx(stats.norm.sf(t), rel=1e-6)
    assert (result.n_train, result.n_test) == (200, 200)


def test_variance_offset_makes_standardised_squares_average_one():
    rng = np.random.default_rng(1)
    squares, predicted = rng.chisquare(1, 200), 0.2 * rng.random(200)
    offset = _variance_offset(predicted, squares)
    assert (squares / (predicted + offset)).mean() == pytest.approx(1.0, abs=1e-9)


def test_sees_dependence_without_covariance():
    samples = [draw(seed, n=600, effect=1.0) for seed in range(2, 7)]
    by_test = {
        name: np.median([ci_test(*sample, method=name, random_state=0).pvalue for sample in samples])
        for name in ("gcm", "pcm")
    }
    assert by_test["gcm"] > 0.01
    assert by_test["pcm"] < 0.02


def test_size():
    pvalues = [ci_test(*draw(s), method="pcm", n_splits=2, random_state=s).pvalue for s in range(30)]
    assert np.mean(np.array(pvalues) <= 0.05) <= 0.15


def test_splits_are_averaged_and_columns_of_y_are_corrected_for():
    x, y, z = draw(3, effect=1.0)
    one = ci_test(x, y, z, method="pcm", n_splits=3, random_state=1)
    assert one.statistic == pytest.approx(np.mean(one.diagnostics["split_statistics"]))
    noise = np.random.default_rng(0).normal(size=len(y))
    two = ci_test(x, np.column_stack([noise, y]), z, method="pcm", n_splits=3, random_state=1)
    assert two.diagnostics["y_column"] == 1
    assert two.statistic == pytest.approx(one.statistic, rel=1e-6)
    assert two.pvalue == pytest.approx(2 * one.pvalue, rel=1e-6)


def test_unconditional_and_bad_parameters():
    rng = np.random.default_rng(4)
    x = rng.normal(size=300)
    assert ci_test(x, x**2 + 0.5 * rng.normal(size=300), method="pcm", random_state=0).pvalue < 0.02
    assert ci_test(x, rng.normal(size=300), method="pcm", random_state=0).pvalue > 0.001
    with pytest.raises(ParameterError, match="n_splits"):
        ci_test(x, rng.normal(size=300), method="pcm", n_splits=0)
