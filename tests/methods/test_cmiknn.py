"""Nearest-neighbour mutual information against closed forms, contingency tables and tigramite."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma

from spectralcit import ci_test
from spectralcit.errors import ParameterError
from spectralcit.inputs import prepare
from spectralcit.methods.cmiknn import CMIknn, CMIknnMixed
from spectralcit.numeric.neighbours import NeighbourCounts


def estimate(x, y, z, **params):
    """The statistic alone: one draw of the null and no more."""
    return CMIknn(n_permutations=1, random_state=0, **params).test(x, y, z).statistic


def gaussian(n, r, seed=0):
    """x and y with partial correlation r given z."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    e = rng.multivariate_normal([0, 0], [[1, r], [r, 1]], size=n)
    return z + e[:, 0], e[:, 1] - z, z


def test_estimate_equals_the_formula_on_full_distance_matrices():
    x, y, z = (v[:, None] for v in gaussian(60, 0.5))
    standard = [(v - v.mean()) / v.std() for v in (x, y, z)]
    far_x, far_y, far_z = (np.abs(v - v.T) for v in standard)
    k, terms = 7, []
    for i in range(60):
        joint = np.maximum(np.maximum(far_x[i], far_y[i]), far_z[i])
        radius = np.sort(np.delete(joint, i))[k - 1]
        xz = 1 + sum(max(far_x[i, j], far_z[i, j]) < radius for j in range(60) if j != i)
        yz = 1 + sum(max(far_y[i, j], far_z[i, j]) < radius for j in range(60) if j != i)
        alone = 1 + sum(far_z[i, j] < radius for j in range(60) if j != i)
        terms.append(digamma(alone) - digamma(xz) - digamma(yz))
    assert estimate(x, y, z, knn=7, transform="standardize") == pytest.approx(
        digamma(k) + np.mean(terms), abs=1e-12
    )


@pytest.mark.parametrize("r", [0.0, 0.6, 0.9])
def test_estimate_converges_to_the_gaussian_closed_form(r):
    truth = -0.5 * np.log1p(-(r**2))
    errors = []
    for n in (300, 2600):  # by matrices, by trees
        values = [estimate(*gaussian(n, r, seed), knn=4) for seed in range(3 if n < 1000 else 1)]
        errors.append(abs(np.mean(values) - truth))
    assert errors[1] < 0.05 * (1 + truth)
    assert errors[1] < errors[0] + 0.03


@pytest.mark.adapters
@pytest.mark.parametrize("transform", ["ranks", "standardize"])
@pytest.mark.parametrize("knn", [0.1, 5])
def test_estimate_equals_tigramite(transform, knn):
    from tigramite.independence_tests.cmiknn import CMIknn as Tigramite

    rng = np.random.default_rng(1)
    z = rng.normal(size=(200, 2))
    x = np.column_stack([z[:, 0] + rng.normal(size=200), rng.normal(size=200)])
    y = z[:, 1] + x[:, 0] ** 2 + rng.normal(size=200)
    peer = Tigramite(knn=knn, transform=transform, workers=1)
    array, roles = np.vstack([x.T, y, z.T]), np.array([0, 0, 1, 2, 2])
    theirs = peer.get_dependence_measure(array, roles)
    assert estimate(x, y, z, knn=knn, transform=transform) == pytest.approx(theirs, abs=1e-8)
    alone = peer.get_dependence_measure(array[:3], roles[:3])
    assert estimate(x, y, None, knn=knn, transform=transform) == pytest.approx(alone, abs=1e-8)


def test_ties_are_broken_at_random_and_reproducibly():
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 5, (2, 200))
    z = rng.normal(size=200)
    values = [CMIknn(n_permutations=1, random_state=s).test(x, y, z).statistic for s in (0, 0, 1)]
    assert values[0] == values[1] != values[2]


def test_discrete_columns_are_noted():
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 100))
    result = CMIknn(n_permutations=1, random_state=0).test(x, rng.integers(0, 3, 100), z)
    assert any("cmi-knn-mixed" in text for text in result.warnings)
    assert not CMIknn(n_permutations=1, random_state=0).test(x, z, None).warnings


def test_ranks_make_the_pvalue_invariant_under_monotone_maps():
    x, y, z = gaussian(100, 0.2)
    plain = CMIknn(n_permutations=30, random_state=0).test(x, y, z)
    mapped = CMIknn(n_permutations=30, random_state=0).test(np.exp(x), y**3, np.arctan(z))
    assert (plain.statistic, plain.pvalue) == (mapped.statistic, mapped.pvalue)


def test_size_and_power():
    options = {"method": "cmi-knn", "n_permutations": 99}
    null = [ci_test(*gaussian(100, 0.0, s), random_state=s, **options).pvalue for s in range(50)]
    power = [ci_test(*gaussian(150, 0.8, s), random_state=s, **options).pvalue for s in range(10)]
    assert np.mean(np.array(null) <= 0.05) <= 0.15
    assert np.mean(np.array(power) <= 0.05) >= 0.9


