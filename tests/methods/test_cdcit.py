"""CDCIT: valid with the true distribution, the estimate of information, seeds, errors."""

import numpy as np
import pytest

from spectralcit.errors import TrainingDivergedError
from spectralcit.methods.cdcit import CDCIT
from spectralcit.statistics.boosting import TreeBooster, bin_columns
from spectralcit.statistics.classifier_cmi import classifier_cmi, donsker_varadhan


class TrueModel(CDCIT):
    """Knows that x is z plus a standard normal variable."""

    __test__ = False

    def _conditional_draw(self, data, train, test, seed, report):
        z = data.z.values[test]
        return lambda rng: z + rng.normal(size=z.shape), {}


def sample(seed, effect=0.0, n=100):
    rng = np.random.default_rng([seed, 99])
    z = rng.normal(size=n)
    x = z + rng.normal(size=n)
    return x, z + effect * x + 0.3 * rng.normal(size=n), z


def test_valid_with_the_true_model():
    rejections = [
        TrueModel(n_draws=9, early_stop=None, random_state=s).test(*sample(s)).pvalue <= 0.1
        for s in range(40)
    ]
    # 4 expected; more than 11 has a chance below 0.001.
    assert sum(rejections) <= 11


def test_true_model_finds_dependence():
    result = TrueModel(n_draws=39, random_state=0).test(*sample(0, effect=2.0, n=400))
    assert result.pvalue == pytest.approx(1 / 40)
    assert (result.n_train, result.n_test) == (200, 200)


def test_true_odds_give_the_divergence_of_two_normals():
    rng = np.random.default_rng(0)
    shift = 1.0
    first, second = rng.normal(shift, 1, 200_000), rng.normal(0, 1, 200_000)
    chances = [1 / (1 + np.exp(-(shift * v - shift**2 / 2))) for v in (first, second)]
    assert donsker_varadhan(*chances) == pytest.approx(shift**2 / 2, abs=0.02)


def test_information_grows_with_dependence():
    rng = np.random.default_rng(1)
    x, noise, z = rng.normal(size=(3, 1200, 1))
    trees = TreeBooster(20, 0.05, 5)
    values = [
        classifier_cmi(y, z, trees, np.random.default_rng(0))(bin_columns(x))
        for y in (noise + z, noise + z + 0.7 * x, noise + z + 3 * x)
    ]
    assert values[0] < 0.1  # a little above zero: the nearest z is not the same z
    assert values[0] < values[1] < values[2]


def test_trained_model_and_seed():
    data = sample(2, effect=2.0, n=200)
    settings = {"statistic": "pcc", "n_steps": 150, "hidden": 32, "n_draws": 39, "random_state": 5}
    first, second = (CDCIT(**settings).test(*data) for _ in range(2))
    assert first.pvalue == second.pvalue <= 0.05
    assert first.diagnostics["denoising_loss"] < 1.0


def test_without_z_and_divergence():
    rng = np.random.default_rng(4)
    x = rng.normal(size=200)
    assert CDCIT(n_draws=19, random_state=0).test(x, x + 0.1 * rng.normal(size=200)).pvalue == 0.05
    with pytest.raises(TrainingDivergedError, match="diffusion"):
        CDCIT(learning_rate=1e30, n_steps=20, hidden=8, random_state=0).test(*sample(1))
