"""`learn_features` along directions: what the default learned, in the user's rows and by the user's names."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit import LearnedDirections, SpectralCIT, learn_features, prepare
from spectralcit.errors import ParameterError
from spectralcit.spectral.pair import leading_pair


def hidden_square(n=500, seed=0):
    rng = np.random.default_rng(seed)
    x, z, noise = rng.standard_normal((n, 6)), rng.standard_normal(n), rng.standard_normal((n, 3))
    along = (x[:, 1] - x[:, 4]) / np.sqrt(2)
    noise[:, 2] += along**2
    return x + z[:, None], noise + z[:, None], z, along


def test_directions_are_those_of_the_default_test():
    x, y, z, along = hidden_square()
    pair = learn_features(x, y, z, kind="directions", random_state=3)
    told = SpectralCIT(random_state=3).test(x, y, z).diagnostics["learned_pair"]
    assert isinstance(pair, LearnedDirections)
    assert (pair.x.shape, pair.y.shape) == (told["x"]["shape"], told["y"]["shape"]) == ("square", "linear")
    assert pair.pvalue == told["pvalue"]
    assert abs(np.corrcoef(pair.x.values, along**2)[0, 1]) > 0.85
    weights = pair.x.weights
    assert weights["x[1]"] * weights["x[4]"] < 0
    assert set(list(told["x"]["columns"])[:2]) == {"x[1]", "x[4]"}
    assert abs(pair.correlation) > 0.5


def test_directions_follow_the_rows_and_the_sides():
    x, y, z, _ = hidden_square(300, seed=1)
    order = np.random.default_rng(0).permutation(300)
    pair = learn_features(x, y, z, kind="directions", random_state=0)
    moved = learn_features(x[order], y[order], z[order], kind="directions", random_state=0)
    np.testing.assert_allclose(np.abs(moved.y.values), np.abs(pair.y.values[order]), atol=1e-4)
    swapped = learn_features(y, x, z, kind="directions", random_state=0)
    assert (swapped.x.shape, swapped.y.shape) == (pair.y.shape, pair.x.shape)
    assert swapped.pvalue == pytest.approx(pair.pvalue, rel=1e-3)


def test_the_leading_pair_of_vectors_is_the_learned_one():
    x, y, z, along = hidden_square(seed=2)
    data = prepare(x, y, z)
    pair = leading_pair(SpectralCIT(), data, seed=5)
    assert pair.shapes == ("square", "linear")
    assert abs(np.corrcoef(pair.u, along**2)[0, 1]) > 0.85
    _, shown = SpectralCIT(random_state=5).examine(data, 5)
    np.testing.assert_allclose(shown.u, pair.u)
    assert leading_pair(SpectralCIT(), prepare(x[:, 0], y[:, 0], z), seed=5).shapes is None
    assert leading_pair(SpectralCIT(statistic="witness"), data, seed=5).shapes is None


def test_what_cannot_be_learned_is_said():
    x, y, z, _ = hidden_square(100)
    with pytest.raises(ParameterError, match="no directions to learn"):
        learn_features(x[:, 0], y[:, 0], z, kind="directions")
    with pytest.raises(ParameterError, match="kind must be"):
        learn_features(x, y, z, kind="nets")
