"""Block statistics against naive sums; their null distribution when smoothing uses up degrees of freedom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from spectralcit import SpectralCIT
from spectralcit.inputs import prepare
from spectralcit.null.bootstrap import Multipliers
from spectralcit.spectral import blocks as blocks_module
from spectralcit.spectral import largest_pair as largest_pair_module
from spectralcit.spectral.block_null import evaluate_block
from spectralcit.spectral.blocks import (
    BLOCK_WEIGHTS,
    FeatureBlock,
    feature_blocks,
    independent_columns,
)
from spectralcit.spectral.largest_pair import largest_pairs
from spectralcit.spectral.sides import dictionary_sides


def sides_of(x, y, z, seed=0):
    return dictionary_sides(prepare(x, y, z), "kernel_ridge", np.random.default_rng(seed), seed)


def linear_block(sides):
    allowance = sides.x.allowance * sides.y.allowance
    return FeatureBlock("linear × linear", sides.x.linear, sides.y.linear, sides.x.fit, allowance)


def test_statistic_equals_a_naive_sum():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((60, 3))
    sides = sides_of(rng.standard_normal((60, 2)), rng.standard_normal(60), z)
    multipliers = Multipliers(60, 100, rng)
    for block in feature_blocks(sides.x, sides.y, sides.weights):
        z_functions = np.ones((60, 1)) if block.z_functions is None else block.z_functions
        total = sum(
            np.multiply.outer(np.multiply.outer(block.left[i], block.right[i]), z_functions[i])
            for i in range(60)
        )
        statistic, _ = evaluate_block(block, multipliers)
        if not block.largest:
            assert statistic == pytest.approx(np.square(total).sum() / 60)


def test_block_names_and_weights_agree():
    rng = np.random.default_rng(1)
    sides = sides_of(rng.standard_normal(60), rng.standard_normal(60), rng.standard_normal((60, 1)))
    assert {b.name for b in feature_blocks(sides.x, sides.y, sides.weights)} == set(BLOCK_WEIGHTS)
    assert sum(BLOCK_WEIGHTS.values()) == pytest.approx(1.0)


def test_a_binary_side_has_no_nonlinear_blocks():
    rng = np.random.default_rng(2)
    sides = sides_of(rng.standard_normal(60), rng.integers(0, 2, 60), rng.standard_normal((60, 1)))
    names = [b.name for b in feature_blocks(sides.x, sides.y, sides.weights)]
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
        block = linear_block(sides)
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
    block = linear_block(sides)
    statistic, null = evaluate_block(block, Multipliers(500, 100, rng, max_groups=500))
    r = stats.pearsonr(sides.x.linear[:, 0], sides.y.linear[:, 0])[0]
    assert statistic == pytest.approx(500 * r**2, rel=1e-6)
    u, v = sides.x.linear[:, 0], sides.y.linear[:, 0]
    left = v - u * (u @ v) / (u @ u)
    assert null.mean == pytest.approx(np.mean((u * left) ** 2 / (1.0 - u**2 / (u @ u))), rel=1e-2)
    assert null.freedom == pytest.approx(500 / stats.kurtosis(u, fisher=False), rel=1e-6)


def test_a_strong_effect_does_not_inflate_its_own_null_distribution():
    """With correlation .6, squares of products are 1.7 times as large as without."""
    rng = np.random.default_rng(5)
    x, noise = rng.standard_normal((2, 2000))
    sides = dictionary_sides(prepare(x, 0.6 * x + 0.8 * noise), "kernel_ridge", rng, 0)
    _, null = evaluate_block(linear_block(sides), Multipliers(2000, 100, rng))
    assert null.mean == pytest.approx(1.0 - 0.36, rel=0.1)


def test_the_largest_product_with_a_function_of_z_is_found_among_many():
    rng = np.random.default_rng(8)
    z = rng.standard_normal((800, 20))
    x, y = rng.standard_normal((2, 800))
    tables = [
        SpectralCIT(random_state=0).test(x, y + effect, z).diagnostics["block_pvalues"]
        for effect in (0.0, 0.5 * x * z[:, 4], 0.5 * x * np.cos(2.5 * z[:, 4]))
    ]
    column, function = (f"largest linear × linear × {what} of Z" for what in ("column", "function"))
    assert min(tables[0][column], tables[0][function]) > 0.01
    assert tables[1][column] < 1e-4 < 1e-2 < tables[1][function]
    assert tables[2][function] < 1e-4 < 1e-2 < tables[2][column]


def test_many_rows_take_the_short_cut_to_the_same_answer(monkeypatch):
    rng = np.random.default_rng(5)
    x, y, z = rng.standard_normal(800), rng.standard_normal(800), rng.standard_normal((800, 2))
    sides = sides_of(x, y, z)
    block = replace(linear_block(sides), z_functions=sides.weights.linear)
    exact = evaluate_block(block, Multipliers(800, 200, np.random.default_rng(0)))
    monkeypatch.setattr(blocks_module, "_MANY_ROWS", 100)
    short = evaluate_block(block, Multipliers(800, 200, np.random.default_rng(0)))
    assert short[0] == pytest.approx(exact[0])
    assert short[1].mean == pytest.approx(exact[1].mean, rel=0.05)


def largest(sides, draws=300):
    multipliers = Multipliers(len(sides.x.linear), draws, np.random.default_rng(0))
    return largest_pairs(sides.x, sides.y, multipliers)


def test_largest_pair_finds_one_dependent_pair_among_many():
    rng = np.random.default_rng(6)
    z = rng.standard_normal((500, 3))
    x, y = rng.standard_normal((2, 500, 20))
    assert min(largest(sides_of(x, y, z)).pvalues.values()) > 0.01
    y[:, 3] += 0.4 * x[:, 7]
    found = largest(sides_of(x, y, z))
    assert found.pvalues["largest linear pair"] < 1e-8
    assert found.pvalues["largest curved pair"] > 1e-8
    assert (found.x, found.y) == ("x[7]: linear", "y[3]: linear")
    y[:, 3] += 0.6 * x[:, 7] ** 2 - 0.4 * x[:, 7]
    curved = largest(sides_of(x, y, z))
    assert (curved.x, curved.y) == ("x[7]: order 2", "y[3]: linear")
    assert largest(sides_of(x[:, 0], y[:, 0], z)) is None


def test_copies_of_a_column_are_allowed_as_much_as_it_is_alone():
    rng = np.random.default_rng(17)
    z = rng.standard_normal((300, 2))
    x = np.sin(3.0 * z[:, :1]) + rng.standard_normal((300, 1))
    y = rng.standard_normal((300, 1))
    alone = sides_of(x, y, z).x.allowance
    assert alone > 1.01
    near = x + 1e-6 * rng.standard_normal((300, 5))
    assert sides_of(near, y, z).x.allowance == pytest.approx(alone, abs=0.01)
    others = np.hstack([x, np.sin(3.0 * z[:, :1]) + rng.standard_normal((300, 4))])
    assert sides_of(others, y, z).x.allowance < 1.0 + 0.1 * (alone - 1.0)


def test_largest_pair_equals_a_loop_over_pairs():
    rng = np.random.default_rng(7)
    sides = sides_of(rng.standard_normal((80, 2)), rng.standard_normal((80, 3)), rng.standard_normal((80, 1)))
    fit = sides.x.fit
    found = []
    for u in sides.x.linear.T:
        for v in sides.y.linear.T:
            terms = u / fit.row_scale * fit.adjoint(v[:, None])[:, 0]
            # A fit that suits two or three columns followed the noise of each the less.
            allowance = fit.optimism ** (1 / 4) * sides.y.fit.optimism ** (1 / 9)
            found.append(2 * stats.norm.sf(abs(u @ v) / np.sqrt(np.square(terms).sum() * allowance)))
    plain = [replace(side, curved=side.curved[:, :0], curved_names=()) for side in (sides.x, sides.y)]
    pairs = largest(replace(sides, x=plain[0], y=plain[1]), draws=4000)
    # Six pairs that are nearly independent
    assert pairs.pvalues["largest linear pair"] == pytest.approx(1.0 - (1.0 - min(found)) ** 6, rel=0.1)


def test_copies_of_a_column_do_not_count_as_pairs_of_their_own(monkeypatch):
    """A part of the pairs is drawn; the others are thought to be as alike."""
    rng = np.random.default_rng(8)
    x, y = rng.standard_normal((300, 1)), rng.standard_normal((300, 8))
    sides = sides_of(x, y, rng.standard_normal((300, 1)))
    copied = replace(sides, x=replace(sides.x, linear=np.repeat(sides.x.linear, 5, axis=1)))
    once, five = (largest(s).pvalues["largest linear pair"] for s in (sides, copied))
    assert five == pytest.approx(once, rel=0.1)
    monkeypatch.setattr(largest_pair_module, "_DRAWN_PAIRS", 12)
    assert largest(copied).pvalues["largest linear pair"] >= 0.9 * once


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
    for block in feature_blocks(sides.x, sides.y, sides.weights):
        assert not (block.left is sides.x.direct and block.right is sides.y.direct)


def test_few_rows_do_not_reject_more_often_the_further_out_the_level():
    """A normal tail behind an estimated slope rejects 1e-3 three times as often in sixty rows."""
    rng = np.random.default_rng(6)
    fit = dictionary_sides(prepare(*rng.standard_normal((2, 60))), "kernel_ridge", rng, 0).x.fit
    multipliers, pvalues = Multipliers(60, 100, rng), []
    for _ in range(6000):
        x, y = (fit.remove(rng.standard_normal((60, 1))) for _ in range(2))
        statistic, null = evaluate_block(FeatureBlock("linear × linear", x, y, fit, 1.0), multipliers)
        pvalues.append(float(null.sf(statistic)))
    rates = [np.mean(np.array(pvalues) <= level) / level for level in (0.05, 0.01, 1e-3)]
    assert rates[:2] == pytest.approx([1.0, 1.0], abs=0.2)
    assert 0.3 < rates[2] < 2.0


@pytest.mark.parametrize("columns", [20, 200])
def test_level_of_one_column_against_many_in_few_rows(columns):
    """Were the variances of many columns as uncertain as that of one, 200 of them would reject every null."""
    rng = np.random.default_rng(7)
    fit = dictionary_sides(prepare(*rng.standard_normal((2, 60))), "kernel_ridge", rng, 0).x.fit
    multipliers, pvalues = Multipliers(60, 100, rng), []
    for _ in range(400):
        x, y = fit.remove(rng.standard_normal((60, 1))), fit.remove(rng.standard_normal((60, columns)))
        block = FeatureBlock("linear × linear", x, y, fit, 1.0, right_columns=independent_columns(y))
        statistic, null = evaluate_block(block, multipliers)
        pvalues.append(float(null.sf(statistic)))
    assert np.mean(np.array(pvalues) <= 0.05) < 0.09
    assert np.mean(np.array(pvalues) <= 0.01) < 0.03
    assert stats.kstest(pvalues, "uniform").statistic < 0.2


def test_independent_columns_by_hand():
    rng = np.random.default_rng(8)
    one = rng.standard_normal((300, 1))
    assert independent_columns(one) == pytest.approx(1.0)
    assert independent_columns(np.hstack([one, one, 3.0 * one])) == pytest.approx(1.0)
    assert independent_columns(np.linalg.qr(rng.standard_normal((300, 7)))[0]) == pytest.approx(7.0)
    assert independent_columns(np.zeros((10, 2))) == 0.0


@pytest.mark.parametrize("n", [60, 300])
def test_a_slope_that_one_row_decides_says_nothing(n):
    """One event on either side, in different rows, is what two rare things that are independent show."""
    x, y = np.zeros((2, n))
    x[3] = y[n - 5] = 1.0
    assert SpectralCIT(random_state=0).test(x, y).pvalue > 0.2
    rng = np.random.default_rng(9)
    pvalues = [SpectralCIT(random_state=k).test(x, rng.standard_normal(n)).pvalue for k in range(40)]
    assert np.mean(np.array(pvalues) <= 0.05) < 0.2
