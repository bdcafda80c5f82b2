"""Learned pairs: found where they are, described by their columns, and no luckier than the search allows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from spectralcit import SpectralCIT
from spectralcit.inputs import prepare
from spectralcit.null.bootstrap import Multipliers
from spectralcit.spectral.learned import learned_evidence
from spectralcit.spectral.sides import dictionary_sides


def searched(x, y, z=None, seed=0):
    rng = np.random.default_rng(seed)
    sides = dictionary_sides(prepare(x, y, z), "kernel_ridge", rng, 0)
    return sides, learned_evidence(sides.x, sides.y, Multipliers(len(x), 400, rng))


def test_two_single_columns_have_nothing_to_learn():
    assert searched(*np.random.default_rng(0).standard_normal((2, 100)))[1] is None


@pytest.mark.parametrize("kind", ["square × linear", "linear × square", "square × square", "linear × linear"])
def test_each_kind_is_found_and_named(kind):
    rng = np.random.default_rng(1)
    x, y, z = rng.standard_normal((600, 6)), rng.standard_normal((600, 5)), rng.standard_normal((600, 2))
    hidden = (x[:, 1] - x[:, 4]) / np.sqrt(2)
    y[:, 3] = {
        "square × linear": y[:, 3] + 0.9 * hidden**2,
        "linear × square": y[:, 3] * np.exp(0.6 * hidden),
        "square × square": y[:, 3] * np.exp(np.abs(hidden)),
        "linear × linear": y[:, 3] + 0.5 * hidden,
    }[kind]
    sides, found = searched(x, y, z)
    leading = found.pair.described(sides.x, sides.y)
    assert found.search.pvalue < 1e-4
    assert min(found.table, key=found.table.get) == f"learned {kind}"
    assert {leading["x"]["shape"], leading["y"]["shape"]} == set(kind.split(" × "))
    assert set(list(leading["x"]["columns"])[:2]) == {"x[1]", "x[4]"}
    assert next(iter(leading["y"]["columns"])) == "y[3]"
    assert abs(np.corrcoef(found.pair.x.values(sides.x), found.pair.y.values(sides.y))[0, 1]) > 0.15


def test_a_product_of_two_coordinates_is_found_from_the_public_test():
    rng = np.random.default_rng(2)
    x, noise, z = rng.standard_normal((800, 12)), rng.standard_normal(800), rng.standard_normal((800, 2))
    result = SpectralCIT(random_state=0).test(x, noise + z[:, 0] + 0.6 * x[:, 2] * x[:, 7], z)
    assert result.pvalue < 1e-6
    assert set(list(result.diagnostics["learned_pair"]["x"]["columns"])[:2]) == {"x[2]", "x[7]"}
    json.dumps(result.diagnostics)


def test_search_among_noise_is_uniform():
    rng = np.random.default_rng(3)
    samples = [(rng.standard_normal((120, 4)), rng.standard_t(6, (120, 2))) for _ in range(40)]
    found = np.array([searched(*sample)[1].search.pvalue for sample in samples])
    assert stats.kstest(found, "uniform").pvalue > 0.005
    assert np.mean(found <= 0.05) < 0.15


def test_vectors_of_noise_have_uniform_p_values():
    """All pieces are calibrated by the same signs: no share of the error rate is lost to Bonferroni."""
    rng = np.random.default_rng(4)
    found = []
    for seed in range(40):
        z = rng.standard_normal((100, 1))
        x, y = z + rng.standard_normal((100, 5)), z + rng.standard_normal((100, 4))
        found.append(SpectralCIT(random_state=seed).test(x, y, z).pvalue)
    assert stats.kstest(found, "uniform").pvalue > 0.005
    assert max(found) < 1.0


def test_the_far_tail_of_a_search_is_no_smaller_than_signs_allow():
    """400 groups have 2^400 vectors of signs, and a studentised sum of them is at most 20."""
    rng = np.random.default_rng(5)
    x, noise = rng.standard_normal((1000, 8)), rng.standard_normal((1000, 3))
    _, found = searched(x, x[:, :3] ** 2 + 0.1 * noise)
    assert 1e-130 < found.search.pvalue < 1e-15
