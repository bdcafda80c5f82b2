"""Residuals of a regression on ``z`` that never saw the row it predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ..errors import ParameterError
from ..inputs import RowDesign
from ..inputs.split import folds_of
from ..numeric.streams import generator
from ..parameters import choice, integer
from .smooth_ridge import SmoothRidge

__all__ = [
    "SMALLEST_VARIANCE",
    "Regressor",
    "cross_fitted_residuals",
    "fit_columns",
    "fit_weighted",
    "folds_option",
    "is_regressor",
    "make_regressor",
    "predict_columns",
    "regressor_option",
]

Regressor = Any
"""A name from `make_regressor` or a scikit-learn regressor."""

# Of the mean squared residual, by hand: a floor for conditional variances, where a regression may say zero.
SMALLEST_VARIANCE = 0.05


def regressor_option() -> Any:
    """Field of a test that regresses on Z."""
    return choice(
        "smooth",
        "What removes Z; ``'smooth'`` is linear plus Gaussian kernel ridge.",
        "smooth",
        "linear",
        "forest",
        "boosting",
        other="an object with fit and predict (and get_params, so that it can be cloned)",
        accepts=is_regressor,
    )


def folds_option() -> Any:
    """Field for the folds of `cross_fitted_residuals`."""
    return integer(5, "Folds of cross-fitting, at most one per row; 1 uses the residuals of the fit itself.")


def is_regressor(value: Any) -> bool:
    """Whether `value` is an instance that can be cloned, fitted and asked."""
    needed = ("fit", "predict", "get_params")
    return not isinstance(value, type) and all(hasattr(value, name) for name in needed)


def make_regressor(regressor: Regressor, seed: int) -> Any:
    """An unfitted regressor by its name, or a clone of the given one, with `seed` where it has none."""
    if isinstance(regressor, str):
        return _by_name(regressor, seed)
    copy = clone(regressor)
    unseeded = [
        name
        for name, value in copy.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    ]
    return copy.set_params(**dict.fromkeys(unseeded, seed))


def _by_name(name: str, seed: int) -> Any:
    if name == "smooth":
        return SmoothRidge()
    if name == "linear":
        from sklearn.linear_model import LinearRegression

        return LinearRegression()
    if name == "forest":
        from sklearn.ensemble import RandomForestRegressor

        return RandomForestRegressor(min_samples_leaf=5, random_state=seed)
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=60, random_state=seed)


def fit_columns(
    template: Any, design: np.ndarray, targets: np.ndarray, rows: RowDesign | None = None
) -> list[Any]:
    """Fit a clone of `template` to each column of `targets`; one clone for all when it is a `SmoothRidge`."""
    if isinstance(template, SmoothRidge):  # shares its eigendecompositions among the targets
        return [clone(template).fit(design, targets, rows)]
    weights = None if rows is None else rows.weights
    return [fit_weighted(clone(template), design, target, weights) for target in targets.T]


def fit_weighted(model: Any, design: np.ndarray, target: np.ndarray, weights: np.ndarray | None) -> Any:
    """Fit a regressor or classifier, with ``sample_weight`` where rows do not count alike."""
    if weights is None:
        return model.fit(design, target)
    if not has_fit_parameter(model, "sample_weight"):
        raise ParameterError(
            f"{type(model).__name__} does not take sample_weight, so weights= cannot be honoured; use another"
        )
    return model.fit(design, target, sample_weight=weights)


def predict_columns(fitted: list[Any], design: np.ndarray) -> np.ndarray:
    """Predictions of what `fit_columns` returned, of shape (m, t)."""
    return np.column_stack([np.asarray(model.predict(design), dtype=np.float64) for model in fitted])


def cross_fitted_residuals(
    regressor: Regressor,
    z: np.ndarray | None,
    targets: np.ndarray,
    *,
    n_folds: int,
    seed: int,
    rows: RowDesign | None = None,
) -> np.ndarray:
    """Residuals of `targets` given ``z``, each row predicted by a fit to the other folds.

    Without ``z`` the mean is subtracted; one fold fits and predicts the same rows. Rows that belong
    together are in one fold.

    Examples
    --------
    >>> z = np.arange(20.0)[:, None]
    >>> left = cross_fitted_residuals("linear", z, 3 * z + 1, n_folds=4, seed=0)
    >>> bool(np.abs(left).max() < 1e-9)
    True
    """
    if z is None:
        return targets - np.average(targets, axis=0, weights=None if rows is None else rows.weights)
    n = len(targets)
    clusters = None if rows is None else rows.clusters
    if n_folds > n:
        raise ParameterError(f"n_folds must be at most the number of rows to be split ({n}), got {n_folds!r}")
    template = make_regressor(regressor, seed)
    if n_folds == 1:
        return targets - predict_columns(fit_columns(template, z, targets, rows), z)
    if rows is not None and rows.members is not None:
        n_folds = min(n_folds, len(rows.members))
    fold = folds_of(n, n_folds, generator(seed, "folds"), clusters)
    left = np.empty_like(targets)
    for k in range(n_folds):
        held_out = fold == k
        known = None if rows is None else rows.subset(~held_out)
        fitted = fit_columns(template, z[~held_out], targets[~held_out], known)
        left[held_out] = targets[held_out] - predict_columns(fitted, z[held_out])
    return left
