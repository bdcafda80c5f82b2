"""Directions, products and ratios of Z are found where they matter and not in noise."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit.inputs import Block
from spectralcit.nuisance import KernelRidge
from spectralcit.nuisance.derived import derive, principal_frame


def found(z, target):
    z, columns = (z - z.mean(axis=0)) / z.std(axis=0), np.arange(z.shape[1])
    design = np.column_stack([np.ones(len(z)), z])
    left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return derive(z, None, columns, np.zeros(z.shape[1]), target[:, None], left[:, None])


def cosine(a, b):
    return abs(a @ b) / np.sqrt((a @ a) * (b @ b))


def test_noise_and_lines_have_no_derived_columns():
    count = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z, noise = rng.standard_normal((300, 10)), rng.standard_normal(300)
        count += found(z, noise) is not None
        count += found(z, z.sum(axis=1) + noise) is not None
    assert count <= 5


@pytest.mark.parametrize("shape", [np.sin, np.cos])
def test_the_direction_of_an_index_is_found(shape):
    rng = np.random.default_rng(1)
    z, direction = rng.standard_normal((1500, 20)), rng.standard_normal(20)
    direction /= np.linalg.norm(direction)
    derived = found(z, shape(2 * z @ direction) + 0.3 * rng.standard_normal(1500))
    assert max(cosine(column, direction) for column in derived.directions.T) > 0.9


def test_an_exclusive_or_is_found_with_its_thresholds():
    rng = np.random.default_rng(2)
    z = rng.standard_normal((1000, 6))
    derived = found(z, 1.0 * ((z[:, 1] > 0.4) ^ (z[:, 4] > -0.3)) + 0.4 * rng.standard_normal(1000))
    i, j, a, b = derived.products[0]
    assert (i, j) == (1, 4)
    assert (a, b) == (pytest.approx(0.4, abs=0.3), pytest.approx(-0.3, abs=0.3))


def test_a_ratio_is_found():
    rng = np.random.default_rng(3)
    z = rng.standard_normal((1000, 4))
    derived = found(z, np.tanh(z[:, 2] / z[:, 0]) + 0.3 * rng.standard_normal(1000))
    assert (2, 0) in derived.ratios


def test_the_frame_makes_mixed_columns_uncorrelated_and_leaves_many_independent_ones():
    rng = np.random.default_rng(4)
    many = rng.standard_normal((400, 10))
    assert principal_frame(many / many.std(axis=0), np.arange(10)) is None
    mixed = many[:, :4] @ rng.standard_normal((4, 4))
    for z in (many[:, :4], mixed):
        z = (z - z.mean(axis=0)) / z.std(axis=0)
        white = z @ principal_frame(z, np.arange(4))
        np.testing.assert_allclose(white.T @ white / 400, np.eye(4), atol=1e-8)


SHAPES = {
    "near copies": lambda z: (np.column_stack([z[:, 0], z[:, 0] + 0.01 * z[:, 1]]), np.cos(2 * z[:, 1])),
    "rough field": lambda z: (z[:, :1], np.sin(20 * z[:, 0])),
    "exclusive or": lambda z: (z, np.sign(z[:, 0] * z[:, 1])),
    "ratio": lambda z: (z, np.tanh(z[:, 0] / z[:, 1])),
    "threshold in forty columns": lambda z: (
        np.column_stack([z, np.random.default_rng(0).standard_normal((len(z), 36))]),
        2.0 * (z[:, 1] > 0.3),
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_left_is_close_to_the_noise(shape):
    rng = np.random.default_rng(5)
    z, signal = SHAPES[shape](rng.standard_normal((800, 4)))
    d = z.shape[1]
    noise = 0.4 * signal.std() * rng.standard_normal(800)
    block = Block(z, tuple(f"z{j}" for j in range(d)), ("continuous",) * d, tuple(range(d)))
    fit = KernelRidge(block, 800, rng).fit_location((signal + noise)[:, None])
    left = fit.remove((signal + noise)[:, None])[:, 0]
    # Many columns leave less; and a rough kernel spends more rows, so that less of a field is left.
    assert np.corrcoef(left, noise)[0, 1] > {"rough field": 0.8}.get(shape, 0.6 if d > 20 else 0.85)
    if shape == "rough field":
        remainder = fit.remove((signal - signal.mean())[:, None])[:, 0]
        assert remainder @ remainder / np.square(noise.std()) / np.sqrt(800) < 0.3


def test_a_ratio_of_which_nothing_is_cut_off_is_learned_with_few_degrees_of_freedom():
    # Cosines of its logarithm, and kernels, took a hundred of them.
    rng = np.random.default_rng(6)
    z = rng.standard_normal((2000, 2))
    z[:, 1] = 0.1 + np.abs(z[:, 1])
    signal, noise = z[:, 0] / z[:, 1], 0.4 * rng.standard_normal(2000)
    block = Block(z, ("a", "b"), ("continuous",) * 2, (0, 1))
    fit = KernelRidge(block, 2000, rng).fit_location((signal + noise)[:, None])
    remainder = fit.remove((signal - signal.mean())[:, None])[:, 0]
    assert fit.degrees_of_freedom < 80
    assert remainder @ remainder / np.square(noise.std()) / np.sqrt(2000) < 0.1
