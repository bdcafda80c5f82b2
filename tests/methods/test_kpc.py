"""Kernel partial correlation against a plain implementation, known values, and its permutation null."""

import numpy as np
import pytest

from spectralcit import ci_test
from spectralcit.errors import ParameterError
from spectralcit.methods.kpc import kernel_partial_correlation
from spectralcit.numeric.kernels import gaussian_gram, median_width, standardize
from spectralcit.numeric.neighbours import local_permutation, nearest_others


def plain(x, y, z, k):
    """The estimator with full distance matrices and sorting."""
    x, y, z = (standardize(v) for v in (x, y, z))
    kernel = gaussian_gram(y, median_width(y))

    def graph_mean(points):
        distances = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        np.fill_diagonal(distances, np.inf)
        order = np.argsort(distances, axis=1)[:, :k]
        return np.mean([kernel[i, order[i]].mean() for i in range(len(points))])

    both, alone = graph_mean(np.hstack([x, z])), graph_mean(z)
    return (both - alone) / (1 - alone)


def test_estimate_equals_the_plain_one():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(120, 2))
    x = rng.normal(size=(120, 1))
    y = z[:, :1] + x + 0.3 * rng.normal(size=(120, 1))
    for k in (1, 4):
        assert kernel_partial_correlation(x, y, z, n_neighbors=k) == pytest.approx(
            plain(x, y, z, k), abs=1e-6
        )


def test_known_values():
    rng = np.random.default_rng(1)
    x, z, noise = rng.normal(size=(3, 3000))
    assert kernel_partial_correlation(x, np.sin(2 * x) + z, z, n_neighbors=1) > 0.85  # a function of (x, z)
    assert abs(kernel_partial_correlation(x, z + noise, z)) < 0.05
    assert kernel_partial_correlation(x, x, None) > 0.97
    assert abs(kernel_partial_correlation(x, noise, None)) < 0.05
    weak, strong = (kernel_partial_correlation(x, z + b * x + noise, z) for b in (0.5, 2.0))
    assert 0.02 < weak < strong < 0.9


def test_local_permutations_use_neighbours_and_few_rows_twice():
    rng = np.random.default_rng(2)
    z = rng.normal(size=(200, 1))
    neighbours = np.column_stack([np.arange(200), nearest_others(z, 5)])
    order = local_permutation(neighbours, rng)
    assert all(order[i] in neighbours[i] for i in range(200))
    assert len(np.unique(order)) > 150
    assert (order != np.arange(200)).mean() > 0.6


def test_neighbours_of_duplicates_exclude_the_row_itself():
    points = np.repeat(np.arange(4.0), 10)[:, None]
    found = nearest_others(points, 3)
    assert (found != np.arange(40)[:, None]).all()
    assert (points[found][:, :, 0] == points).all()


def test_size_and_power():
    def draw(seed, effect):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=200)
        x = z + rng.normal(size=200)
        return x, np.sin(z) + effect * np.cos(2 * x) + 0.5 * rng.normal(size=200), z

    options = {"method": "kpc", "n_permutations": 99}
    null = [ci_test(*draw(s, 0.0), random_state=s, **options).pvalue for s in range(60)]
    power = [ci_test(*draw(s, 1.0), random_state=s, **options).pvalue for s in range(15)]
    assert np.mean(np.array(null) <= 0.05) <= 0.15
    assert np.mean(np.array(power) <= 0.05) >= 0.8


def test_discrete_z_is_permuted_within_strata():
    rng = np.random.default_rng(3)
    z = rng.integers(0, 3, 300)
    x, y = 3 * z + rng.normal(size=(2, 300))
    assert ci_test(x, y, z, method="kpc", random_state=0).pvalue > 0.01
    assert ci_test(x, y + x, z, method="kpc", random_state=0).pvalue < 0.02


def test_degenerate_inputs():
    rng = np.random.default_rng(4)
    z = np.repeat(np.arange(4), 15)
    result = ci_test(rng.normal(size=60), 2 * z + 1, z.astype(str), method="kpc", random_state=0)
    assert result.pvalue == 1.0
    assert any("z determines y" in w for w in result.warnings)
    with pytest.raises(ParameterError, match="n_neighbors"):
        ci_test(rng.normal(size=60), rng.normal(size=60), method="kpc", n_neighbors=0)
