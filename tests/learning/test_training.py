"""The compiled loop: Adam as optax does it, seeds, divergence, steps that do not fill a chunk."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from spectralcit.errors import ParameterError, TrainingDivergedError
from spectralcit.learning.training import CHUNK, Learned, adam_step, fit, start_adam


class Mean(eqx.Module):
    """Least squares: the parameter goes to the mean of the rows."""

    learning_rate: float

    @property
    def batches_per_step(self):
        return 1

    def step(self, state, batches, key):
        def loss(value):
            return jnp.mean((batches[0] - value) ** 2)

        value, gradient = jax.value_and_grad(loss)(state.params)
        return adam_step(state, gradient, self.learning_rate), value


def train(rows, n_steps=400, learning_rate=0.05, seed=0, batch_size=32):
    start = start_adam(np.zeros(rows.shape[1], np.float32))
    rng = np.random.default_rng(seed)
    return fit(Mean(learning_rate), start, rows, batch_size=batch_size, n_steps=n_steps, rng=rng)


def test_adam_is_that_of_optax():
    params = np.array([1.0, -2.0], np.float32)
    gradients = np.array([[0.3, 9.0], [0.1, -4.0], [2.0, 0.0]], np.float32)
    ours, theirs = start_adam(params), jnp.asarray(params)
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.1, b1=0.5))
    moments = optimiser.init(theirs)
    for gradient in gradients:
        ours = adam_step(ours, gradient, 0.1, b1=0.5, max_norm=1.0)
        update, moments = optimiser.update(gradient, moments)
        theirs = optax.apply_updates(theirs, update)
    np.testing.assert_allclose(ours.params, theirs, rtol=1e-6)


def test_finds_the_mean_of_the_rows():
    rows = np.random.default_rng(3).normal([2.0, -1.0], 0.1, size=(64, 2))
    state, losses = train(rows)
    assert isinstance(state, Learned)
    np.testing.assert_allclose(state.params, rows.mean(axis=0), atol=0.02)
    assert losses[-1] < 0.02 < losses[0]


@pytest.mark.parametrize("n_steps", [1, CHUNK, CHUNK + 7])
def test_makes_as_many_steps_as_asked(n_steps):
    state, losses = train(np.ones((40, 1)), n_steps=n_steps)
    assert len(losses) == n_steps
    assert int(state.moments.count) == n_steps


def test_same_seed_same_parameters():
    rows = np.random.default_rng(4).normal(size=(50, 2))
    first, second, other = (train(rows, 30, seed=seed)[0].params for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_divergence_is_named():
    with pytest.raises(TrainingDivergedError, match="step"):
        train(np.random.default_rng(5).normal(size=(50, 1)), learning_rate=1e30)


@pytest.mark.parametrize("bad", [{"n_steps": 0}, {"batch_size": 1}])
def test_impossible_settings(bad):
    with pytest.raises(ParameterError, match="at least"):
        train(np.ones((10, 1)), **bad)
