"""Residual features: what they remove, what they keep, and what they must not depend on."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit.inputs import prepare
from spectralcit.nuisance import KernelRidge
from spectralcit.spectral import zweights
from spectralcit.spectral.dictionary import dictionary, location_scale
from spectralcit.spectral.ridge_pairs import leading
from spectralcit.spectral.zweights import z_weights


def side(x, z, seed=0):
    rng = np.random.default_rng(seed)
    filler = rng.standard_normal(len(z))
    data = prepare(x, filler, z)
    nuisance = KernelRidge(data.z, data.n, rng)
    residuals = location_scale(data.x, nuisance)
    return residuals, dictionary(data.x, residuals, nuisance)


def draws(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)), rng.standard_normal(n), rng


def test_conditional_scale_is_removed():
    z, noise, _ = draws()
    spread = np.exp(0.7 * z[:, 0])
    residuals, _ = side(z[:, 1] + spread * noise, z)
    assert residuals.rescaled.all()
    assert np.corrcoef(np.abs(spread * noise), z[:, 0])[0, 1] > 0.4
    assert abs(np.corrcoef(np.abs(residuals.values[:, 0]), z[:, 0])[0, 1]) < 0.2


def test_constant_scale_is_left_alone():
    z, noise, _ = draws()
    residuals, _ = side(z[:, 1] + noise, z)
    assert not residuals.rescaled.any()


def test_normal_scores_undo_a_monotone_distortion():
    z, noise, _ = draws()
    residuals, features = side((z[:, 0] + 0.5 * noise) ** 3, z)
    assert residuals.normal_scored.all()
    assert abs(np.corrcoef(features.linear[:, 0], noise)[0, 1]) > 0.9


def test_raw_values_stay_where_the_model_is_linear():
    rng = np.random.default_rng(1)
    z = rng.standard_t(3, (1000, 8))
    residuals, _ = side(z.sum(axis=1) + 0.3 * rng.standard_normal(1000), z)
    assert not residuals.normal_scored.any()


def test_cauchy_noise_gives_bounded_features():
    rng = np.random.default_rng(2)
    z = rng.standard_normal((600, 2))
    _, features = side(z[:, 0] + rng.standard_cauchy(600), z)
    assert np.abs(features.linear).max() < 8.0


@pytest.mark.parametrize("levels", [2, 3, 6])
def test_a_discrete_column_has_one_function_less_than_levels(levels):
    rng = np.random.default_rng(3)
    z = rng.standard_normal((600, 1))
    _, features = side(rng.integers(0, levels, 600), z)
    assert features.linear.shape[1] + features.nonlinear.shape[1] == min(levels, 6) - 1


def test_features_carry_nothing_linear_of_z():
    z, noise, _ = draws()
    _, features = side(np.sin(z[:, 0]) + noise, z)
    assert np.abs(z.T @ features.together / len(z)).max() < 1e-10


def test_of_many_columns_the_leading_components_are_used():
    rng = np.random.default_rng(4)
    _, features = side(rng.standard_normal((300, 40)), rng.standard_normal((300, 2)))
    assert features.linear.shape[1] == 40
    assert features.nonlinear.shape[1] == 60
    assert len(features.names) == 100
    assert features.curved.shape[1] == len(features.curved_names) == 160


def test_leading_columns_keep_the_largest_share_of_inner_products():
    rng = np.random.default_rng(5)
    columns = rng.standard_normal((80, 30)) * np.linspace(3.0, 0.1, 30)
    kept, names = leading(columns, 10)
    assert len(names) == 10
    values = np.linalg.eigvalsh(columns.T @ columns)[::-1]
    np.testing.assert_allclose(np.square(kept).sum(axis=0), values[:10])
    assert leading(columns, 30)[0] is columns


def test_high_orders_are_kept_for_a_single_continuous_column_only():
    rng = np.random.default_rng(6)
    z = rng.standard_normal((200, 1))
    assert side(rng.standard_normal(200), z)[1].fine.shape[1] == 22
    assert side(rng.integers(0, 4, 200), z)[1].fine.shape[1] == 0
    assert side(rng.standard_normal((200, 2)), z)[1].fine.shape[1] == 0


@pytest.mark.parametrize("d_z", [1, 6, 15, 30])
def test_functions_of_z_are_the_same_where_a_long_table_has_them_made_one_by_one(monkeypatch, d_z):
    z = np.random.default_rng(3).standard_normal((400, d_z))
    block = prepare(*np.random.default_rng(4).standard_normal((2, 400)), z).z
    stored = z_weights(block, np.random.default_rng(0)).functions
    monkeypatch.setattr(zweights, "_DOUBLE_CELLS", 0)
    np.testing.assert_allclose(z_weights(block, np.random.default_rng(0)).functions, stored, atol=1e-5)


def test_z_weights_have_the_same_total_size_for_few_and_many_columns():
    rng = np.random.default_rng(6)
    for d in (1, 5, 80):
        data = prepare(rng.standard_normal(400), rng.standard_normal(400), rng.standard_normal((400, d)))
        weights = z_weights(data.z, rng)
        assert np.square(weights.linear).sum(axis=1).mean() == pytest.approx(1.0, abs=0.05)
        assert weights.all.shape[1] == min(d, 20) + 10
        assert weights.columns.shape[1] == d
        assert weights.functions.shape[1] == {1: 5, 5: 25 + 10, 80: 0}[d]


def test_no_linear_map_of_z_changes_the_weights_in_sums():
    rng = np.random.default_rng(11)
    x, y, z = rng.standard_normal(200), rng.standard_normal(200), rng.standard_normal((200, 3))
    mixed = z @ rng.standard_normal((3, 3))
    one, other = (z_weights(prepare(x, y, v).z, np.random.default_rng(0)) for v in (z, mixed))
    for name in ("linear", "all", "columns"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-6)


@pytest.mark.parametrize(
    "n, columns, direct", [(500, 10, True), (500, 11, False), (40, 1, True), (40, 2, False)]
)
def test_own_values_are_shown_only_of_as_many_columns_as_their_means_can_be_learned(n, columns, direct):
    rng = np.random.default_rng(9)
    z = rng.standard_normal((n, 2))
    _, features = side(z @ rng.standard_normal((2, columns)) + rng.standard_normal((n, columns)), z)
    assert (features.direct.shape[1] > 0) == direct
    assert features.linear.shape[1] == columns
