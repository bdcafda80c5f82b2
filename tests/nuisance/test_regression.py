"""Cross-fitted residuals: rows are predicted by fits that have not seen them."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

from spectralcit.errors import ParameterError
from spectralcit.nuisance.regression import cross_fitted_residuals, is_regressor


def test_cross_fitting_predicts_rows_it_has_not_seen():
    # A nearest neighbour that saw the row would leave no residual at all.
    rng = np.random.default_rng(7)
    z, y = rng.normal(size=(80, 1)), rng.normal(size=(80, 1))
    nearest = KNeighborsRegressor(n_neighbors=1)
    assert np.abs(cross_fitted_residuals(nearest, z, y, n_folds=1, seed=0)).max() == 0
    assert np.abs(cross_fitted_residuals(nearest, z, y, n_folds=5, seed=0)).min() > 0


def test_leave_one_out_folds_equal_the_closed_form():
    rng = np.random.default_rng(8)
    z, y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    design = np.column_stack([np.ones(40), z])
    hat = design @ np.linalg.pinv(design)
    expected = (y - hat @ y) / (1 - np.diag(hat))[:, None]
    assert np.allclose(cross_fitted_residuals("linear", z, y, n_folds=40, seed=0), expected)


def test_more_folds_than_rows_are_refused():
    rows = np.arange(20.0)[:, None]
    with pytest.raises(ParameterError, match="n_folds must be at most the number of rows"):
        cross_fitted_residuals("linear", rows, rows, n_folds=21, seed=0)


def test_a_regressor_is_an_object_that_can_be_cloned():
    assert is_regressor(KNeighborsRegressor())
    assert not is_regressor(KNeighborsRegressor)
    assert not is_regressor(object())
