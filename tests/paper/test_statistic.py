import numpy as np
import pytest
from scipy import stats

from spectralcit.errors import ParameterError
from spectralcit.numeric.whiten import Whitener
from spectralcit.paper.statistic import (
    SpectralStatistic,
    partial_cross_covariance,
    projector_cross_covariance,
    projector_diagonal,
    retained_rank,
    spectral_statistic,
)


def features(n=200, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(n, d)), rng.normal(size=(n, 2 * d))


def test_matrix_is_the_sum_over_rows():
    u, v, w = features(20, 2)
    uc, vc, wc = (a - a.mean(axis=0) for a in (u, v, w))
    c_uv = sum(np.outer(a, b) for a, b in zip(uc, vc, strict=True)) / 20
    c_uw = sum(np.outer(a, b) for a, b in zip(uc, wc, strict=True)) / 20
    c_wv = sum(np.outer(a, b) for a, b in zip(wc, vc, strict=True)) / 20
    np.testing.assert_allclose(partial_cross_covariance(u, v, w), c_uv - c_uw @ c_wv, atol=1e-14)
    np.testing.assert_allclose(partial_cross_covariance(u, v), c_uv, atol=1e-14)


def test_white_w_makes_it_the_covariance_of_regression_residuals():
    u, v, w = features(100, 3)
    w = Whitener.fit(w, shrinkage=0.0).transform(w)
    residual_u, residual_v = (
        (a - a.mean(axis=0)) - w @ np.linalg.lstsq(w, a - a.mean(axis=0), rcond=None)[0] for a in (u, v)
    )
    np.testing.assert_allclose(partial_cross_covariance(u, v, w), residual_u.T @ residual_v / 100, atol=1e-10)


def test_statistic_does_not_see_shifts_row_order_or_rotations_of_white_features():
    u, v, w = features()
    base = spectral_statistic(u, v, w)
    rotation = np.linalg.qr(np.random.default_rng(5).normal(size=(6, 6)))[0]
    order = np.random.default_rng(6).permutation(200)
    for other in (
        spectral_statistic(u + 3.0, v - 2.0, w + 1.0),
        spectral_statistic(u[order], v[order], w[order]),
        spectral_statistic(u, v @ np.linalg.qr(v[:3])[0], w @ rotation),
    ):
        assert other.value == pytest.approx(base.value, rel=1e-9)
        np.testing.assert_allclose(other.singular_values, base.singular_values, atol=1e-10)


def test_value_is_n_times_squared_frobenius_norm_and_df_is_d_squared():
    u, v, w = features()
    result = spectral_statistic(u, v, w)
    expected = 200 * np.linalg.norm(partial_cross_covariance(u, v, w)) ** 2
    assert result.value == pytest.approx(expected, rel=1e-12)
    assert result.degrees_of_freedom == 9
    assert result.pvalue == pytest.approx(1 - stats.chi2.cdf(expected, 9), rel=1e-8)


def test_oracle_white_features_follow_chi_square():
    # No learning: independent standard features are white in the population, so the null of the paper must
    # hold. d = 3, and w independent of both.
    rng = np.random.default_rng(11)
    values = []
    for _ in range(1500):
        u, v = rng.normal(size=(2, 400, 3))
        w = rng.normal(size=(400, 6))
        values.append(spectral_statistic(u, v, w).value)
    assert stats.kstest(values, stats.chi2(9).cdf).pvalue > 0.01


def test_oracle_features_that_are_not_gaussian_follow_chi_square_too():
    # White by construction: Hermite-like polynomials of independent uniforms.
    rng = np.random.default_rng(12)
    values = []
    for _ in range(1500):
        a, b = rng.uniform(-1, 1, size=(2, 500))
        u, v = (np.column_stack([np.sqrt(3) * t, np.sqrt(5) / 2 * (3 * t**2 - 1)]) for t in (a, b))
        values.append(spectral_statistic(u, v).value)
    assert stats.kstest(values, stats.chi2(4).cdf).pvalue > 0.01


