"""GCIT: valid with the true generator, p-values by the stated formulas, seeds, errors."""

import numpy as np
import pytest
from scipy import stats

from spectralcit.errors import ParameterError, TrainingDivergedError
from spectralcit.methods.gcit import GCIT
from spectralcit.methods.hsic import HSIC


class TrueGenerator(GCIT):
    """Knows that x is z plus a standard normal variable."""

    __test__ = False

    def _conditional_draw(self, data, train, test, seed, report):
        z = data.z.values[test]
        return lambda rng: z + rng.normal(size=z.shape), {}


class IgnoresZ(GCIT):
    """Draws x from its marginal distribution."""

    __test__ = False

    def _conditional_draw(self, data, train, test, seed, report):
        n = len(test)
        return lambda rng: np.sqrt(2.0) * rng.normal(size=(n, 1)), {}


def sample(seed, effect=0.0, n=90):
    rng = np.random.default_rng([seed, 55])
    z = rng.normal(size=n)
    x = z + rng.normal(size=n)
    return x, z + effect * x + rng.normal(size=n), z


@pytest.mark.parametrize("statistic", ["pcc", "rdc"])
def test_true_generator_gives_uniform_pvalues(statistic):
    pvalues = [
        TrueGenerator(statistic=statistic, n_draws=19, early_stop=None, random_state=s)
        .test(*sample(s))
        .pvalue
        for s in range(200)
    ]
    counts = np.bincount(np.round(np.array(pvalues) * 20).astype(int), minlength=21)[1:]
    assert counts.sum() == 200
    assert stats.chisquare(counts.reshape(5, 4).sum(axis=1)).pvalue > 0.001


def test_ties_make_it_conservative():
    # The Kolmogorov-Smirnov distance of few rows takes few values, and a tie counts as a larger draw.
    settings = {"statistic": "ks", "n_draws": 19, "early_stop": None}
    small = [TrueGenerator(random_state=s, **settings).test(*sample(s)).pvalue <= 0.2 for s in range(100)]
    assert sum(small) <= 33  # 20 expected without ties; more has a chance below 0.001


def test_wrong_generator_rejects_a_true_null():
    # y follows x only through z, which this generator does not know: the published test's weak point.
    pvalues = [
        IgnoresZ(statistic="pcc", n_draws=99, random_state=s).test(*sample(s)).pvalue for s in range(10)
    ]
    assert np.median(pvalues) <= 0.05


def test_true_generator_finds_dependence():
    result = TrueGenerator(n_draws=99, random_state=0).test(*sample(0, effect=1.0, n=200))
    assert result.pvalue == 0.01
    assert (result.n_train, result.n_test) == (133, 67)


def test_two_sided_is_twice_the_smaller_side():
    data = sample(3)
    settings = {"statistic": "pcc", "n_draws": 39, "early_stop": None, "random_state": 4}
    greater = TrueGenerator(**settings).test(*data)
    both = TrueGenerator(alternative="two-sided", **settings).test(*data)
    less = round(1 + 1 / 40 - greater.pvalue, 10)  # without ties the two ranks add up
    assert both.pvalue == pytest.approx(min(1.0, 2 * min(greater.pvalue, less)))


def test_without_z_it_is_a_permutation_test():
    rng = np.random.default_rng(8)
    x = rng.normal(size=120)
    y = x**2 + 0.3 * rng.normal(size=120)
    assert GCIT(statistic="dc", n_draws=99, random_state=0).test(x, y).pvalue == 0.01
    assert HSIC().test(x, y).reject()  # the oracle agrees that they are dependent
    with pytest.raises(ParameterError, match="paired"):
        GCIT(statistic="ks", random_state=0).test(x, y)


def test_pvalue_does_not_depend_on_the_workers():
    data = sample(5)
    settings = {"n_steps": 5, "n_draws": 40, "early_stop": None, "random_state": 1}
    assert GCIT(n_jobs=2, **settings).test(*data).pvalue == GCIT(**settings).test(*data).pvalue


def test_lambda_changes_the_generator():
    data = sample(6, n=150)
    settings = {"n_steps": 60, "n_draws": 30, "learning_rate": 1e-2, "early_stop": None, "random_state": 1}
    losses = {GCIT(lambda_=value, **settings).test(*data).diagnostics["critic_loss"] for value in (0.0, 20.0)}
    assert len(losses) == 2


def test_vectors():
    rng = np.random.default_rng(9)
    z = rng.normal(size=(90, 3))
    x, y = z[:, :2] + rng.normal(size=(90, 2)), z[:, 1:] + rng.normal(size=(90, 2))
    result = GCIT(n_steps=5, n_draws=20, random_state=0).test(x, y, z)
    assert 1 / 21 <= result.pvalue <= 1


def test_divergence_and_bad_parameters():
    data = sample(7)
    with pytest.raises(TrainingDivergedError, match="Wasserstein"):
        GCIT(learning_rate=1e30, n_steps=20, random_state=0).test(*data)
    with pytest.raises(ParameterError, match="alternative"):
        GCIT(alternative="less").test(*data)
    with pytest.raises(ParameterError, match="statistic"):
        GCIT(statistic="nonsense").test(*data)


def test_training_and_draws_are_one_count_of_progress():
    seen = []
    GCIT(n_steps=5, n_draws=20, random_state=0, progress=lambda *now: seen.append(now)).test(*sample(8))
    assert {total for _, total in seen} == {2}
    done = [count for count, _ in seen]
    assert done == sorted(done)
    assert done[0] == 1.0 < done[1]
