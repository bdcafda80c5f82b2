"""Model-X tests: exactness with the true distribution, by enumeration and by simulation; fitted samplers."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from spectralcit import ci_test
from spectralcit.errors import ParameterError
from spectralcit.methods.cpt import CPT, log_odds_of_swap, walk
from spectralcit.methods.crt import CRT
from spectralcit.samplers import GaussianSampler


class Truth:
    """x is normal around the sine of 2 z, with a spread that grows with z."""

    def parameters(self, z):
        return np.sin(2 * z[:, 0]), 0.3 + 0.3 * np.abs(z[:, 0])

    def sample(self, z, rng):
        mean, spread = self.parameters(z)
        return mean + spread * rng.normal(size=len(z))

    def log_density(self, x, z):
        mean, spread = self.parameters(z)
        return -0.5 * ((x - mean) / spread) ** 2 - np.log(spread)


def confounded(seed, n=40, effect=0.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 1))
    x = Truth().sample(z, rng)
    return x, np.sin(2 * z[:, 0]) + 0.5 * rng.normal(size=n) + effect * x, z


def transition_matrix(density):
    """One step of the chain on all permutations, from the function that the test itself uses."""
    n = len(density)
    states = list(itertools.permutations(range(n)))
    number = {state: i for i, state in enumerate(states)}
    arrangements = list(itertools.permutations(range(n)))
    half = n // 2
    matrix = np.zeros((len(states), len(states)))
    for state in states:
        order = np.array(state)
        for arrangement in arrangements:
            first, second = np.array(arrangement[: 2 * half]).reshape(2, half)
            odds = log_odds_of_swap(order, density, first, second)
            for swaps in itertools.product([False, True], repeat=half):
                new, weight = order.copy(), 1.0 / len(arrangements)
                for a, b, log_odds, swap in zip(first, second, odds, swaps, strict=True):
                    weight *= expit(log_odds if swap else -log_odds)
                    if swap:
                        new[a], new[b] = new[b], new[a]
                matrix[number[state], number[tuple(new)]] += weight
    return states, matrix


def test_cpt_is_exactly_valid_by_enumeration():
    # Given the values of x, its order has probability proportional to the product of the densities. All
    # orders, all chains to the hub and from there to two copies: the p-value must be valid at every level.
    rng = np.random.default_rng(0)
    z = rng.normal(size=(4, 1))
    x, y = Truth().sample(z, rng), rng.normal(size=4)
    density = Truth().log_density(x[:, None], z)
    states, step = transition_matrix(density)
    assert np.allclose(step.sum(axis=1), 1.0)
    weight = np.array([math.exp(sum(density[a, j] for j, a in enumerate(state))) for state in states])
    weight /= weight.sum()
    assert np.allclose(weight[:, None] * step, (weight[:, None] * step).T, atol=1e-14)  # reversible

    statistic = np.array([abs(np.corrcoef(x[list(state)], y)[0, 1]) for state in states])
    for n_steps in (1, 3):
        chain = np.linalg.matrix_power(step, n_steps)
        hub = weight @ chain
        back = (weight[:, None] * chain).T / hub[:, None]  # the data given the hub
        distribution = np.zeros(4)
        for h in range(len(states)):
            for t in range(len(states)):
                q = float(chain[h, statistic >= statistic[t] - 1e-12].sum())  # a copy is as large
                for k in range(3):
                    distribution[k + 1] += hub[h] * back[h, t] * math.comb(2, k) * q**k * (1 - q) ** (2 - k)
        assert distribution.sum() == pytest.approx(1.0)
        for k in (1, 2, 3):  # p-values 1/3, 2/3 and 1
            assert distribution[: k + 1].sum() <= k / 3 + 1e-12


def test_walk_has_the_stationary_distribution_of_the_enumeration():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(3, 1))
    density = Truth().log_density(Truth().sample(z, rng)[:, None], z)
    states, _ = transition_matrix(density)
    weight = np.exp([sum(density[a, j] for j, a in enumerate(state)) for state in states])
    weight /= weight.sum()
    drawn = [tuple(walk(np.arange(3), density, 15, rng)[0]) for _ in range(1000)]
    shares = np.array([drawn.count(state) for state in states]) / 1000
    assert np.abs(shares - weight).max() < 4 * np.sqrt(0.25 / 1000)


def test_cpt_without_z_draws_all_orders_alike():
    density = np.zeros((3, 3))
    rng = np.random.default_rng(2)
    drawn = [tuple(walk(np.arange(3), density, 10, rng)[0]) for _ in range(900)]
    counts = [drawn.count(state) for state in itertools.permutations(range(3))]
    assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("statistic", ["correlation", "rdc", "mutual-information"])
@pytest.mark.parametrize("method", ["crt", "cpt"])
def test_level_with_the_true_distribution(method, statistic):
    # The statistics do not remove z: without the sampler they would reject nearly always. The full study is
    # benchmarks/crt_validity.py.
    draws = {"n_draws": 19} if method == "crt" else {"n_permutations": 19, "n_steps": 20}
    pvalues = [
        ci_test(
            *confounded(seed), method=method, sampler=Truth(), statistic=statistic, random_state=seed, **draws
        ).pvalue
        for seed in range(150)
    ]
    for level in (0.1, 0.5):
        assert abs(np.mean(np.array(pvalues) <= level) - level) < 3.5 * np.sqrt(level * (1 - level) / 150)


@pytest.mark.parametrize("test", [CRT(n_draws=49), CPT(n_permutations=49, n_steps=20)])
def test_fitted_gaussian_has_level_and_power(test):
    test.set_params(random_state=0)
    null = [test.test(*confounded(seed, n=150)).pvalue for seed in range(40)]
    assert np.mean(np.array(null) <= 0.05) <= 0.15
    assert np.mean([test.test(*confounded(seed, n=150, effect=1.0)).reject() for seed in range(10)]) >= 0.9


def test_fitted_logistic_has_level_and_power():
    def draw(seed, effect):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(200, 2))
        x = rng.random(200) < expit(2 * z[:, 0])
        return x, z[:, 0] + effect * x + rng.normal(size=200), z

    for method, draws in (("crt", {"n_draws": 39}), ("cpt", {"n_permutations": 39, "n_steps": 20})):
        null, alternative = (
            [ci_test(*draw(s, effect), method=method, random_state=0, **draws).reject() for s in range(20)]
            for effect in (0.0, 1.5)
        )
        assert np.mean(null) <= 0.2
        assert np.mean(alternative) >= 0.9


def test_same_pvalue_for_any_number_of_workers():
    for test in (CRT(n_draws=99), CPT(n_permutations=99, n_steps=5)):
        one, two = (
            test.set_params(n_jobs=jobs, random_state=4).test(*confounded(0)).pvalue for jobs in (1, 2)
        )
        assert one == two


def test_a_sampler_with_fit_is_cloned_and_fitted():
    model = GaussianSampler(mean="linear")
    result = CRT(sampler=model, n_draws=49, random_state=0).test(*confounded(0))
    assert result.diagnostics["sampler"] == "GaussianSampler"
    assert not hasattr(model, "mean_")


def test_without_z_any_distribution_of_x_is_allowed():
    rng = np.random.default_rng(7)
    x = rng.standard_cauchy(size=100)
    y = rng.normal(size=100)
    for method in ("crt", "cpt"):
        draws = {"n_draws": 99} if method == "crt" else {"n_permutations": 99}
        assert ci_test(
            x, np.sign(x) + 0.1 * y, method=method, statistic="rdc", random_state=0, **draws
        ).reject()


class NoMethods:
    pass


class WrongShape:
    def sample(self, z, rng):
        return np.zeros(3)

    def log_density(self, x, z):
        return np.zeros(len(z))


class Impossible(WrongShape):
    def log_density(self, x, z):
        return np.full((len(x), len(z)), -np.inf)


@pytest.mark.parametrize("method", ["crt", "cpt"])
@pytest.mark.parametrize("sampler", ["gausian", NoMethods(), WrongShape(), Impossible(), GaussianSampler])
def test_unusable_samplers(method, sampler):
    with pytest.raises(ParameterError):
        ci_test(*confounded(0), method=method, sampler=sampler)


def test_blind_statistics_are_for_randomisation_only():
    with pytest.raises(ParameterError, match="paired"):
        ci_test(*confounded(0), method="cpt", statistic="ks")
    assert ci_test(*confounded(0), method="crt", statistic="ks", n_draws=19).pvalue > 0
