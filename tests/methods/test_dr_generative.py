"""The doubly robust generative test: residual kernels against loops, validity, double robustness, errors."""

import numpy as np
import pytest

from spectralcit.errors import ParameterError, TrainingDivergedError
from spectralcit.methods.dr_generative import GenerativeDR, residual_kernel
from spectralcit.samplers.mmd import conditional_mmd


def laplace(a, b, width):
    return np.exp(-sum(abs(p - q) for p, q in zip(a, b, strict=True)) / width)


def test_residual_kernel_is_that_of_the_loops():
    rng = np.random.default_rng(0)
    n, m = 9, 4
    values, fakes = rng.normal(size=(n, 2)), 3 + 2 * rng.normal(size=(m, n, 2))
    real = (values - values.mean(axis=0)) / values.std(axis=0)
    drawn = (fakes - fakes.mean(axis=(0, 1))) / fakes.std(axis=(0, 1))
    width = np.median([np.abs(real[i] - real[j]).sum() for i in range(n) for j in range(i)])
    expected = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            expected[i, j] = (
                laplace(real[i], real[j], width)
                - np.mean([laplace(real[i], drawn[a, j], width) for a in range(m)])
                - np.mean([laplace(drawn[a, i], real[j], width) for a in range(m)])
                + np.mean([laplace(drawn[a, i], drawn[b, j], width) for a in range(m) for b in range(m)])
            )
    np.testing.assert_allclose(residual_kernel(values, fakes), expected, atol=1e-12)


def test_training_loss_is_that_of_the_loops():
    rng = np.random.default_rng(1)
    n, m = 5, 3
    x, z, fakes = rng.normal(size=(n, 1)), rng.normal(size=(n, 2)), rng.normal(size=(n, m, 1))
    total = 0.0
    for i in range(n):
        for j in range(n):
            if i != j:
                u = laplace(x[i], x[j], 0.7)
                u -= np.mean([laplace(x[i], fakes[j, a], 0.7) for a in range(m)])
                u -= np.mean([laplace(fakes[i, a], x[j], 0.7) for a in range(m)])
                u += np.mean([laplace(fakes[i, a], fakes[j, b], 0.7) for a in range(m) for b in range(m)])
                total += u * laplace(z[i], z[j], 2.0)
    assert float(conditional_mmd(x, fakes, z, 0.7, 2.0)) == pytest.approx(total / n, rel=1e-4)


class TrueGenerators(GenerativeDR):
    """Knows the distributions of `sample` under the null hypothesis, or forgets z for one of the two."""

    __test__ = False
    forgets = ""

    def _conditional_draw(self, block, z, train, test, label, seed, report):
        if self.forgets and label.startswith(self.forgets):
            pool = block.values[train]
            return lambda rng: pool[rng.integers(len(pool), size=len(test))]
        mean = z[test] if label.startswith("x") else np.cos(z[test])
        return lambda rng: mean + 0.5 * rng.normal(size=mean.shape)


class ForgetsX(TrueGenerators):
    """One true generator and one that ignores z."""

    forgets = "x"


def sample(seed, effect=0.0, n=120):
    rng = np.random.default_rng([seed, 177])
    z = rng.normal(size=n)
    x = z + 0.5 * rng.normal(size=n)
    return x, np.cos(z) + effect * (x - z) + 0.5 * rng.normal(size=n), z


QUICK = {"n_bootstrap": 99, "n_samples": 10}


@pytest.mark.parametrize("cls", [TrueGenerators, ForgetsX])
def test_valid_when_one_generator_is_right(cls):
    rejections = [cls(random_state=s, **QUICK).test(*sample(s)).pvalue <= 0.1 for s in range(60)]
    # 6 expected; more than 14 has a chance below 0.001.
    assert sum(rejections) <= 14


def test_finds_dependence():
    result = TrueGenerators(random_state=0, **QUICK).test(*sample(0, effect=1.0))
    assert result.pvalue == 0.01
    assert 0.1 < result.effect_size <= 1


def test_without_z_and_with_vectors():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(100, 2))
    test = GenerativeDR(random_state=0, **QUICK)
    assert test.test(x, x[:, :1] + 0.5 * rng.normal(size=(100, 1))).pvalue == 0.01
    assert test.test(x, rng.normal(size=(100, 1))).pvalue > 0.02


def test_divergence_and_bad_parameters():
    data = sample(1)
    with pytest.raises(TrainingDivergedError, match="kernel"):
        GenerativeDR(learning_rate=1e38, n_steps=20, hidden=16, random_state=0).test(*data)
    for bad in ({"n_folds": 1}, {"n_bootstrap": 0}, {"n_samples": 0}, {"dropout": 1.0}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            GenerativeDR(**bad).test(*data)
