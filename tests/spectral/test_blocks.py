"""Block statistics against naive sums; their null distribution when smoothing uses up degrees of freedom."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from spectralcit import SpectralCIT
from spectralcit.inputs import prepare
from spectralcit.null.bootstrap import Multipliers
from spectralcit.spectral import blocks as blocks_module
from spectralcit.spectral.blocks import BLOCK_WEIGHTS, FeatureBlock, evaluate_block, feature_blocks
from spectralcit.spectral.largest_pair import largest_pair_pvalue
from spectralcit.spectral.sides import dictionary_sides


def sides_of(x, y, z, seed=0):
    return dictionary_sides(prepare(x, y, z), "kernel_ridge", np.random.default_rng(seed), seed)


def test_statistic_equals_a_naive_sum():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((60, 3))
    sides = sides_of(rng.standard_normal((60, 2)), rng.standard_normal(60), z)
    multipliers = Multipliers(60, 100, rng)
    for block in feature_blocks(sides.x, sides.y, sides.weights, rng):
        z_functions = np.ones((60, 1)) if block.z_functions is None else block.z_functions
        total = sum(
            np.multiply.outer(np.multiply.outer(block.left[i], block.right[i]), z_functions[i])
            for i in range(60)
        )
        statistic, _ = evaluate_block(block, multipliers)
        assert statistic == pytest.approx(np.square(total).sum() / 60)


def test_block_names_and_weights_agree():
    rng = np.random.default_rng(1)
    sides = sides_of(rng.standard_normal(60), rng.standard_normal(60), rng.standard_normal((60, 1)))
    assert [b.name for b in feature_blocks(sides.x, sides.y, sides.weights, rng)] == list(BLOCK_WEIGHTS)
    assert sum(BLOCK_WEIGHTS.values()) == pytest.approx(1.0)


def test_a_binary_side_has_no_nonlinear_blocks():
    rng = np.random.default_rng(2)
    sides = sides_of(rng.standard_normal(60), rng.integers(0, 2, 60), rng.standard_normal((60, 1)))
    names = [b.name for b in feature_blocks(sides.x, sides.y, sides.weights, rng)]
    assert "linear × nonlinear" not in names
    assert "all × direct" not in names
    assert {"nonlinear × linear", "direct × all"} <= set(names)


def test_linear_block_is_calibrated_when_z_takes_a_third_of_the_degrees_of_freedom():
    """Without the adjoint correction about 0.11 of these p-values fall below 0.05."""
    rng = np.random.default_rng(3)
    pvalues = []
    for _ in range(300):
        x, y, z = rng.standard_normal(120), rng.standard_normal(120), rng.standard_normal((120, 40))
        sides = sides_of(x, y, z)
        multipliers = Multipliers(120, 100, rng)
        block = FeatureBlock("linear × linear", sides.x.linear, sides.y.linear, sides.x.fit, sides.y.fit)
        statistic, null = evaluate_block(block, multipliers)
        pvalues.append(float(null.sf(statistic)))
    assert np.mean(np.array(pvalues) <= 0.05) < 0.085
    assert stats.kstest(pvalues, "uniform").pvalue > 1e-3


def test_correction_vanishes_without_z():
    """With nothing but a mean to remove, statistic and null are those of a plain correlation."""
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((2, 500))
    sides = dictionary_sides(prepare(x, y), "kernel_ridge", rng, 0)
    assert sides.x.fit.degrees_of_freedom == 1.0
    block = FeatureBlock("linear × linear", sides.x.linear, sides.y.linear, sides.x.fit, sides.y.fit)
    statistic, null = evaluate_block(block, Multipliers(500, 100, rng, max_groups=500))
    r = stats.pearsonr(sides.x.linear[:, 0], sides.y.linear[:, 0])[0]
    assert statistic == pytest.approx(500 * r**2, rel=1e-6)
    assert null.mean == pytest.approx(np.mean((sides.x.linear * sides.y.linear) ** 2), rel=0.01)


def test_many_rows_take_the_short_cut_to_the_same_answer(monkeypatch):
    rng = np.random.default_rng(5)
    x, y, z = rng.standard_normal(800), rng.standard_normal(800), rng.standard_normal((800, 2))
    sides = sides_of(x, y, z)
    block = FeatureBlock(
        "linear × linear × Z", sides.x.linear, sides.y.linear, sides.x.fit, sides.y.fit, sides.weights.linear
    )
    exact = evaluate_block(block, Multipliers(800, 200, np.random.default_rng(0)))
    monkeypatch.setattr(blocks_module, "_MANY_ROWS", 100)
    short = evaluate_block(block, Multipliers(800, 200, np.random.default_rng(0)))
    assert short[0] == pytest.approx(exact[0])
    assert short[1].mean == pytest.approx(exact[1].mean, rel=0.05)


def test_largest_pair_finds_one_dependent_pair_among_many():
    rng = np.random.default_rng(6)
    z = rng.standard_normal((500, 3))
    x, y = rng.standard_normal((2, 500, 20))
    assert largest_pair_pvalue(*_pair(sides_of(x, y, z))) > 0.01
    y[:, 3] += 0.4 * x[:, 7]
    assert largest_pair_pvalue(*_pair(sides_of(x, y, z))) < 1e-8
    assert largest_pair_pvalue(*_pair(sides_of(x[:, 0], y[:, 0], z))) is None


def test_largest_pair_equals_a_loop_over_pairs():
    rng = np.random.default_rng(7)
    sides = sides_of(rng.standard_normal((80, 2)), rng.standard_normal((80, 3)), rng.standard_normal((80, 1)))
    fit = sides.x.fit
    found = []
    for u in sides.x.linear.T:
        for v in sides.y.linear.T:
            terms = u / fit.row_scale * fit.adjoint(v[:, None])[:, 0]
            scale = np.sqrt(np.square(terms).sum() * fit.optimism * sides.y.fit.optimism)
            found.append(2 * stats.norm.sf(abs(u @ v) / scale))
    assert largest_pair_pvalue(sides.x, sides.y) == pytest.approx(min(1.0, 6 * min(found)))


def _pair(sides):
    return sides.x, sides.y


def test_direct_features_see_a_mediator_that_residuals_hide():
    """Given its child, X is one of two values of opposite sign: its residual says little, its value all."""
    hidden, seen = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal(600)
        z = np.abs(x) + 0.3 * rng.standard_normal(600)
        y = np.cos(2.0 * x) + np.tanh(z) + 0.3 * rng.standard_normal(600)
        table = SpectralCIT(random_state=0).test(x, y, z).diagnostics["block_pvalues"]
        hidden.append(table["linear × linear"])
        seen.append(table["direct × all"])
    assert np.median(hidden) > 0.05
    assert max(seen) < 1e-3


def test_direct_features_meet_residuals_only():
    """Of strong confounding more stays in functions of X than in functions of its residual."""
    rng = np.random.default_rng(6)
    sides = sides_of(rng.standard_normal(80), rng.standard_normal(80), rng.standard_normal((80, 2)))
    for block in feature_blocks(sides.x, sides.y, sides.weights, rng):
        assert not (block.left is sides.x.direct and block.right is sides.y.direct)
