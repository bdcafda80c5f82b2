"""Generators learn a linear Gaussian problem; draws of categories are categories."""

import numpy as np
import pytest

from spectralcit.inputs import Block
from spectralcit.samplers.diffusion import noise_schedule, time_features, train_diffusion
from spectralcit.samplers.noise import UnitRange, as_levels
from spectralcit.samplers.sinkhorn import train_sinkhorn
from spectralcit.samplers.wgan import information, train_wgan


def linear_gaussian(n=800):
    rng = np.random.default_rng(7)
    z = rng.normal(size=(n, 1))
    return 2.0 * z + 0.7 * rng.normal(size=(n, 1)), z


def moments(sampler, points=(-1.0, 0.0, 1.0), n_draws=400):
    """Conditional means and standard deviations at some z."""
    draw = sampler.given(np.repeat(np.array(points), n_draws)[:, None])
    values = draw(np.random.default_rng(0)).reshape(len(points), n_draws)
    return values.mean(axis=1), values.std(axis=1)


def test_diffusion_recovers_mean_and_variance():
    x, z = linear_gaussian()
    sampler, losses = train_diffusion(
        x, z, rng=np.random.default_rng(0), hidden=48, n_steps=1000, batch_size=256, learning_rate=3e-3
    )
    mean, sd = moments(sampler)
    np.testing.assert_allclose(mean, [-2, 0, 2], atol=0.3)
    np.testing.assert_allclose(sd, 0.7, atol=0.2)
    assert losses[-50:].mean() < 0.6 * losses[0]


def test_sinkhorn_generator_recovers_mean_and_spread():
    # Long enough to be near on every processor: after 1000 steps rounding decided whether it was.
    x, z = linear_gaussian()
    ranges = {"x_range": UnitRange.fit(x), "z_range": UnitRange.fit(z)}
    sampler, _ = train_sinkhorn(
        x, z, **ranges, rng=np.random.default_rng(0), hidden=64, n_steps=2500, learning_rate=4e-3
    )
    mean, sd = moments(sampler)
    np.testing.assert_allclose(mean, [-2, 0, 2], atol=0.6)
    assert 0.2 < sd.mean() < 1.2
    # As every sampler, also those that users bring for the conditional randomisation test.
    first, second = np.random.default_rng(1), np.random.default_rng(1)
    np.testing.assert_array_equal(sampler.sample(z, first), sampler.given(z)(second))


def test_wasserstein_generator_follows_z():
    x, z = linear_gaussian()
    ranges = {"x_range": UnitRange.fit(x), "z_range": UnitRange.fit(z)}
    sampler, _ = train_wgan(
        x,
        z,
        **ranges,
        rng=np.random.default_rng(0),
        lambda_=0.0,
        hidden=64,
        noise_dim=5,
        n_steps=600,
        learning_rate=2e-3,
    )
    mean, sd = moments(sampler)
    np.testing.assert_allclose(mean, [-2, 0, 2], atol=0.8)
    assert 0.1 < sd.mean() < 1.5


def test_schedule_goes_from_signal_to_noise():
    kept = noise_schedule()
    assert kept[0] == pytest.approx(1 - 1e-4)
    assert kept[-1] < 1e-4
    assert (np.diff(kept) < 0).all()
    assert time_features(np.arange(1000)).shape == (1000, 32)


def test_unit_range_is_invertible():
    values = np.random.default_rng(0).normal(size=(20, 3)) * [1, 10, 100]
    scale = UnitRange.fit(values)
    unit = scale.transform(values)
    np.testing.assert_allclose([unit.min(axis=0), unit.max(axis=0)], [[0] * 3, [1] * 3])
    np.testing.assert_allclose(scale.inverse(unit), values)


def test_draws_of_levels_are_levels():
    observed = np.array([[0.1, 1, 0, 0, 5], [0.2, 0, 1, 0, 9], [0.3, 0, 0, 1, 5]], dtype=float)
    kinds = ("continuous", "indicator", "indicator", "indicator", "indicator")
    block = Block(observed, ("a", "b[0]", "b[1]", "b[2]", "c"), kinds, (0, 1, 1, 1, 2))
    raw = np.array([[0.55, 0.2, 0.9, 0.3, 6.0], [7.0, 0.6, 0.1, 0.5, 8.5]])
    drawn = as_levels(lambda rng: raw, block)(np.random.default_rng(0))
    np.testing.assert_array_equal(drawn, [[0.55, 0, 1, 0, 5], [7.0, 1, 0, 0, 9]])


def test_continuous_draws_are_left_alone():
    block = Block(np.zeros((2, 1)), ("a",), ("continuous",), (0,))

    def draw(rng):
        return rng.normal(size=(2, 1))

    assert as_levels(draw, block) is draw


def test_information_of_normal_pairs():
    # With the true log density ratio as statistic the bound is the mutual information itself.
    rng = np.random.default_rng(0)
    rho = 0.8
    x = rng.normal(size=(200_000, 1)).astype(np.float32)
    fake = (rho * x + np.sqrt(1 - rho**2) * rng.normal(size=x.shape)).astype(np.float32)

    def log_ratio(pairs):
        a, b = pairs[:, 0], pairs[:, 1]
        square = (a**2 - 2 * rho * a * b + b**2) / (1 - rho**2)
        return -0.5 * np.log(1 - rho**2) - 0.5 * (square - a**2 - b**2)

    assert float(information(log_ratio, x, fake)) == pytest.approx(-0.5 * np.log(1 - rho**2), abs=0.02)
