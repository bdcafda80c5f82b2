"""What is found in a wide Z, and what the default test makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit import SpectralCIT, datasets
from spectralcit.inputs import Block
from spectralcit.nuisance.screening import follows_more, is_wide, principal_components, relevant_part


def block(values, prefix="z"):
    d = values.shape[1]
    return Block(values, tuple(f"{prefix}{j}" for j in range(d)), ("continuous",) * d, tuple(range(d)))


def wide(n=150, d=200, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng


@pytest.mark.parametrize(
    "function",
    [lambda v: v, np.square, lambda v: np.sin(2 * v), np.abs],
    ids=["line", "square", "sine", "kink"],
)
def test_the_column_that_matters_is_found(function):
    values, rng = wide()
    target = 2.0 * function(values[:, [17]]) + rng.standard_normal((150, 1))
    found = relevant_part(block(values), [block(target, "x")])
    assert "z17" in found.names
    assert found.n_columns <= 4
    np.testing.assert_array_equal(found.values[:, found.names.index("z17")], values[:, 17])


def test_columns_of_either_side_are_kept_and_noise_selects_few():
    values, rng = wide(seed=1)
    x = values[:, [3]] + 0.5 * rng.standard_normal((150, 1))
    y = values[:, [8]] + 0.5 * rng.standard_normal((150, 1))
    assert {"z3", "z8"} <= set(relevant_part(block(values), [block(x, "x"), block(y, "y")]).names)
    counts = []
    for seed in range(12):
        values, rng = wide(seed=seed)
        found = relevant_part(block(values), [block(rng.standard_normal((150, 1)), "x")])
        counts.append(0 if found is None else found.n_columns)
    assert np.mean(counts) < 3  # about one expected, as often as nothing stops it


def test_correlated_columns_act_through_a_principal_component():
    rng = np.random.default_rng(2)
    factor = rng.standard_normal((150, 1))
    values = factor @ rng.uniform(0.5, 1.0, size=(1, 200)) + rng.standard_normal((150, 200))
    found = relevant_part(block(values), [block(factor + 0.3 * rng.standard_normal((150, 1)), "x")])
    assert "component 1" in found.names
    component = principal_components(block(values), 1)[:, 0]
    assert abs(np.corrcoef(component, factor[:, 0])[0, 1]) > 0.97


def test_a_constant_column_is_never_chosen():
    values, rng = wide(seed=3)
    values[:, 5] = 1.0
    target = values[:, [6]] + 0.1 * rng.standard_normal((150, 1))
    assert "z5" not in relevant_part(block(values), [block(target, "x")]).names


def test_a_ridge_tells_what_is_spread_over_many_columns():
    values, rng = wide(300, 200, seed=4)
    spread = block(values.sum(axis=1, keepdims=True) / 10 + rng.standard_normal((300, 1)), "x")
    sparse = block(values[:, [0]] + rng.standard_normal((300, 1)), "x")
    z = block(values)
    assert follows_more(z, relevant_part(z, [spread]), spread)
    assert not follows_more(z, relevant_part(z, [sparse]), sparse)


@pytest.mark.parametrize("n, wanted", [(300, True), (301, False)])
def test_half_the_rows_is_wide(n, wanted):
    assert is_wide(block(np.zeros((n, 150))), n) is wanted
    assert not is_wide(None, n)


@pytest.mark.parametrize(
    "case, n, words",
    [
        ("three_of_300", 200, "only what X or Y visibly follows"),
        ("all_of_300", 420, "all were removed by least squares"),
        ("all_of_300", 250, "principal components were removed"),
    ],
)
def test_confounding_by_a_wide_z_is_not_taken_for_dependence(case, n, words):
    rejected = 0
    for seed in range(10):
        x, y, z = datasets.HARD_CASES[case](n, np.random.default_rng(seed), dependent=False)
        result = SpectralCIT(random_state=seed).test(x, y, z)
        rejected += result.reject()
        assert seed or any(words in warning for warning in result.warnings)
    assert rejected <= 2  # a ridge on all columns rejected ten of ten


def test_an_effect_is_seen_through_a_wide_z():
    x, y, z = datasets.HARD_CASES["three_of_300"](200, np.random.default_rng(1), dependent=True)
    assert SpectralCIT(random_state=0).test(x, y, z).reject()
