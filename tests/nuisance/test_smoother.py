"""Smoothers against dense matrices: hat matrix, leave-one-out by refitting, chunked against stored."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralcit.nuisance import smoother as module
from spectralcit.nuisance.maps import AdditiveCosines, GaussianFeatures, LinearFeatures
from spectralcit.nuisance.selection import clearly_better, select
from spectralcit.nuisance.smoother import PENALTIES, Smoother
from spectralcit.nuisance.sums import SumOfMaps, feature_combinations, feature_products
from spectralcit.numeric.linear import orthonormal_columns


def make(n=40, d=3, seed=0, kind="gaussian"):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, d))
    gaussian = GaussianFeatures.fit(z, np.eye(d), 1.0, 15, rng)
    additive = AdditiveCosines.fit(z, np.arange(d), n)
    feature_map = {
        "gaussian": gaussian,
        "additive": additive,
        "linear": LinearFeatures(),
        "sum": SumOfMaps.fit(additive, gaussian, (additive(z), gaussian(z))),
    }[kind]
    return z, feature_map, Smoother(orthonormal_columns(z[:, :1]), z, feature_map, name=kind)


def dense_hat(z, feature_map, penalty):
    """Least squares on intercept and first column, ridge on the other features, by textbook formulas."""
    fixed = np.column_stack([np.ones(len(z)), z[:, 0]])
    projection = fixed @ np.linalg.pinv(fixed)
    features = feature_map(z) - projection @ feature_map(z)
    gram = features.T @ features
    ridge = penalty * np.linalg.eigvalsh(gram)[-1]
    return projection + features @ np.linalg.solve(gram + ridge * np.eye(len(gram)), features.T)


@pytest.mark.parametrize("kind", ["gaussian", "additive", "linear", "sum"])
@pytest.mark.parametrize("penalty", [1e-3, 0.1])
def test_hat_matrix_equals_dense_ridge(kind, penalty):
    z, feature_map, smoother = make(kind=kind)
    hat = dense_hat(z, feature_map, penalty)
    targets = np.random.default_rng(1).standard_normal((40, 2))
    np.testing.assert_allclose(smoother.residuals(targets, penalty), targets - hat @ targets, atol=1e-6)
    np.testing.assert_allclose(smoother.leverage(penalty), np.diag(hat), atol=1e-6)
    assert smoother.degrees_of_freedom(penalty) == pytest.approx(np.trace(hat), abs=1e-5)
    left = np.eye(40) - hat
    np.testing.assert_allclose(smoother.row_scale(penalty), np.sqrt(np.diag(left @ left.T)), atol=1e-6)


def test_leave_one_out_equals_refitting():
    rng = np.random.default_rng(3)
    z = rng.standard_normal((25, 2))
    target = rng.standard_normal((25, 1))
    smoother = Smoother(orthonormal_columns(z), name="least squares")
    for i in range(25):
        keep = np.arange(25) != i
        design = np.column_stack([np.ones(25), z])
        beta = np.linalg.lstsq(design[keep], target[keep], rcond=None)[0]
        assert smoother.leave_one_out(target, 0.0)[i, 0] == pytest.approx(
            (target[i] - design[i] @ beta).item()
        )


@given(st.integers(0, 50), st.sampled_from(["gaussian", "sum"]), st.sampled_from([0, 10**6]))
def test_chunked_and_single_precision_equal_stored(seed, kind, single_cells):
    z, feature_map, stored = make(n=60, seed=seed, kind=kind)
    limits = module._STORED_CELLS, module._SINGLE_CELLS, module._CHUNK_CELLS
    module._STORED_CELLS, module._SINGLE_CELLS, module._CHUNK_CELLS = 10, single_cells, 200
    try:
        chunked = Smoother(stored.fixed, z, feature_map, name="chunked")
        targets = np.random.default_rng(seed).standard_normal((60, 3))
        np.testing.assert_allclose(
            chunked.residuals(targets, 0.01), stored.residuals(targets, 0.01), atol=1e-5
        )
        if single_cells:
            np.testing.assert_allclose(chunked.leverage(0.01), stored.leverage(0.01), atol=1e-5)
            for (_, a), (_, b) in zip(chunked.loss_path(targets), stored.loss_path(targets), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
    finally:
        module._STORED_CELLS, module._SINGLE_CELLS, module._CHUNK_CELLS = limits


@given(st.integers(0, 50), st.sampled_from(["additive", "gaussian", "sum"]))
def test_products_with_features_need_not_make_them(seed, kind):
    z, feature_map, _ = make(n=60, seed=seed, kind=kind)
    rng = np.random.default_rng(seed)
    features, columns = feature_map(z), rng.standard_normal((60, 2))
    weights = rng.standard_normal((features.shape[1], 3))
    products = feature_products(feature_map, z, columns)
    np.testing.assert_allclose(products, features.T @ columns, atol=1e-7 * np.abs(products).max())
    combined = feature_combinations(feature_map, z, weights)
    np.testing.assert_allclose(combined, features @ weights, atol=1e-7 * np.abs(combined).max())


def test_of_features_that_are_too_many_to_store_leverages_are_their_mean(monkeypatch):
    z, feature_map, stored = make(n=60, seed=0, kind="gaussian")
    fixed = np.square(stored.fixed).sum(axis=1)
    monkeypatch.setattr(module, "_STORED_CELLS", 10)
    monkeypatch.setattr(module, "_SINGLE_CELLS", 10)
    large = Smoother(stored.fixed, z, feature_map, name="large")
    shrunk = stored.leverage(0.01) - fixed
    np.testing.assert_allclose(large.leverage(0.01), fixed + shrunk.mean(), rtol=1e-8)
    np.testing.assert_allclose(
        np.square(large.row_scale(0.01)).sum(), np.square(stored.row_scale(0.01)).sum()
    )
    targets = np.random.default_rng(0).standard_normal((60, 2))
    left = large.residuals(targets, 0.01) / (1.0 - fixed - shrunk.mean())[:, None]
    np.testing.assert_allclose(large.leave_one_out(targets, 0.01), left, rtol=1e-7)
    unit = targets / targets.std(axis=0)
    for penalty, losses in large.loss_path(targets):
        expected = np.square(large.leave_one_out(unit, penalty)).mean(axis=1)
        np.testing.assert_allclose(losses, expected, rtol=1e-7)


def test_select_prefers_the_true_family_and_relaxes_the_penalty():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((400, 2))
    target = np.sin(3 * z[:, :1]) + 0.2 * rng.standard_normal((400, 1))
    fixed = orthonormal_columns(z)
    gaussian = Smoother(fixed, z, GaussianFeatures.fit(z, np.eye(2), 0.5, 100, rng), name="gaussian")
    chosen = select([Smoother(fixed, name="linear"), gaussian], target)
    assert chosen.smoother is gaussian
    assert chosen.penalty <= chosen.best_penalty
    assert chosen.loss < 0.2
    assert chosen.best_penalty in PENALTIES


def test_cheap_degrees_of_freedom_are_not_saved():
    rng = np.random.default_rng(1)
    z = rng.standard_normal((2000, 1))
    target = np.sin(z) + 0.1 * rng.standard_normal((2000, 1))
    fixed = orthonormal_columns(z)
    few = Smoother(fixed, z, AdditiveCosines.fit(z, np.arange(1), 2000), name="additive")
    assert few.degrees_of_freedom(PENALTIES[0]) < 0.03 * 2000
    assert select([few], target).penalty == PENALTIES[0]


def test_collinear_and_constant_columns_are_dropped():
    column = np.random.default_rng(0).standard_normal((30, 1))
    basis = orthonormal_columns(np.hstack([column, 2 * column, np.ones((30, 1))]))
    assert basis.shape == (30, 2)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)


def test_expected_remainder_is_that_of_functions_drawn_from_the_prior():
    z, feature_map, smoother = make(n=200)
    best, penalty = 1e-2, 1e-3
    rng = np.random.default_rng(1)
    features = feature_map(z)
    size = 1.0 / np.sqrt(best * smoother.eigenvalues[-1])
    drawn = features @ rng.standard_normal((features.shape[1], 4000)) * size  # in units of the noise
    left = np.square(smoother.residuals(drawn, penalty)).sum(axis=0).mean() / np.sqrt(len(z))
    assert smoother.expected_remainder(penalty, best) == pytest.approx(left, rel=0.05)


def test_a_rough_function_is_left_less_than_the_least_error_would():
    rng = np.random.default_rng(0)
    z = rng.uniform(size=(600, 1))
    function = np.sin(60.0 * z)
    smoother = Smoother(
        orthonormal_columns(z), z, GaussianFeatures.fit(z, np.eye(1), 0.04, 300, rng), name="narrow"
    )
    fit = select([smoother], function + 0.4 * rng.standard_normal((600, 1)))
    left, least = (np.square(smoother.residuals(function, p)).sum() for p in (fit.penalty, fit.best_penalty))
    assert fit.degrees_of_freedom <= 300
    assert left <= least
    assert smoother.expected_remainder(fit.penalty, fit.best_penalty) <= 0.3


def test_unshrunk_losses_are_those_of_least_squares():
    z, _, smoother = make(n=50, kind="additive")
    targets = np.random.default_rng(3).standard_normal((50, 2)) * [1.0, 10.0]
    plain = Smoother(orthonormal_columns(z[:, :1]), name="linear")
    np.testing.assert_allclose(smoother.unshrunk_losses(targets), plain.loss_path(targets)[0][1])


def test_least_squares_is_seldom_beaten_by_chance_and_nearly_always_by_what_matters():
    rng = np.random.default_rng(4)
    beaten = {0.0: 0, 1.0: 0}
    for _ in range(60):
        z = rng.standard_normal((100, 2))
        fixed = orthonormal_columns(z)
        additive = AdditiveCosines.fit(z, np.arange(2), 100)
        smoothers = [Smoother(fixed, name="linear"), Smoother(fixed, z, additive, name="additive")]
        noise = rng.standard_normal((100, 1))
        for height in beaten:
            target = z[:, :1] + height * np.sin(2 * z[:, 1:]) + noise
            beaten[height] += clearly_better(select(smoothers, target), smoothers[0], target)
    assert beaten[0.0] <= 6
    assert beaten[1.0] >= 55