def test_confounding_that_w_does_not_span_is_seen_as_dependence():
    # What the documentation warns about: U and V depend on Z only, and W is white but blind to it.
    rng = np.random.default_rng(3)
    z = rng.normal(size=2000)
    u = (z + rng.normal(size=2000))[:, None] / np.sqrt(2)
    v = (z + rng.normal(size=2000))[:, None] / np.sqrt(2)
    blind, good = rng.normal(size=(2000, 1)), z[:, None]
    assert spectral_statistic(u, v, blind).pvalue < 1e-10
    assert spectral_statistic(u, v, good).pvalue > 0.01


@pytest.mark.parametrize(
    "d, share, expected", [(10, 1.0, 10), (10, 0.85, 8), (10, 0.7, 7), (4, 0.3, 1), (3, 0.01, 1)]
)
def test_retained_rank_is_the_floor_and_at_least_one(d, share, expected):
    assert retained_rank(d, share) == expected


def test_pruning_keeps_the_leading_values_and_squares_the_rank():
    u, v, w = features(d=4)
    full, pruned = spectral_statistic(u, v, w), spectral_statistic(u, v, w, retained=2)
    assert pruned.value == pytest.approx(200 * np.sum(full.singular_values[:2] ** 2))
    assert pruned.degrees_of_freedom == 4
    np.testing.assert_array_equal(pruned.singular_values, full.singular_values)


def test_published_pruning_is_too_liberal_under_the_null():
    # The largest 8 of 10 singular values carry nearly all of the statistic but are compared with chi2(64).
    rng = np.random.default_rng(0)
    rejected = [
        spectral_statistic(*rng.normal(size=(2, 300, 10)), retained=8).pvalue < 0.05 for _ in range(200)
    ]
    assert np.mean(rejected) > 0.8


def test_projector_diagonal_is_that_of_the_projector():
    w = np.random.default_rng(0).normal(size=(30, 4)) + 2.0
    centred = w - w.mean(axis=0)
    projector = np.eye(30) - centred @ np.linalg.pinv(centred)
    np.testing.assert_allclose(projector_diagonal(w), np.diag(projector), atol=1e-12)


def test_projector_diagonal_ignores_dependent_columns():
    w = np.random.default_rng(0).normal(size=(30, 2))
    doubled = np.column_stack([w, w[:, 0] + w[:, 1], np.zeros(30)])
    np.testing.assert_allclose(projector_diagonal(doubled), projector_diagonal(w), atol=1e-10)


def test_projector_statistic_barely_corrects():
    u, v, w = features()
    weighted = spectral_statistic(u, v, w, kind="projector")
    plain = spectral_statistic(u, v)
    assert weighted.value == pytest.approx(plain.value, rel=0.2)
    assert weighted.value != plain.value
    np.testing.assert_allclose(projector_cross_covariance(u, v), partial_cross_covariance(u, v))


def test_pvalue_never_underflows_to_zero():
    u = np.random.default_rng(0).normal(size=(100_000, 1))
    assert spectral_statistic(u, u).pvalue > 0


def test_critical_value_and_effect_size():
    result = SpectralStatistic(100.0, 4, np.array([0.7, 0.1]), 2, 200)
    assert stats.chi2.sf(result.critical_value(0.05), 4) == pytest.approx(0.05)
    assert result.effect_size == pytest.approx(np.sqrt(96 / 400))
    assert SpectralStatistic(2.0, 4, np.array([0.1, 0.0]), 2, 200).effect_size == 0.0


def test_effect_size_estimates_the_correlation_of_a_gaussian_pair():
    rng = np.random.default_rng(4)
    x = rng.normal(size=20_000)
    y = 0.6 * x + 0.8 * rng.normal(size=20_000)
    assert spectral_statistic(x[:, None], y[:, None]).effect_size == pytest.approx(0.6, abs=0.02)


@pytest.mark.parametrize("retained", [0, 4])
def test_impossible_rank_is_refused(retained):
    with pytest.raises(ParameterError, match="retained"):
        spectral_statistic(*features(), retained=retained)


def test_unknown_statistic_is_refused():
    with pytest.raises(ParameterError, match="projector"):
        spectral_statistic(*features(), kind="trace")
