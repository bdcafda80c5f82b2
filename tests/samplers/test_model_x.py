"""Fitted models of x given z: densities against scipy, draws against the truth, and the choice among them."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from spectralcit import ci_test
from spectralcit.errors import ParameterError
from spectralcit.inputs import prepare
from spectralcit.samplers import GaussianSampler, LogisticSampler
from spectralcit.samplers.model_x import fitted_sampler


def test_gaussian_log_density_against_scipy():
    rng = np.random.default_rng(3)
    z = rng.normal(size=(60, 2))
    x = z @ rng.normal(size=(2, 2)) + rng.normal(size=(60, 2)) @ [[1.0, 0.7], [0.0, 0.5]]
    for noise in ("constant", "heteroscedastic"):
        model = GaussianSampler(noise=noise).fit(x, z)
        got = model.log_density(x, z)
        location, spread = model._location_and_spread(z)
        covariance = model.factor_ @ model.factor_.T
        expected = np.array(
            [
                [
                    stats.multivariate_normal(m, covariance * np.outer(s, s)).logpdf(row)
                    for m, s in zip(location, np.broadcast_to(spread, location.shape), strict=True)
                ]
                for row in x[:5]
            ]
        )
        difference = got[:5] - expected  # a constant
        assert np.ptp(difference) < 1e-8


def test_gaussian_sampler_recovers_mean_and_spread():
    rng = np.random.default_rng(4)
    z = rng.uniform(-2, 2, size=(2000, 1))
    x = np.sin(2 * z) + (0.2 + 0.4 * np.abs(z)) * rng.normal(size=(2000, 1))
    model = GaussianSampler(noise="heteroscedastic").fit(x, z)
    copies = np.array([model.sample(z, rng)[:, 0] for _ in range(200)])
    assert np.sqrt(np.mean((copies.mean(axis=0) - np.sin(2 * z[:, 0])) ** 2)) < 0.15
    assert np.mean(np.abs(copies.std(axis=0) / (0.2 + 0.4 * np.abs(z[:, 0])) - 1)) < 0.2
    # rows other than those fitted to
    assert model.sample(z[:7], rng).shape == (7, 1)


def test_logistic_sampler_draws_the_rows_of_x_with_its_probabilities():
    rng = np.random.default_rng(5)
    z = rng.normal(size=(300, 1))
    x = np.eye(3)[rng.integers(0, 3, 300)]
    model = LogisticSampler().fit(x, z)
    copies = np.array([model.sample(z, rng) for _ in range(400)])
    probabilities = np.exp(model.log_density(np.eye(3), z)).T
    assert np.allclose(probabilities.sum(axis=1), 1.0)
    assert np.abs(copies.mean(axis=0) - probabilities).max() < 5 * np.sqrt(0.25 / 400)


def test_samplers_are_chosen_by_kind():
    rng = np.random.default_rng(6)
    z, number, flag = rng.normal(size=60), rng.normal(size=60), rng.random(60) < 0.5
    for x, expected in ((number, GaussianSampler), (flag, LogisticSampler)):
        data = prepare(x, rng.normal(size=60), z)
        assert isinstance(fitted_sampler("auto", data.x, data.z), expected)
    with pytest.raises(ParameterError, match="continuous and discrete"):
        ci_test(np.column_stack([number, flag]), rng.normal(size=60), z, method="crt")


@pytest.mark.parametrize(
    "model",
    [GaussianSampler(mean="cubic"), GaussianSampler(noise=3), LogisticSampler(C=0.0), LogisticSampler(C="1")],
)
def test_parameters_are_declared_and_checked_when_fitted(model):
    assert clone(model).get_params() == model.get_params()
    assert "Parameters\n----------" in type(model).__doc__
    with pytest.raises(ParameterError, match="must be"):
        model.fit(np.arange(30.0)[:, None] % 2, np.arange(30.0)[:, None])


class OwnModel:
    """Has fit, but is no scikit-learn estimator."""

    def fit(self, x, z):
        self.mean = x.mean(axis=0)
        return self

    def sample(self, z, rng):
        return self.mean + rng.normal(size=(len(z), 1))


def test_a_model_of_ones_own_need_not_be_an_estimator_to_be_fitted():
    data = prepare(*np.random.default_rng(0).normal(size=(3, 40)))
    own = OwnModel()
    assert fitted_sampler(own, data.x, data.z).sample(data.z.values, np.random.default_rng(1)).shape == (
        40,
        1,
    )
    assert not hasattr(own, "mean")
