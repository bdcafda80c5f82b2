"""Local sampling with a classifier's divergence: pieces against their definitions, then the whole."""

import numpy as np
import pytest

from spectralcit import ci_test
from spectralcit.errors import MissingExtraError, ParameterError
from spectralcit.methods.nnlscit import NNLSCIT

QUICK = {"n_trees": 10, "learning_rate": 0.1, "n_permutations": 39}


def draw(seed, effect, n=300):
    rng = np.random.default_rng([31, seed])
    z = rng.normal(size=(n, 3))
    x = z[:, 0] + rng.normal(size=n)
    return x, z[:, 0] + effect * x + 0.5 * rng.normal(size=n), z


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
