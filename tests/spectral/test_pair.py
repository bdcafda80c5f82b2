from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from spectralcit import SpectralCIT, prepare
from spectralcit.errors import ParameterError
from spectralcit.spectral.pair import leading_pair


def triple(n):
    rng = np.random.default_rng(1)
    z = rng.normal(size=(n, 2))
    x = np.sin(z[:, 0]) + rng.normal(size=n)
    return x, z[:, 1] + x**2 + rng.normal(size=n), z


@pytest.mark.parametrize("parameters", [{}, {"nuisance": Ridge()}, {"statistic": "witness"}])
def test_the_pair_is_the_one_of_the_result(parameters):
    x, y, z = triple(200)
    test = SpectralCIT(random_state=5, **parameters)
    result = test.test(x, y, z)
    pair = leading_pair(test, prepare(x, y, z), seed=result.seed)
    assert pair.singular_value == pytest.approx(result.diagnostics["singular_values"][0], rel=1e-12)


def test_the_pair_carries_the_dependence_and_not_z():
    x, y, z = triple(400)
    pair = leading_pair(SpectralCIT(), prepare(x, y, z), seed=0)
    assert np.mean(pair.u**2) == pytest.approx(1.0)
    assert pair.correlation == pytest.approx(np.mean(pair.u * pair.v))
    assert abs(np.corrcoef(pair.x.residual, x - np.sin(z[:, 0]))[0, 1]) > 0.95
    assert abs(np.corrcoef(pair.u, z[:, 0])[0, 1]) < 0.1


def test_a_part_of_the_rows_is_enough_and_is_said():
    x, y, z = triple(500)
    data = prepare(x, y, z)
    pair = leading_pair(SpectralCIT(), data, seed=0, max_rows=120)
    again = leading_pair(SpectralCIT(), data, seed=0, max_rows=120)
    assert (len(pair.u), pair.n_total) == (120, 500)
    np.testing.assert_array_equal(pair.u, again.u)


def test_a_level_that_is_not_among_the_drawn_rows():
    rng = np.random.default_rng(0)
    levels = ["a"] * 500 + ["b"] * 497 + ["c"] * 3
    data = prepare(rng.normal(size=1000), levels, rng.normal(size=1000))
    assert np.isfinite(leading_pair(SpectralCIT(), data, seed=0, max_rows=40).correlation)


def test_learned_features_are_not_trained_again():
    with pytest.raises(ParameterError, match="trained again"):
        leading_pair(SpectralCIT(features="bilevel"), prepare(*triple(50)), seed=0)
