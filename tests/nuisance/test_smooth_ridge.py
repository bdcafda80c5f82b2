"""The regression of the residual-based tests against textbook ridge, and where it must not run away."""

import numpy as np
import pytest

from spectralcit.nuisance.selection import select
from spectralcit.nuisance.smooth_ridge import SmoothRidge


def test_leave_one_out_errors_and_predictions_are_those_of_textbook_ridge():
    # The closed form against refitting without each row, all else fixed.
    rng = np.random.default_rng(9)
    z = rng.normal(size=(40, 1))
    y = np.sin(z[:, 0]) + 0.2 * rng.normal(size=40)
    model = SmoothRidge(n_landmarks=15, widths=(1.0,)).fit(z, y)
    design = model.scaling_.transform(z)
    smoother = model._smoothers(design, None)[0]

    def rows(values):
        return np.column_stack([np.ones(len(values)), values, smoother.feature_map(values)])

    features = rows(design)

    def fit(chosen, penalty):
        ridge = np.diag(np.r_[0.0, 0.0, np.full(15, penalty * smoother.eigenvalues[-1])])
        gram = features[chosen].T @ features[chosen] + ridge
        return np.linalg.solve(gram, features[chosen].T @ y[chosen])

    errors = smoother.leave_one_out(y[:, None], 0.01)[:, 0]
    for i in range(0, 40, 7):
        left_out = y[i] - features[i] @ fit(np.arange(40) != i, 0.01)
        assert errors[i] == pytest.approx(left_out, rel=1e-6)
    penalty = select([smoother], y[:, None]).penalty
    assert np.allclose(y - model.predict(z), smoother.residuals(y[:, None], penalty)[:, 0], atol=1e-10)
    # Directions whose eigenvalue is rounding are left out, hence the tolerance.
    new = np.linspace(-1.5, 1.5, 9)[:, None]
    expected = rows(model.scaling_.transform(new)) @ fit(slice(None), penalty)
    assert np.allclose(model.predict(new), expected, atol=1e-4)


def test_smooth_ridge_leaves_a_linear_target_alone_and_handles_wide_designs():
    rng = np.random.default_rng(10)
    z = rng.normal(size=(100, 5))
    y = z @ np.arange(5.0)
    assert np.abs(SmoothRidge().fit(z, y).predict(z) - y).max() < 1e-8
    wide = rng.normal(size=(40, 100))
    target = wide[:, 0] + 0.1 * rng.normal(size=40)
    fitted = SmoothRidge().fit(wide, np.column_stack([target, -target])).predict(wide)
    assert np.allclose(fitted[:, 0], -fitted[:, 1], atol=1e-8)
    assert np.isfinite(fitted).all()


def test_smooth_ridge_does_not_run_away_outside_its_training_rows():
    rng = np.random.default_rng(13)
    z = rng.uniform(-2, 2, size=(240, 1))
    y = np.sin(z[:, 0]) + 0.7 * rng.normal(size=240)
    far = SmoothRidge().fit(z, y).predict(np.array([[-6.0], [6.0]]))
    assert np.abs(far).max() <= np.abs(y).max() + 0.1 * np.ptp(y)
    assert np.allclose(SmoothRidge().fit(z, 5 * z[:, 0]).predict(z), 5 * z[:, 0], atol=1e-8)


def test_rows_that_do_not_differ_leave_the_mean():
    fitted = SmoothRidge().fit(np.ones((30, 2)), np.arange(30.0)).predict(np.ones((3, 2)))
    assert np.allclose(fitted, 14.5)
