"""Sums over many products of linear features: what two removals of Z and its leftovers do to their mean."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit import SpectralCIT
from spectralcit.inputs import prepare
from spectralcit.null.bootstrap import Multipliers
from spectralcit.spectral.block_null import evaluate_block
from spectralcit.spectral.blocks import feature_blocks
from spectralcit.spectral.sides import dictionary_sides
from spectralcit.spectral.wide_linear import (
    _adjoint,
    _leftover_functions,
    _probes,
    _row_variances,
    _twice_removed,
    wide_linear_rows,
)


def drawn(seed, n, columns, function, d_z=5):
    """Return X, Y and Z: a function of a random direction of Z in every column of X and of Y, and noise."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, d_z))
    x, y = (
        function(z @ rng.standard_normal((d_z, columns)) / np.sqrt(d_z)) + rng.standard_normal((n, columns))
        for _ in range(2)
    )
    return x, y, z


def sides_of(x, y, z):
    return dictionary_sides(prepare(x, y, z), "kernel_ridge", np.random.default_rng(0), 0)


def surprise(sides):
    """Return the linear block in standard deviations from its mean, both under random signs."""
    block = feature_blocks(sides.x, sides.y, sides.weights)[0]
    multipliers = Multipliers(len(sides.x.linear), 100, np.random.default_rng(0))
    statistic, null = evaluate_block(block, multipliers)
    return (statistic - null.mean) / np.sqrt(null.variance)


def test_many_products_whose_z_was_shrunk_twice_are_calibrated():
    """With the fit of features alone in the null distribution, the mean of these is 1.3."""
    found = [surprise(sides_of(*drawn([31, k], 300, 150, np.cos))) for k in range(8)]
    assert abs(np.mean(found)) < 0.9
    assert max(found) < 2.8


def test_the_adjoint_is_that_of_the_two_removals():
    sides = sides_of(*drawn(32, 120, 6, np.cos))
    e, v = np.random.default_rng(1).standard_normal((2, 120, 3))
    assert sides.x.fit.degrees_of_freedom > 10  # otherwise nothing is shrunk
    assert _twice_removed(sides.x, e).T @ v == pytest.approx(e.T @ _adjoint(sides.x, v))


def test_row_variances_are_exact_for_few_rows_and_near_for_many():
    sides = sides_of(*drawn(33, 400, 6, np.cos))
    exact = np.square(_twice_removed(sides.x, np.eye(400))).sum(axis=1)
    probes = _probes(400)
    estimated = _row_variances(_twice_removed(sides.x, probes), probes)
    assert probes.shape[1] < 400
    assert estimated.mean() == pytest.approx(exact.mean(), rel=3e-3)
    assert np.abs(estimated - exact).mean() < 0.1
    few = _probes(60)
    assert few @ few.T / few.shape[1] == pytest.approx(np.eye(60))


def test_functions_that_all_columns_share_a_little_are_taken_out():
    sides = sides_of(*drawn(34, 400, 100, np.tanh))
    functions = _leftover_functions(sides.y, sides.weights.linear, _probes(400))
    assert 5 <= functions.shape[1] <= 40
    assert functions.T @ functions == pytest.approx(np.eye(functions.shape[1]), abs=1e-6)
    rows = wide_linear_rows(sides.x, sides.y, sides.weights.linear)
    assert np.abs(functions.T @ rows.left).max() < 1e-6


def test_few_products_and_rows_that_belong_together_are_left_alone():
    few = sides_of(*drawn(35, 100, 4, np.tanh))
    assert wide_linear_rows(few.x, few.y, few.weights.linear) is None
    x, y, z = drawn(36, 100, 6, np.tanh)
    data = prepare(x, y, z, groups=np.arange(100) // 2)
    sides = dictionary_sides(data, "kernel_ridge", np.random.default_rng(0), 0)
    assert wide_linear_rows(sides.x, sides.y, sides.weights.linear) is None


def test_a_z_without_any_function_left_takes_out_nothing():
    rng = np.random.default_rng(37)
    x, y, z = rng.standard_normal((150, 8)), rng.standard_normal((150, 8)), rng.integers(0, 2, 150)
    sides = sides_of(x, y, z)
    assert _leftover_functions(sides.y, sides.weights.linear, _probes(150)).shape == (150, 0)


def test_wide_vectors_that_depend_linearly_are_found():
    x, y, z = drawn(38, 300, 100, np.tanh)
    assert SpectralCIT(random_state=0).test(x, y + 0.25 * x, z).pvalue < 1e-6
