"""Classifier test: the exchange of y, the rule of the p-value, and results that do not depend on workers."""

import numpy as np
import pytest
from scipy.special import erfc

from spectralcit import ci_test
from spectralcit.errors import ParameterError
from spectralcit.methods.ccit import CCIT, _exchange, _scale, _two_accuracies
from spectralcit.methods.cmiknn import CMIknn
from spectralcit.methods.nnlscit import NNLSCIT

QUICK = {"n_bootstrap": 2, "n_trees": 20, "learning_rate": 0.1}


def draw(seed, effect, n=300):
    rng = np.random.default_rng([41, seed])
    z = rng.normal(size=(n, 2))
    x = z[:, 0] + rng.normal(size=n)
    return x, z[:, 0] ** 2 + effect * x + 0.5 * rng.normal(size=n), z


def test_y_comes_from_the_nearest_other_row_of_the_same_part():
    rng = np.random.default_rng(0)
    near, part = rng.normal(size=(40, 3)), rng.permutation(40)[:25]
    for row, lent in zip(part, _exchange(part, near, rng), strict=True):
        others = [j for j in part if j != row]
        assert lent == min(others, key=lambda j: ((near[j] - near[row]) ** 2).sum())
    assert sorted(_exchange(part, None, rng)) == sorted(part)  # any order without z


def test_accuracies_with_known_classifiers():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 90, 1))

    def sure(ones, zeros, *, seed):
        # Right about all rows when x is there, undecided when it is not.
        if ones.shape[1] == 1:
            return lambda points: np.full(len(points), 0.5)
        original = {tuple(row) for row in np.hstack([x, y])}
        return lambda points: np.array([float(tuple(p) in original) for p in points])

    with_x, without = _two_accuracies(x, y, np.empty((90, 0)), None, sure, rng)
    assert with_x > 0.95  # a row may be lent its own y
    assert without == 0.5


def test_pvalue_is_the_documented_rule():
    result = CCIT(**QUICK, random_state=0).test(*draw(0, 0.1))
    sigma = result.diagnostics["sigma"]
    assert result.pvalue == pytest.approx(0.5 * erfc(result.statistic / sigma / np.sqrt(2)), rel=1e-9)
    gain = result.diagnostics["accuracy_with_x"] - result.diagnostics["accuracy_without_x"]
    assert result.statistic == pytest.approx(gain, abs=1e-12)


def test_scale_of_the_pvalue():
    assert _scale(np.array([0.7]), 400) == 0.05  # one split
    assert _scale(np.array([0.4, 0.6]), 400) == pytest.approx(0.1)  # spread of the splits
    coins = 0.5 / np.sqrt(2 * 600 / 3)
    assert _scale(np.array([0.5, 0.5]), 600) == pytest.approx(coins)  # never below that of coin flips


def test_size_and_power():
    options = {"method": "ccit", **QUICK}
    null = [ci_test(*draw(s, 0.0), random_state=s, **options).pvalue for s in range(8)]
    power = [ci_test(*draw(s, 2.0), random_state=s, **options).pvalue for s in range(3)]
    assert np.mean(np.array(null) <= 0.05) <= 0.25
    assert max(power) <= 0.05
    x, y, _ = draw(0, 2.0)
    assert ci_test(x, y, random_state=0, **options).pvalue <= 0.05  # without z


def test_same_pvalue_for_any_number_of_workers():
    data = draw(2, 0.2, 80)
    makers = [
        lambda n_jobs: CCIT(n_bootstrap=3, n_trees=5, n_jobs=n_jobs, random_state=7),
        lambda n_jobs: NNLSCIT(n_permutations=20, n_trees=3, n_jobs=n_jobs, random_state=7),
        lambda n_jobs: CMIknn(n_permutations=60, n_jobs=n_jobs, random_state=7),
    ]
    for make in makers:
        alone, shared = (make(n).test(*data) for n in (1, 2))
        assert (alone.pvalue, alone.statistic) == (shared.pvalue, shared.statistic)
        assert alone.null == shared.null


def test_bad_parameters():
    with pytest.raises(ParameterError, match="n_bootstrap"):
        CCIT(n_bootstrap=0).test(*draw(0, 0.0, 60))
