"""Local sampling with a classifier's divergence: pieces against their definitions, then the whole."""

import numpy as np
import pytest
from scipy.special import expit

from spectralcit import ci_test
from spectralcit.errors import MissingExtraError, ParameterError
from spectralcit.methods.nnlscit import NNLSCIT
from spectralcit.statistics.boosting import TreeBooster, bin_columns
from spectralcit.statistics.classifier_cmi import classifier_cmi, donsker_varadhan

QUICK = {"n_trees": 10, "learning_rate": 0.1, "n_permutations": 39}


def draw(seed, effect, n=300):
    rng = np.random.default_rng([31, seed])
    z = rng.normal(size=(n, 3))
    x = z[:, 0] + rng.normal(size=n)
    return x, z[:, 0] + effect * x + 0.5 * rng.normal(size=n), z


def test_divergence_of_two_gaussians_with_the_true_odds():
    # N(1/2, 1) against N(-1/2, 1): log odds x, divergence 1/2.
    rng = np.random.default_rng(0)
    p, q = rng.normal(0.5, 1, 40_000), rng.normal(-0.5, 1, 40_000)
    assert donsker_varadhan(expit(p), expit(q)) == pytest.approx(0.5, abs=0.03)
    assert donsker_varadhan(np.full(5, 0.5), np.full(5, 0.5)) == 0.0


def test_divergence_is_finite_for_a_classifier_that_is_sure():
    assert np.isfinite(donsker_varadhan(np.ones(3), np.zeros(3)))


def test_the_exchanged_y_is_that_of_the_nearest_row_of_the_other_half():
    x, _, z = draw(0, 0.0, 60)
    y = np.arange(60.0)[:, None]  # the number of the row
    seen = []

    class Spy:
        def __call__(self, ones, zeros, *, seed):
            seen.append((ones, zeros))
            return lambda points: np.full(len(points), 0.5)

    standard = (z - z.mean(axis=0)) / z.std(axis=0)
    assert classifier_cmi(y, z, Spy(), np.random.default_rng(1))(bin_columns(x[:, None])) == 0.0
    (ones, zeros), rows = seen[0], np.unique(seen[0][0][:, 1]).astype(int)
    assert len(ones) == 20  # two thirds of one half
    lenders = np.random.default_rng(1).permutation(60)[:30]
    assert not set(rows) & set(lenders)
    for one, zero in zip(ones, zeros, strict=True):
        own = int(one[1])
        nearest = lenders[np.argmin(((standard[lenders] - standard[own]) ** 2).sum(axis=1))]
        assert zero[1] == nearest
        np.testing.assert_array_equal(np.delete(one, 1), np.delete(zero, 1))


def test_monotone_maps_of_x_and_y_change_nothing():
    x, y, z = draw(1, 0.3, 120)
    plain = NNLSCIT(**QUICK, random_state=0).test(x, y, z)
    mapped = NNLSCIT(**QUICK, random_state=0).test(np.exp(x), y**3, z)
    assert (plain.statistic, plain.pvalue) == (mapped.statistic, mapped.pvalue)


def test_size_and_power():
    options = {"method": "nnlscit", **QUICK}
    null = [ci_test(*draw(s, 0.0), random_state=s, **options).pvalue for s in range(12)]
    power = [ci_test(*draw(s, 2.0), random_state=s, **options).pvalue for s in range(3)]
    assert np.mean(np.array(null) <= 0.05) <= 0.25
    assert max(power) <= 0.05
    x, y, _ = draw(0, 2.0)
    assert ci_test(x, y, random_state=0, **options).pvalue <= 0.05  # without z


def test_steps_that_go_equally_far_give_nearly_the_same_estimate():
    x, y, z = draw(5, 1.0)
    small = NNLSCIT(n_trees=100, learning_rate=0.01, n_permutations=1, random_state=0).test(x, y, z)
    large = NNLSCIT(n_permutations=1, random_state=0).test(x, y, z)
    assert small.statistic > 0.1
    assert large.statistic == pytest.approx(small.statistic, rel=0.15)


@pytest.mark.adapters
def test_lightgbm_agrees_with_sklearn_on_the_decision():
    x, y, z = draw(3, 2.0)
    results = [
        NNLSCIT(**QUICK, library=name, random_state=0).test(x, y, z) for name in ("sklearn", "lightgbm")
    ]
    assert max(r.pvalue for r in results) <= 0.05
    assert results[0].statistic == pytest.approx(results[1].statistic, rel=0.35)


def test_bins_keep_the_order_and_the_ties():
    rng = np.random.default_rng(4)
    values = np.column_stack([rng.normal(size=500), rng.integers(0, 4, 500)])
    codes = bin_columns(values)
    order = np.argsort(values[:, 0])
    assert (np.diff(codes[order, 0]) >= 0).all()
    assert np.bincount(codes[:, 0].astype(int)).max() <= 10  # 500 rows in 63 bins
    np.testing.assert_array_equal(codes[:, 1], values[:, 1])


def test_booster_sees_dependence_that_no_single_column_shows():
    # The second sample is the first one with a column permuted: no first split has any gain.
    rng = np.random.default_rng(6)
    x = rng.normal(size=(300, 1))
    ones, zeros = np.hstack([x, x]), np.hstack([x, rng.permutation(x)])
    probability = TreeBooster(30, 0.1, 5)(ones, zeros, seed=0)
    assert probability(np.array([[1.0, 1.0], [-1.0, -1.0]])).min() > 0.6
    assert probability(np.array([[1.0, -1.0], [-1.0, 1.0]])).max() < 0.3


def test_booster_finds_a_boundary_without_touching_global_state():
    rng = np.random.default_rng(5)
    ones, zeros = rng.normal(1, 1, (300, 2)), rng.normal(-1, 1, (300, 2))
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    probability = TreeBooster(50, 0.1, 3)(ones, zeros, seed=0)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    test = rng.normal(1, 1, (400, 2))
    truth = expit(2 * test.sum(axis=1))
    assert np.abs(probability(test) - truth).mean() < 0.15


@pytest.mark.parametrize(
    "bad", [{"n_neighbors": 1}, {"library": "xgboost"}, {"n_trees": 0}, {"learning_rate": 2.0}]
)
def test_bad_parameters(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        NNLSCIT(**bad).test(*draw(0, 0.0, 60))


def test_missing_lightgbm_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtraError, match=r"spectralcit\[boost\]"):
        NNLSCIT(library="lightgbm").test(*draw(0, 0.0, 60))
