"""The networks: the same numbers in NumPy and in JAX, and layers that are what they say."""

import jax
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


def network(seed=0, sizes=(3, 16, 16, 2), **changes):
    """A network as the published test has them."""
    options = {"hidden": "tanh", "init": "xavier", "last_init": "xavier", "fast_gradient": True} | changes
    return init_mlp(np.random.default_rng(seed), sizes, **options)


def test_layers_have_the_sizes_asked_for():
    assert [w.shape for w in network().weights] == [(3, 16), (16, 16), (16, 2)]
    assert [w.shape for w in network(sizes=(3, 2)).weights] == [(3, 2)]


def test_xavier_weights_fill_their_interval_and_biases_are_zero():
    net = network(sizes=(200, 300, 300, 100))
    for weight in net.weights:
        bound = np.sqrt(6 / sum(weight.shape))
        assert 0.99 * bound < np.abs(weight).max() <= bound
        assert weight.var() == pytest.approx(2 / sum(weight.shape), rel=0.05)
    assert all((bias == 0).all() for bias in net.biases)


def test_kaiming_is_for_hidden_layers_only():
    net = network(sizes=(200, 300, 300, 100), init="kaiming")
    assert np.abs(net.weights[0]).max() == pytest.approx(np.sqrt(6 / 200), rel=0.01)
    assert np.abs(net.weights[-1]).max() == pytest.approx(np.sqrt(6 / 400), rel=0.01)


def test_the_network_is_affine_maps_with_tanh_between_them():
    net = network()
    rows = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    hidden = np.tanh(np.tanh(rows @ net.weights[0]) @ net.weights[1])
    np.testing.assert_allclose(net(jnp.asarray(rows)), hidden @ net.weights[2], atol=1e-5)


@pytest.mark.parametrize("output", ["identity", "tanh"])
def test_float64_evaluation_agrees_with_the_trained_network(output):
    net = network(output=output)
    rows = 2 * np.random.default_rng(1).normal(size=(20, 3))
    exact = net.in_float64()(rows)
    assert exact.dtype == np.float64
    np.testing.assert_allclose(net(jnp.asarray(rows, jnp.float32)), exact, atol=1e-5)
    assert (np.abs(exact) <= 1).all() or output == "identity"


def test_gradients_are_those_of_the_plain_formula():
    # The network has a hand-written derivative for speed.
    net = network()
    rows = jnp.asarray(np.random.default_rng(2).normal(size=(7, 3)), jnp.float32)

    def plain(net, rows):
        hidden = rows
        for k, (weight, bias) in enumerate(zip(net.weights, net.biases, strict=True)):
            hidden = hidden @ weight + bias
            hidden = jnp.tanh(hidden) if k < 2 else hidden
        return jnp.sum(jnp.sin(hidden))

    ours = jax.grad(lambda net, rows: jnp.sum(jnp.sin(net(rows))), argnums=(0, 1))(net, rows)
    expected = jax.grad(plain, argnums=(0, 1))(net, rows)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_drawing_depends_on_the_generator_only():
    first, second = (network(seed=7).weights for _ in range(2))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    assert (network(seed=8).weights[0] != first[0]).any()
