import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spectralcit.errors import ParameterError
from spectralcit.numeric.whiten import (
    SHRINKAGE,
    Whitener,
    condition_number,
    covariance,
    distance_to_identity,
)


def mixed_features(n: int, d: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)


def test_covariance_is_numpys_with_divisor_n():
    features = mixed_features(50, 4)
    np.testing.assert_allclose(covariance(features), np.cov(features.T, bias=True), rtol=1e-12)


def test_whitened_training_features_have_identity_covariance():
    features = mixed_features(400, 6)
    white = Whitener.fit(features, shrinkage=0.0).transform(features)
    np.testing.assert_allclose(covariance(white), np.eye(6), atol=1e-9)
    np.testing.assert_allclose(white.mean(axis=0), 0.0, atol=1e-12)


def test_root_solves_its_defining_equation_with_shrinkage():
    features = mixed_features(300, 5)
    whitener = Whitener.fit(features)
    mixed = (1 - SHRINKAGE) * covariance(features) + SHRINKAGE * np.eye(5)
    root = whitener.inverse_root
    np.testing.assert_allclose(root @ mixed @ root, np.eye(5), atol=1e-9)
    np.testing.assert_allclose(root, root.T, atol=1e-12)
    assert np.linalg.eigvalsh(root).min() > 0


def test_new_rows_use_the_training_mean_and_root():
    features = mixed_features(300, 3)
    whitener = Whitener.fit(features)
    shifted = whitener.transform(features + 1.0)
    expected = whitener.transform(features) + np.ones(3) @ whitener.inverse_root
    np.testing.assert_allclose(shifted, expected, atol=1e-10)


def test_condition_numbers_before_and_after():
    rng = np.random.default_rng(1)
    features = np.linalg.qr(rng.normal(size=(200, 2)))[0]
    features = (features - features.mean(axis=0)) @ np.diag([10.0, 1.0])
    whitener = Whitener.fit(features)
    assert whitener.condition_before == pytest.approx(np.linalg.cond(covariance(features)), rel=1e-6)
    assert whitener.condition_after == pytest.approx(1.0, abs=0.2)


def test_dead_and_duplicate_features_stay_finite():
    features = mixed_features(100, 2)
    degenerate = np.column_stack([features, features[:, 0], np.zeros(100)])
    for shrinkage in (0.0, SHRINKAGE):
        whitener = Whitener.fit(degenerate, shrinkage=shrinkage)
        assert np.isfinite(whitener.transform(degenerate)).all()
        assert np.isfinite([whitener.condition_before, whitener.condition_after]).all()


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(2, 30), st.integers(1, 6)), elements=st.floats(-1e6, 1e6)),
)
def test_any_finite_features_give_finite_white_features_of_bounded_variance(features):
    white = Whitener.fit(features).transform(features)
    assert np.isfinite(white).all()
    # C / ((1 - s) C + s I) has no eigenvalue above 1 / (1 - s).
    # Columns of sizes 1 and 1e5 leave a covariance with a condition number of 1e10: rounding shows at 1e-6.
    assert np.linalg.eigvalsh(covariance(white)).max() <= 1 / (1 - SHRINKAGE) + 1e-4


@pytest.mark.parametrize("shrinkage", [-0.1, 1.0, np.nan])
def test_impossible_shrinkage_is_refused(shrinkage):
    with pytest.raises(ParameterError, match="shrinkage"):
        Whitener.fit(np.eye(3), shrinkage=shrinkage)


def test_condition_number_of_a_singular_matrix_is_large_and_finite():
    assert 1e12 < condition_number(np.diag([1.0, 0.0])) < np.inf
    assert condition_number(np.zeros((2, 2))) > 0


def test_distance_to_identity_is_the_spectral_norm():
    a = np.random.default_rng(0).normal(size=(4, 4))
    symmetric = a @ a.T
    expected = np.linalg.norm(symmetric - np.eye(4), 2)
    assert distance_to_identity(symmetric) == pytest.approx(expected, rel=1e-10)
