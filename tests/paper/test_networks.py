import jax
import numpy as np

from spectralcit.learning.mlp import MLP, init_mlp
from spectralcit.paper.config import PaperConfig
from spectralcit.paper.networks import Template, init_params


def test_parameters_have_the_papers_shapes():
    config = PaperConfig(output_dim=4)
    outer, inner = init_params(np.random.default_rng(0), 2, 3, 5, config)
    assert outer.u.weights[0].shape == (2, 128)
    assert outer.v.weights[0].shape == (8, 128)
    assert inner.w.weights[-1].shape == (128, 8)
    assert outer.m.shape == (4, 4)
    assert inner.n_raw.shape == (8, 8)


def test_without_z_there_is_no_inner_model():
    outer, inner = init_params(np.random.default_rng(0), 2, 3, 0, PaperConfig())
    assert inner is None
    assert outer.v.weights[0].shape == (3, 128)


def test_flat_vector_and_tree_are_inverse_to_each_other():
    net = init_mlp(np.random.default_rng(0), [3, 16, 16, 2], hidden="tanh")
    template = Template.of(net)
    flat = template.flatten(net)
    assert flat.shape == (3 * 16 + 16 + 16 * 16 + 16 + 16 * 2 + 2,)
    back = template.unflatten(flat)
    assert isinstance(back, MLP)
    for a, b in zip(jax.tree.leaves(back), jax.tree.leaves(net), strict=True):
        np.testing.assert_array_equal(a, b)
    assert hash(template) == hash(
        Template.of(init_mlp(np.random.default_rng(3), [3, 16, 16, 2], hidden="tanh"))
    )
