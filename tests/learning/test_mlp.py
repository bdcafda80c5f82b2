"""The networks: the same numbers in NumPy and in JAX, and layers that are what they say."""

import jax.numpy as jnp
import numpy as np
import pytest

from spectralcit.learning.mlp import init_mlp


@pytest.mark.parametrize("hidden", ["relu", "leaky_relu", "tanh", "silu"])
@pytest.mark.parametrize("output", ["identity", "sigmoid"])
def test_numpy_and_jax_agree(hidden, output):
    rng = np.random.default_rng(0)
    net = init_mlp(rng, [4, 7, 5, 2], hidden=hidden, output=output)
    rows = rng.normal(size=(9, 4)).astype(np.float32)
    np.testing.assert_allclose(net(rows), np.asarray(net(jnp.asarray(rows))), atol=1e-5)


def test_against_formulas():
    rng = np.random.default_rng(1)
    net = init_mlp(rng, [3, 6, 1], hidden="silu", output="sigmoid")
    rows = rng.normal(size=(8, 3)).astype(np.float32)
    first = rows @ net.weights[0] + 0.0
    second = (first / (1 + np.exp(-first))) @ net.weights[1]
    np.testing.assert_allclose(net(rows), 1 / (1 + np.exp(-second)), atol=1e-5)


def test_weights_have_the_stated_variance():
    net = init_mlp(np.random.default_rng(2), [200, 300, 1])
    assert np.var(net.weights[0]) == pytest.approx(2 / 200, rel=0.02)
    assert not any(bias.any() for bias in net.biases)
