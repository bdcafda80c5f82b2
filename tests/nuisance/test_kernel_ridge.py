"""What kernel ridge with a learned metric must be able to remove, and how it scales."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from spectralcit import SpectralCIT
from spectralcit.errors import ParameterError
from spectralcit.inputs import Block
from spectralcit.nuisance import CrossFitted, KernelRidge, Projection


def block(values, kinds=None):
    d = values.shape[1]
    return Block(
        values, tuple(f"z{j}" for j in range(d)), tuple(kinds or ["continuous"] * d), tuple(range(d))
    )


SHAPES = {
    "linear": lambda z: z.sum(axis=1),
    "one column of many": lambda z: np.sin(2 * z[:, 3]),
    "additive": lambda z: np.abs(z[:, 0]) + np.sin(3 * z[:, 1]) + z[:, 2] ** 2,
    "single index": lambda z: np.sin(1.5 * z.sum(axis=1) / np.sqrt(z.shape[1])),
    "interaction": lambda z: z[:, 0] * z[:, 1],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_residuals_are_close_to_the_noise(shape):
    rng = np.random.default_rng(5)
    z = rng.standard_normal((800, 10))
    signal = SHAPES[shape](z)
    noise = 0.3 * signal.std() * rng.standard_normal(800)
    fit = KernelRidge(block(z), 800, rng).fit_location((signal + noise)[:, None])
    left = fit.remove((signal + noise)[:, None])[:, 0]
    assert np.corrcoef(left, noise)[0, 1] > 0.88
    assert fit.r_squared > 0.85


def test_an_additive_model_of_few_columns_out_of_many_costs_few_degrees_of_freedom():
    rng = np.random.default_rng(8)
    z = rng.standard_normal((1000, 50))
    signal = np.sin(2 * z[:, 0]) + z[:, 1] ** 2
    target = (signal + 0.5 * rng.standard_normal(1000))[:, None]
    fit = KernelRidge(block(z), 1000, rng).fit_location(target)
    possible = 1.0 - 0.25 / target.var()
    assert fit.r_squared > possible - 0.03
    assert fit.degrees_of_freedom < 220  # fifty columns with equal weights used about 300


def test_linear_part_is_not_shrunk():
    rng = np.random.default_rng(6)
    z = rng.standard_normal((200, 60))
    fit = KernelRidge(block(z), 200, rng).fit_location(rng.standard_normal((200, 1)))
    assert np.abs(fit.remove(1e6 * z)).max() < 1e-6


def test_wide_z_falls_back_to_a_ridge():
    rng = np.random.default_rng(7)
    z = rng.standard_normal((100, 150))
    nuisance = KernelRidge(block(z), 100, rng)
    assert not nuisance.least_squares
    target = z[:, :1] * 3 + 0.1 * rng.standard_normal((100, 1))
    fit = nuisance.fit_location(target)
    assert np.isfinite(fit.remove(target)).all()
    assert fit.degrees_of_freedom < 100


def test_selection_on_a_subsample_still_fits_all_rows():
    rng = np.random.default_rng(8)
    z = rng.standard_normal((3000, 2))
    target = np.sin(2 * z[:, :1]) + 0.2 * rng.standard_normal((3000, 1))
    fit = KernelRidge(block(z), 3000, rng, max_selection_rows=500).fit_location(target)
    assert fit.out_of_sample.shape == (3000, 1)
    assert fit.r_squared > 0.9


def test_without_z_only_the_mean_goes():
    values = np.random.default_rng(9).standard_normal((50, 2)) + 7.0
    fit = KernelRidge(None, 50, np.random.default_rng(0)).fit_location(values)
    np.testing.assert_allclose(fit.remove(values), values - values.mean(axis=0), atol=1e-12)


def test_adjoint_of_a_symmetric_smoother():
    rng = np.random.default_rng(10)
    z = rng.standard_normal((100, 3))
    fit = KernelRidge(block(z), 100, rng).fit_location(np.sin(3 * z[:, :1]))
    a, b = rng.standard_normal((2, 100, 1))
    assert (fit.remove(a) * b).sum() == pytest.approx((a * fit.adjoint(b)).sum())


def test_projection_removes_the_span_of_w_and_nothing_else():
    rng = np.random.default_rng(11)
    w, other = rng.standard_normal((100, 3)), rng.standard_normal((100, 1))
    fit = Projection(w).fit_location(other)
    np.testing.assert_allclose(fit.remove(w @ [[1.0], [2.0], [3.0]] + 4.0), 0.0, atol=1e-10)
    np.testing.assert_allclose(w.T @ fit.remove(other), 0.0, atol=1e-10)


def test_cross_fitted_residuals_never_see_their_own_fold():
    class Memory(LinearRegression):
        """Remembers its training rows and answers with NaN for them."""

        def fit(self, z, y):
            self.seen_ = {row.tobytes() for row in z}
            return self

        def predict(self, z):
            return np.array([np.nan if row.tobytes() in self.seen_ else 0.0 for row in z])

    z = np.random.default_rng(12).standard_normal((53, 2))
    fit = CrossFitted(Memory(), z, seed=0).fit_location(np.ones((53, 1)))
    np.testing.assert_array_equal(fit.out_of_sample, 1.0)


def test_classifier_predicts_probabilities_and_leaves_the_rest_to_the_fallback():
    rng = np.random.default_rng(13)
    z = rng.standard_normal((500, 1))
    label = (rng.uniform(size=500) < 1 / (1 + np.exp(-2 * z[:, 0]))).astype(float)[:, None]
    nuisance = CrossFitted(LogisticRegression(), z, seed=0, fallback=KernelRidge(block(z), 500, rng))
    left = nuisance.fit_location(5.0 * label).out_of_sample / 5.0
    truth = label[:, 0] - 1 / (1 + np.exp(-2 * z[:, 0]))
    assert np.corrcoef(left[:, 0], truth)[0, 1] > 0.99
    assert "cross-fitted" not in nuisance.fit_location(z).name
    with pytest.raises(ParameterError, match="two-valued"):
        CrossFitted(LogisticRegression(), z, seed=0).fit_location(z)


def test_something_else_is_refused():
    # What the declaration of the parameter lets through can be cross-fitted; the rest never gets there.
    x, y, z = np.random.default_rng(0).standard_normal((3, 60))
    with pytest.raises(ParameterError, match=r"nuisance must be .* a scikit-learn regressor or classifier"):
        SpectralCIT(nuisance=object()).test(x, y, z)
