"""Partial correlation against causal-learn, regression F tests and invariances."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from spectralcit import ci_test
from spectralcit.errors import TooFewRowsError


def draw(seed, n=120, dz=3, dx=1, dy=1):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, dz))
    x = z @ rng.normal(size=(dz, dx)) + rng.normal(size=(n, dx))
    y = z @ rng.normal(size=(dz, dy)) + 0.1 * x[:, :1] + rng.normal(size=(n, dy))
    return x, y, z


@pytest.mark.adapters
@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_causal_learn(seed):
    cit = pytest.importorskip("causallearn.utils.cit")
    dz = seed % 5
    x, y, z = draw(seed, dz=max(dz, 1))
    z = z if dz else None
    table = np.column_stack([x, y] if z is None else [x, y, z])
    expected = cit.CIT(table, "fisherz")(0, 1, list(range(2, table.shape[1])))
    assert ci_test(x, y, z, method="fisher-z").pvalue == pytest.approx(expected, rel=1e-10, abs=1e-14)


def test_statistic_by_the_textbook():
    x, y, z = draw(1)
    design = np.column_stack([np.ones(len(x)), z])
    rx = x[:, 0] - design @ np.linalg.lstsq(design, x[:, 0], rcond=None)[0]
    ry = y[:, 0] - design @ np.linalg.lstsq(design, y[:, 0], rcond=None)[0]
    r = np.corrcoef(rx, ry)[0, 1]
    result = ci_test(x, y, z, method="fisher-z")
    assert result.effect_size == pytest.approx(r, rel=1e-12)
    assert result.statistic == pytest.approx(math.atanh(r) * math.sqrt(len(x) - 3 - 3), rel=1e-12)


def test_wilks_is_the_regression_f_test_for_one_response():
    x, y, z = draw(2, dx=3)

    def rss(design):
        design = np.column_stack([np.ones(len(y)), design])
        return float(np.sum((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2))

    small, large, df2 = rss(z), rss(np.column_stack([z, x])), len(y) - 1 - 3 - 3
    f = (small - large) / 3 / (large / df2)
    result = ci_test(x, y, z, method="fisher-z")
    assert result.statistic == pytest.approx(f, rel=1e-9)
    assert result.pvalue == pytest.approx(stats.f.sf(f, 3, df2), rel=1e-9)


def test_wilks_is_hotelling_for_two_groups():
    # An indicator against two columns is Hotelling's two-sample T squared, whose F is exact.
    rng = np.random.default_rng(3)
    x = np.repeat([0.0, 1.0], 30)
    y = rng.normal(size=(60, 2)) + 0.4 * x[:, None]
    a, b = y[:30], y[30:]
    pooled = (np.cov(a.T) + np.cov(b.T)) / 2
    gap = a.mean(0) - b.mean(0)
    t2 = 15 * gap @ np.linalg.solve(pooled, gap)
    f = t2 * (58 - 1) / (58 * 2)
    assert ci_test(x, y, method="fisher-z").pvalue == pytest.approx(stats.f.sf(f, 2, 57), rel=1e-9)


def test_wilks_null_is_calibrated_in_several_dimensions():
    pvalues = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(60, 2))
        x = z @ rng.normal(size=(2, 3)) + rng.normal(size=(60, 3))
        y = z @ rng.normal(size=(2, 4)) + rng.normal(size=(60, 4))
        pvalues.append(ci_test(x, y, z, method="fisher-z").pvalue)
    assert stats.kstest(pvalues, "uniform").pvalue > 0.01


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(0, 50))
def test_affine_changes_do_not_matter(shift, scale, seed):
    x, y, z = draw(seed, n=40)
    p = ci_test(x, y, z, method="fisher-z").pvalue
    moved = ci_test(x, y * scale + shift * scale, z @ np.triu(np.ones((3, 3))), method="fisher-z").pvalue
    assert moved == pytest.approx(p, rel=1e-5)


def test_spearman_is_spearman_without_z():
    x, y, _ = draw(4)
    result = ci_test(x, y, method="spearman-z")
    assert result.effect_size == pytest.approx(stats.spearmanr(x[:, 0], y[:, 0]).statistic, rel=1e-12)
    assert ci_test(np.exp(x), y**3, method="spearman-z").pvalue == result.pvalue
    assert result.method == "spearman-z"


@pytest.mark.parametrize("method", ["fisher-z", "spearman-z"])
def test_degenerate_inputs(method):
    rng = np.random.default_rng(0)
    x, y, z = draw(5)
    one = ci_test(x, 2 * x[:, 0] + 1e-15 * y[:, 0], method=method)  # y is x
    assert one.pvalue < 1e-100
    assert any("partial correlation is one" in w for w in one.warnings)
    explained = ci_test(2 * z[:, 0] if method == "spearman-z" else z @ [1.0, 2.0, 3.0], y, z, method=method)
    assert explained.pvalue == 1.0
    assert any("linear function of z" in w for w in explained.warnings)
    twice = ci_test(x, y, np.column_stack([z, z[:, 0] * 3]), method=method)  # a singular z costs no degree
    assert twice.pvalue == pytest.approx(ci_test(x, y, z, method=method).pvalue, rel=1e-9)
    with pytest.raises(TooFewRowsError, match="needs at least"):
        ci_test(x[:30], y[:30], rng.normal(size=(30, 28)), method=method)


def test_far_tail_keeps_its_digits():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    y = x @ rng.normal(size=(2, 2)) + 0.05 * rng.normal(size=(400, 2))
    result = ci_test(x, y, method="fisher-z")
    assert 0 < result.pvalue < 1e-250
