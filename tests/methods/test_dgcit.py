"""DGCIT: its statistic against plain loops, validity with the true generators, seeds, errors."""

import math

import numpy as np
import pytest

from spectralcit.errors import ParameterError, TrainingDivergedError
from spectralcit.methods.dgcit import DGCIT, generated_residuals, random_functions
from spectralcit.methods.gcm import largest_product


def test_statistic_is_that_of_the_double_loop():
    rng = np.random.default_rng(0)
    n, m, b = 40, 6, 4
    values = {role: rng.normal(size=(n, 1)) for role in "xy"}
    fakes = {role: rng.normal(size=(m, n, 1)) * 2 + 1 for role in "xy"}
    functions = {role: random_functions(1, b, np.random.default_rng(k)) for k, role in enumerate("xy")}
    left = {role: generated_residuals(values[role], fakes[role], functions[role]) for role in "xy"}
    outcome = largest_product(left["x"], left["y"], 50, 0, ())

    def standard(array):
        return (array - array.mean()) / array.std()

    best = 0.0
    for j in range(b):
        for k in range(b):
            products = []
            for i in range(n):
                residual = {}
                for role, index in (("x", j), ("y", k)):
                    real = standard(values[role])[i]
                    drawn = standard(fakes[role])[:, i]
                    f = functions[role]
                    average = sum(f(row[None, :])[0, index] for row in drawn) / m
                    residual[role] = f(real[None, :])[0, index] - average
                products.append(residual["x"] * residual["y"])
            mean = sum(products) / n
            deviation = math.sqrt(sum((p - mean) ** 2 for p in products) / n)
            best = max(best, abs(math.sqrt(n) * mean / deviation))
    assert outcome.statistic == pytest.approx(best, rel=1e-9)


def test_random_functions_are_bounded_and_smooth():
    f = random_functions(2, 30, np.random.default_rng(0))
    rows = np.random.default_rng(1).normal(size=(50, 2))
    values = f(rows)
    assert values.shape == (50, 30)
    assert (values > 0).all()
    assert (values < 1).all()
    assert np.abs(f(rows + 1e-6) - values).max() < 1e-4


class TrueGenerators(DGCIT):
    """Knows the distributions of `sample` under the null hypothesis."""

    __test__ = False

    def _conditional_draw(self, block, z, train, test, label, seed, report):
        mean = z[test] if label.startswith("x") else np.cos(z[test])
        return lambda rng: mean + 0.5 * rng.normal(size=mean.shape)


def sample(seed, effect=0.0, n=120):
    rng = np.random.default_rng([seed, 77])
    z = rng.normal(size=n)
    x = z + 0.5 * rng.normal(size=n)
    return x, np.cos(z) + effect * (x - z) + 0.5 * rng.normal(size=n), z


def test_valid_with_the_true_generators():
    test = {"n_functions": 8, "n_bootstrap": 99, "n_samples": 20, "n_folds": 2}
    rejections = [TrueGenerators(random_state=s, **test).test(*sample(s)).pvalue <= 0.1 for s in range(120)]
    # 12 expected; more than 24 has a chance below 0.001.
    assert sum(rejections) <= 24
    assert TrueGenerators(random_state=0, **test).test(*sample(0, effect=1.0)).pvalue == 0.01


def test_without_z_and_with_vectors():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(100, 2))
    test = DGCIT(n_functions=10, n_bootstrap=99, n_samples=30, random_state=0)
    assert test.test(x, x[:, :1] + 0.5 * rng.normal(size=(100, 1))).pvalue == 0.01
    assert test.test(x, rng.normal(size=(100, 1))).pvalue > 0.02


def test_divergence_and_bad_parameters():
    data = sample(1)
    with pytest.raises(TrainingDivergedError, match="Sinkhorn"):
        DGCIT(learning_rate=1e30, n_steps=20, random_state=0).test(*data)
    for bad in ({"n_folds": 1}, {"n_folds": 50}, {"n_functions": 0}, {"n_samples": 0}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            DGCIT(**bad).test(*data)


def test_all_trainings_are_one_count_of_progress():
    seen = []
    settings = {"n_steps": 3, "n_folds": 2, "n_functions": 3, "n_samples": 2, "n_bootstrap": 9}
    data = np.random.default_rng(0).normal(size=(3, 60))
    DGCIT(**settings, random_state=0, progress=lambda done, total: seen.append(done / total)).test(*data)
    assert seen == [0.25, 0.5, 0.75, 1.0]