@pytest.mark.parametrize("bad", [{"knn": 0}, {"n_permutation_neighbors": 1}, {"transform": "none"}])
def test_bad_parameters(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        CMIknn(**bad).test(*gaussian(50, 0.0))


# --- mixed -----------------------------------------------------------------------------------------------


def mixed(x, y, z, knn):
    return CMIknnMixed(knn=knn, n_permutations=1, random_state=0).test(x, y, z).statistic


def test_mixed_estimate_on_discrete_data_is_that_of_the_contingency_table():
    rng = np.random.default_rng(3)
    z = rng.integers(0, 2, 400)
    x, y = (z + rng.integers(0, 2, 400)) % 3, (z + rng.integers(0, 3, 400)) % 3

    def cell(*columns):
        _, codes, sizes = np.unique(np.column_stack(columns), axis=0, return_inverse=True, return_counts=True)
        return sizes[codes.ravel()]

    assert cell(x, y, z).min() > 6
    digammas = [digamma(cell(*c) - 1) for c in ((x, y, z), (x, z), (y, z), (z,))]
    truth = np.mean(digammas[0] - digammas[1] - digammas[2] + digammas[3])
    assert mixed(x, y, z, 5) == pytest.approx(truth, abs=1e-12)
    plug_in = np.mean(np.log(cell(x, y, z) * cell(z) / (cell(x, z) * cell(y, z))))
    assert mixed(x, y, z, 5) == pytest.approx(plug_in, abs=0.03)


@pytest.mark.adapters
def test_mixed_estimate_equals_tigramite():
    from tigramite.independence_tests.cmiknn_mixed import CMIknnMixed as Tigramite

    rng = np.random.default_rng(4)
    n = 129  # ranks over 128 are exact, so that both see the same rows at exactly the radius
    level = rng.integers(0, 3, n)
    x, noise = rng.normal(size=(2, n))
    z = level + noise
    y = (x + level > 1).astype(float)
    ranks = (stats.rankdata(np.column_stack([x, z]), axis=0) - 1) / (n - 1)
    array = np.vstack([ranks[:, 0], y, ranks[:, 1], level]).astype(float)
    kinds = np.repeat([[0], [1], [0], [1]], n, axis=1)
    peer = Tigramite(knn=8, estimator="MS", transform="none", workers=1)
    peer.random_state = WithoutNoise()
    theirs = peer.get_dependence_measure_MS(array, np.array([0, 1, 2, 2]), kinds)
    assert mixed(x, y, np.column_stack([z, level]), 8) == pytest.approx(theirs, abs=1e-8)


class WithoutNoise:
    """A random state for tigramite, which otherwise adds 1e-16 to break ties."""

    def random(self, shape):
        return np.zeros(shape)


def test_mixed_estimate_approaches_the_known_information():
    # y = level of x with a known flip probability; z is noise. I(x; y) = log 2 - entropy of the flip.
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(2, 1500))
    y = (x > 0) ^ (rng.random(1500) < 0.1)
    truth = np.log(2) + 0.1 * np.log(0.1) + 0.9 * np.log(0.9)
    assert mixed(x, y, z, 20) == pytest.approx(truth, abs=0.07)


def test_the_name_of_a_category_does_not_matter():
    rng = np.random.default_rng(6)
    level = rng.integers(0, 3, 120)
    x, z = rng.normal(size=(2, 120))
    renamed = np.array([2, 0, 1])[level]  # another order of the levels
    assert mixed(x, level, z, 5) == mixed(x, renamed, z, 5)


def test_null_is_exact_for_discrete_z():
    # Permutations within strata: P(p <= j / 10) is j / 10 but for ties; 250 data sets of 24 rows.
    rejections = np.zeros(3)
    for seed in range(250):
        rng = np.random.default_rng([9, seed])
        z = rng.integers(0, 2, 24)
        x, y = z + rng.normal(size=(2, 24))
        test = CMIknnMixed(n_permutations=19, early_stop=None, random_state=seed)
        rejections += test.test(x, y, z).pvalue <= np.array([0.1, 0.3, 0.6])
    expected = np.array([25, 75, 150])
    assert (np.abs(rejections - expected) <= 3.5 * np.sqrt(expected * (1 - expected / 250))).all()


def test_columns_of_the_mixed_metric():
    data = prepare(np.arange(30.0), np.tile([3.0, 7.0, 8.0], 10), None)
    y = CMIknnMixed()._columns(data.y.values, data.y.kinds, np.random.default_rng(0))
    assert NeighbourCounts(y, None, 9, closed=True)(y).yz.tolist() == [10] * 30  # equal levels, and no others
