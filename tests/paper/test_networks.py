import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spectralcit.paper.config import PaperConfig
from spectralcit.paper.networks import TanhMLP, Template, forward_float64, init_mlp, init_params


def network(seed=0, **changes):
    sizes = {"n_inputs": 3, "n_outputs": 2, "n_hidden": 2, "layer_size": 16} | changes
    return init_mlp(np.random.default_rng(seed), **sizes)


def test_layers_have_the_sizes_asked_for():
    assert [w.shape for w in network().weights] == [(3, 16), (16, 16), (16, 2)]
    assert [w.shape for w in network(n_hidden=0).weights] == [(3, 2)]


def test_xavier_weights_fill_their_interval_and_biases_are_zero():
    net = network(n_inputs=200, layer_size=300, n_outputs=100)
    for weight in net.weights:
        bound = np.sqrt(6 / sum(weight.shape))
        assert 0.99 * bound < np.abs(weight).max() <= bound
        assert weight.var() == pytest.approx(2 / sum(weight.shape), rel=0.05)
    assert all((bias == 0).all() for bias in net.biases)


def test_kaiming_is_for_hidden_layers_only():
    net = network(n_inputs=200, layer_size=300, n_outputs=100, weight_init="kaiming")
    assert np.abs(net.weights[0]).max() == pytest.approx(np.sqrt(6 / 200), rel=0.01)
    assert np.abs(net.weights[-1]).max() == pytest.approx(np.sqrt(6 / 400), rel=0.01)


def test_the_network_is_affine_maps_with_tanh_between_them():
    net = network()
    rows = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    hidden = np.tanh(np.tanh(rows @ net.weights[0]) @ net.weights[1])
    np.testing.assert_allclose(net(rows), hidden @ net.weights[2], atol=1e-5)


@pytest.mark.parametrize("output_tanh", [False, True])
def test_float64_evaluation_agrees_with_the_trained_network(output_tanh):
    net = network(output_tanh=output_tanh)
    rows = 2 * np.random.default_rng(1).normal(size=(20, 3))
    exact = forward_float64(net.weights, net.biases, net.output_tanh, rows)
    assert exact.dtype == np.float64
    np.testing.assert_allclose(net(rows.astype(np.float32)), exact, atol=1e-5)
    assert (np.abs(exact) <= 1).all() or not output_tanh


def test_gradients_are_those_of_the_plain_formula():
    # The network has a hand-written derivative for speed.
    net = network()
    rows = np.random.default_rng(2).normal(size=(7, 3)).astype(np.float32)

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


def test_parameters_have_the_papers_shapes_and_n_is_symmetric():
    config = PaperConfig(output_dim=4)
    outer, inner = init_params(np.random.default_rng(0), 2, 3, 5, config)
    assert outer.u.weights[0].shape == (2, 128)
    assert outer.v.weights[0].shape == (8, 128)
    assert inner.w.weights[-1].shape == (128, 8)
    assert outer.m.shape == (4, 4)
    assert inner.n.shape == (8, 8)
    np.testing.assert_array_equal(inner.n, inner.n.T)


def test_without_z_there_is_no_inner_model():
    outer, inner = init_params(np.random.default_rng(0), 2, 3, 0, PaperConfig())
    assert inner is None
    assert outer.v.weights[0].shape == (3, 128)


def test_drawing_depends_on_the_generator_only():
    first, second = (network(seed=7).weights for _ in range(2))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    assert (network(seed=8).weights[0] != first[0]).any()


def test_flat_vector_and_tree_are_inverse_to_each_other():
    net = network()
    template = Template.of(net)
    flat = template.flatten(net)
    assert flat.shape == (3 * 16 + 16 + 16 * 16 + 16 + 16 * 2 + 2,)
    back = template.unflatten(flat)
    assert isinstance(back, TanhMLP)
    for a, b in zip(jax.tree.leaves(back), jax.tree.leaves(net), strict=True):
        np.testing.assert_array_equal(a, b)
    assert hash(template) == hash(Template.of(network(seed=3)))
