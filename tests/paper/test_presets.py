"""The authors' program as a preset, against NumPy in double precision: SVD, eigenvalues, double sums."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from spectralcit import SpectralCIT
from spectralcit.errors import ParameterError
from spectralcit.paper.bilevel import TrainingProblem, train
from spectralcit.paper.config import PaperConfig
from spectralcit.paper.losses import inner_loss, outer_loss
from spectralcit.paper.matrices import inner_matrix, outer_matrix, spectral_norm
from spectralcit.paper.networks import init_params
from spectralcit.paper.presets import PRESETS, preset_parameters
from spectralcit.paper.schedule import INNER, Streams

norm = jax.jit(spectral_norm)


def centre(a):
    return a - a.mean(axis=0)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("size", [1, 2, 10, 20])
def test_the_spectral_norm_is_the_largest_singular_value(size, scale):
    matrix = scale * np.random.default_rng(size).normal(size=(size, size))
    assert norm(matrix.astype(np.float32)) == pytest.approx(np.linalg.svd(matrix)[1][0], rel=2e-6)


def test_singular_values_that_tie_or_vanish():
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.normal(size=(10, 10)))[0] for _ in range(2))
    for values in ([1.0] * 10, [1.0, 1.0] + [0.3] * 8, [1.0, 0.999] + [0.5] * 8, [1.0] + [0.0] * 9):
        matrix = (left * values) @ right
        assert norm(matrix.astype(np.float32)) == pytest.approx(1.0, rel=1e-5)
    assert norm(np.zeros((4, 4), np.float32)) == 0.0
    assert np.isfinite(outer_matrix(np.zeros((4, 4), np.float32), "unit-norm")).all()


def test_the_gradient_of_the_norm_is_that_of_numpys_singular_vectors():
    matrix = np.random.default_rng(1).normal(size=(10, 10))
    left, _, right = np.linalg.svd(matrix)
    gradient = jax.grad(spectral_norm)(matrix.astype(np.float32))
    np.testing.assert_allclose(gradient, np.outer(left[:, 0], right[0]), atol=1e-4)


def test_n_is_symmetric_of_norm_one_and_made_from_its_upper_triangle():
    raw = np.random.default_rng(2).normal(size=(6, 6)).astype(np.float32)
    found = np.asarray(inner_matrix(raw, "unit-norm"))
    full = np.triu(raw) + np.triu(raw, 1).T
    np.testing.assert_allclose(found, full / np.linalg.norm(full, 2), atol=1e-6)
    below = raw + np.tril(np.ones((6, 6), np.float32), -1)
    np.testing.assert_array_equal(found, inner_matrix(below, "unit-norm"))
    np.testing.assert_allclose(inner_matrix(raw, "free"), (raw + raw.T) / 2)


def literal_outer(u, v, w, m):
    """First term without, third with the pairs of a row with itself."""
    u, v, w, b = centre(u), centre(v), centre(w), len(u)
    table, alike = u @ m @ v.T, w @ w.T
    first = (np.sum(table**2) - np.sum(np.diag(table) ** 2)) / (b * (b - 1))
    return first - 2 * np.mean(np.diag(table)) + 2 * np.sum(table * alike) / (b * (b - 1))


def literal_inner(u, v, w, m, n):
    u, v, w, b = centre(u), centre(v), centre(w), len(u)
    table = w @ n @ w.T
    first = (np.sum(table**2) - np.sum(np.diag(table) ** 2)) / (b * (b - 1))
    return first - 2 * np.sum((u @ m @ v.T) * table) / (b * (b - 1))


def test_losses_with_the_diagonal():
    rng = np.random.default_rng(3)
    u, v, w = (rng.normal(size=(12, columns)) for columns in (2, 2, 4))
    m, n = rng.normal(size=(2, 2)), rng.normal(size=(4, 4))
    n += n.T
    assert outer_loss(u, v, w, m, "with-diagonal") == pytest.approx(literal_outer(u, v, w, m), rel=1e-5)
    assert inner_loss(u, v, w, m, n, "with-diagonal") == pytest.approx(literal_inner(u, v, w, m, n), rel=1e-5)
    assert outer_loss(u, v, w, m) != pytest.approx(literal_outer(u, v, w, m), rel=1e-3)


def eigenvalue_penalty(features):
    values = np.linalg.eigvalsh(np.cov(features.T, bias=True))
    return np.mean(-np.log(values) + values * (values - 1))


def network(mlp, rows):
    """A network with tanh everywhere, output included, in NumPy."""
    for weight, bias in zip(mlp.weights, mlp.biases, strict=True):
        rows = np.tanh(rows @ np.asarray(weight, np.float64) + np.asarray(bias, np.float64))
    return rows


def test_the_first_losses_of_training_are_the_programs_objective():
    layers = {f"n_hidden_{net}": 1 for net in "uvw"} | {f"layer_size_{net}": 16 for net in "uvw"}
    preset = preset_parameters("authors-program")
    del preset["statistic"]
    config = PaperConfig(
        **preset, **layers, output_dim=2, batch_size=64, n_epochs=1, n_warmup=0, lr_inner=1e-12
    )
    data = np.random.default_rng(5).normal(size=(128, 4))
    task = TrainingProblem(data[:, :1], data[:, 1:2], data[:, 2:], np.random.SeedSequence(7))
    model = train([task], config)[0]

    streams = Streams(task.seed, 128, 64, shared=True)
    outer, inner = init_params(streams.weights, 1, 1, 2, config)
    first, second = (data[rows] for rows in streams.indices(np.array([INNER, 2])))
    m = np.asarray(outer.m, np.float64) / np.linalg.norm(outer.m, 2)
    raw = np.asarray(inner.n_raw, np.float64)
    n = np.triu(raw) + np.triu(raw, 1).T
    n /= np.linalg.norm(n, 2)

    def features(rows):
        return network(outer.u, rows[:, :1]), network(outer.v, rows[:, 1:]), network(inner.w, rows[:, 2:])

    u, v, w = features(first)
    expected = literal_inner(u, v, w, m, n) + config.reg_str_inner * eigenvalue_penalty(w)
    assert model.inner_curve[0] == pytest.approx(expected, rel=1e-3)
    u, v, w = features(second)  # the inner model has hardly moved
    orthonormality = eigenvalue_penalty(u) + eigenvalue_penalty(v)
    expected = literal_outer(u, v, w, m) + config.reg_str_outer * orthonormality
    assert model.outer_curve[0] == pytest.approx(expected, rel=1e-3)


def test_levels_take_turns_on_one_walk_over_the_rows():
    config = PaperConfig(epoch="shared", n_epochs=2, n_warmup=1, batch_size=32)
    data = np.random.default_rng(0).normal(size=(96, 3))
    task = TrainingProblem(data[:, :1], data[:, 1:2], data[:, 2:], np.random.SeedSequence(0))
    model = train([task], config)[0]
    # Three batches an epoch: three of the warm-up, then turns over six.
    assert (len(model.inner_curve), len(model.outer_curve)) == (6, 3)
    walk = Streams(task.seed, 96, 32, shared=True).indices(np.array([1, 2, 1]))
    assert sorted(walk.ravel().tolist()) == list(range(96))


def test_presets_by_name():
    test = SpectralCIT.paper(preset="authors-program", output_dim=4, regularizer="frobenius")
    assert (test.matrices, test.statistic, test.epoch) == ("unit-norm", "projector", "shared")
    assert (test.output_dim, test.regularizer) == (4, "frobenius")
    assert SpectralCIT.paper().get_params() == SpectralCIT.paper(preset="paper").get_params()
    with pytest.raises(ParameterError, match=r"Did you mean 'authors-program'"):
        SpectralCIT.paper(preset="authors-programme")
    preset_parameters("authors-program").clear()
    assert PRESETS["authors-program"]  # a copy was handed out
