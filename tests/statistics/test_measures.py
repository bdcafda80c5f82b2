"""Named statistics against naive definitions."""

import itertools

import numpy as np
import pytest
from scipy import stats

from spectralcit.errors import ParameterError
from spectralcit.statistics.measures import _PREPARE, BLIND_TO_PAIRING, prepare_statistic


def sample(n=30, p=1, q=1, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    x = z @ rng.normal(size=(2, p)) + rng.normal(size=(n, p))
    return x, x[:, :1] ** 2 + z @ rng.normal(size=(2, q)) + rng.normal(size=(n, q)), z


def value(name, x, y, z=None):
    return prepare_statistic(name, y, z, np.random.default_rng(1))(x)


def test_correlations_against_textbook_formulas():
    x, y, z = sample()
    assert value("pcc", x, y) == pytest.approx(abs(stats.pearsonr(x[:, 0], y[:, 0])[0]))
    precision = np.linalg.inv(np.corrcoef(np.column_stack([x, y, z]).T))
    expected = abs(precision[0, 1]) / np.sqrt(precision[0, 0] * precision[1, 1])
    assert value("partial-correlation", x, y, z) == pytest.approx(expected)
    x, y, _ = sample(p=2, q=3)
    assert value("correlation", x, y) == pytest.approx(np.abs(np.corrcoef(x.T, y.T)[:2, 2:]).max())


def test_distance_correlation_against_its_definition():
    x, y, _ = sample(n=12, p=2)
    x, y = ((v - v.mean(axis=0)) / v.std(axis=0, ddof=1) for v in (x, y))
    n = len(x)

    def centred(v):
        d = np.array([[np.linalg.norm(a - b) for b in v] for a in v])
        return np.array(
            [[d[i, j] - d[i].mean() - d[:, j].mean() + d.mean() for j in range(n)] for i in range(n)]
        )

    a, b = centred(x), centred(y)
    covariance, own_x, own_y = (float((u * v).sum()) / n**2 for u, v in ((a, b), (a, a), (b, b)))
    assert value("dc", x, y) == pytest.approx(np.sqrt(covariance / np.sqrt(own_x * own_y)))


def test_hsic_is_the_statistic_of_the_hsic_test():
    from spectralcit import ci_test

    x, y, _ = sample(n=40)
    assert value("hsic", x, y) == pytest.approx(ci_test(x, y, method="hsic").statistic)


def test_mutual_information_of_discrete_columns_is_g2_over_2n():
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 3, 100), rng.integers(0, 4, 100)
    table = stats.contingency.crosstab(x, y).count
    g2 = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    assert value("mutual-information", x[:, None], y[:, None]) == pytest.approx(g2 / 200)


def test_ks_and_mmd_are_two_sample_distances():
    x, y, _ = sample()
    scaled = [(v - v.mean()) / v.std(ddof=1) for v in (x, y)]
    assert value("ks", x, y) == pytest.approx(stats.ks_2samp(scaled[0][:, 0], scaled[1][:, 0]).statistic)
    a, b = (v[:, 0] for v in scaled)
    n = len(a)
    width = np.median([abs(u - v) for u, v in itertools.combinations(b, 2)])
    kernel = lambda u, v: np.exp(-((u - v) ** 2) / (2 * width**2))  # noqa: E731
    within = sum(kernel(v[i], v[j]) for v in (a, b) for i in range(n) for j in range(n) if i != j) / (
        n * (n - 1)
    )
    between = np.mean([kernel(u, v) for u in a for v in b])
    assert value("mmd", x, y) == pytest.approx(within - 2 * between)


def test_rdc_does_not_change_under_increasing_maps_and_finds_a_circle():
    x, y, _ = sample(n=200)
    assert value("rdc", np.exp(x), y**3) == pytest.approx(value("rdc", x, y), abs=1e-9)
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 400)
    circle = value("rdc", np.cos(angle)[:, None], np.sin(angle)[:, None])
    independent = value("rdc", *rng.normal(size=(2, 400, 1)))
    assert circle > 0.9 > 0.6 > independent


@pytest.mark.parametrize("name", sorted(_PREPARE))
def test_permuting_all_rows_together_changes_nothing(name):
    x, y, z = sample(p=2, q=2)
    order = np.random.default_rng(3).permutation(len(x))
    assert value(name, x[order], y[order], z[order]) == pytest.approx(value(name, x, y, z), rel=1e-9)


@pytest.mark.parametrize("name", sorted(_PREPARE))
def test_permuting_x_changes_all_but_the_blind(name):
    x, y, z = sample()
    order = np.random.default_rng(3).permutation(len(x))
    same = value(name, x[order], y, z) == pytest.approx(value(name, x, y, z), rel=1e-9)
    assert same == (name in BLIND_TO_PAIRING)


def test_a_constant_copy_of_x_is_zero_or_finite():
    _, y, z = sample()
    for name in _PREPARE:
        assert np.isfinite(value(name, np.ones((30, 1)), y, z))


def test_bad_names():
    x, y, z = sample()
    rng = np.random.default_rng(0)
    with pytest.raises(ParameterError, match="distance-correlation"):
        prepare_statistic("distance-corelation", y, z, rng)
    with pytest.raises(ParameterError, match="paired"):
        prepare_statistic("mmd", y, z, rng, permuted=True)
    assert prepare_statistic(lambda a, b, c: (a * b).sum(), y, z, rng)(x) == pytest.approx(
        float((x * y).sum())
    )
