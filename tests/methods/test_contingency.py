"""Contingency tables against scipy and causal-learn, and the permutation null against exact enumeration."""

import numpy as np
import pytest
from scipy import stats

from spectralcit import ci_test
from spectralcit.errors import UnsupportedTypeError


def draw(seed, n=400, dz=2, effect=0.0):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, size=(n, dz))
    x = (z.sum(axis=1) + rng.integers(0, 3, n)) % 4
    y = (z[:, 0] + rng.integers(0, 2, n) + (rng.random(n) < effect) * x) % 3
    return x, y, z


@pytest.mark.adapters
@pytest.mark.parametrize("method, name", [("chi2", "chisq"), ("g2", "gsq")])
@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_causal_learn(seed, method, name):
    cit = pytest.importorskip("causallearn.utils.cit")
    x, y, z = draw(seed, n=60 + 20 * seed, dz=1 + seed % 3, effect=0.1 * (seed % 2))
    table = np.column_stack([x, y, z])
    expected = cit.CIT(table, name)(0, 1, list(range(2, table.shape[1])))
    assert ci_test(x, y, z, method=method).pvalue == pytest.approx(expected, rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("method, family", [("chi2", "pearson"), ("g2", "log-likelihood")])
def test_without_z_agrees_with_scipy(method, family):
    x, y, _ = draw(1, effect=0.3)
    table = stats.contingency.crosstab(x, y).count
    expected = stats.chi2_contingency(table, correction=False, lambda_=family)
    result = ci_test(x, y, method=method)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-10)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-10)
    if method == "chi2":
        cramer = stats.contingency.association(table, method="cramer")
        assert result.effect_size == pytest.approx(cramer, rel=1e-10)


def test_strata_add_up():
    x, y, z = draw(2, dz=1, effect=0.2)
    whole = ci_test(x, y, z, method="chi2")
    parts = [ci_test(x[z[:, 0] == k], y[z[:, 0] == k], method="chi2") for k in range(3)]
    assert whole.statistic == pytest.approx(sum(p.statistic for p in parts), rel=1e-10)
    assert whole.diagnostics["df"] == sum(p.diagnostics["df"] for p in parts)


def test_labels_do_not_matter():
    x, y, z = draw(3, effect=0.2)
    names = np.array(["red", "green", "blue", "grey"])
    strings = ci_test(list(names[x]), y * 10 - 3, [str(v) for v in z[:, 0] * 3 + z[:, 1]], method="g2")
    assert strings.pvalue == pytest.approx(ci_test(x, y, z, method="g2").pvalue, rel=1e-10)


def test_permutation_null_is_fishers_exact_test_for_a_two_by_two_table():
    # One margin has equal halves: ordering by chi-squared is then the two-sided order of Fisher's exact test.
    x, y = np.repeat([0, 1], 12), np.r_[np.repeat([0, 1], [9, 3]), np.repeat([0, 1], [4, 8])]
    exact = stats.fisher_exact(stats.contingency.crosstab(x, y).count).pvalue
    result = ci_test(x, y, method="chi2", null="permutation", n_permutations=4999, random_state=0)
    assert result.pvalue == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("method", ["chi2", "g2"])
def test_small_cells_warn_and_permutation_holds_its_level(method):
    rejections = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        z = rng.integers(0, 12, 60)
        x, y = (z + rng.integers(0, 3, (2, 60))) % 4
        result = ci_test(x, y, z, method=method, null="permutation", n_permutations=99, random_state=seed)
        rejections += result.pvalue <= 0.05
    assert any("expected counts" in w for w in ci_test(x, y, z, method=method).warnings)
    assert rejections <= 15


def test_degenerate_inputs():
    _, y, z = draw(4)
    explained = ci_test(z[:, 0] * 2 + (z[:, 1] > 0), y, z, method="chi2")
    assert explained.pvalue == 1.0
    assert any("constant in every stratum" in w for w in explained.warnings)
    with pytest.raises(UnsupportedTypeError, match="looks continuous"):
        ci_test(np.random.default_rng(0).normal(size=400), y, z, method="chi2")
