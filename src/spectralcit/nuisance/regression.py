"""Residuals of a regression on ``z`` that never saw the row it predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import ParameterError, suggestion
from ..numeric.streams import generator
from ..parameters import choice
from .smooth_ridge import SmoothRidge

__all__ = [
    "Regressor",
    "cross_fitted_residuals",
    "fit_columns",
    "is_regressor",
    "make_regressor",
    "predict_columns",
    "regressor_option",
]

Regressor = Any
"""A name from `make_regressor` or a scikit-learn regressor."""

_NAMES = ("smooth", "linear", "forest", "boosting")


def regressor_option() -> Any:
    """Field of a test that regresses on Z."""
    return choice(
        "smooth",
        "What removes Z; ``'smooth'`` is linear plus Gaussian kernel ridge.",
        *_NAMES,
        other="an object with fit and predict",
        accepts=is_regressor,
    )


def is_regressor(value: Any) -> bool:
    """Whether `value` is an instance that can be fitted and asked."""
    return not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "predict")


def make_regressor(regressor: Regressor, seed: int) -> Any:
    """Turn a name or a scikit-learn regressor into an unfitted regressor with a fixed seed.

    Parameters
    ----------
    regressor
        ``"smooth"`` (linear plus Gaussian kernel ridge), ``"linear"``, ``"forest"``, ``"boosting"``, or an
        object with ``fit`` and ``predict``, which is cloned. Its ``random_state`` is filled in when it has
        one that is None.
    seed
        Source of randomness of regressors that have one.
    """
    if isinstance(regressor, str):
        return _by_name(regressor, seed)
    if not (hasattr(regressor, "fit") and hasattr(regressor, "predict")) or isinstance(regressor, type):
        raise ParameterError(
            f"regressor must be one of {', '.join(_NAMES)} or an object with fit and predict; "
            f"got {regressor!r}"
        )
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
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(max_iter=60, random_state=seed)
    known = ", ".join(_NAMES)
    raise ParameterError(
        f"no regressor is called {name!r}.{suggestion(name, _NAMES)} Known regressors: {known}"
    )


def fit_columns(template: Any, design: np.ndarray, targets: np.ndarray) -> list[Any]:
    """Fit a clone of `template` to each column of `targets`; one clone for all when it is a `SmoothRidge`.

    Parameters
    ----------
    template
        An unfitted regressor.
    design
        Array of shape (n, p).
    targets
        Array of shape (n, t).
    """
    if isinstance(template, SmoothRidge):  # shares its eigendecompositions among the targets
        return [clone(template).fit(design, targets)]
    return [clone(template).fit(design, target) for target in targets.T]


def predict_columns(fitted: list[Any], design: np.ndarray) -> np.ndarray:
    """Predictions of what `fit_columns` returned, of shape (m, t).

    Parameters
    ----------
    fitted
        Fitted regressors.
    design
        Array of shape (m, p).
    """
    return np.column_stack([np.asarray(model.predict(design), dtype=np.float64) for model in fitted])


def cross_fitted_residuals(
    regressor: Regressor,
    z: np.ndarray | None,
    targets: np.ndarray,
    *,
    n_folds: int,
    seed: int,
) -> np.ndarray:
    """Residuals of `targets` given ``z``, each row predicted by a fit to the other folds.

    Parameters
    ----------
    regressor
        As in `make_regressor`.
    z
        Array of shape (n, p), or None to subtract the mean.
    targets
        Array of shape (n, t).
    n_folds
        Number of folds; 1 fits and predicts the same rows.
    seed
        Decides the folds and seeds the regressor.

    Returns
    -------
    ndarray
        Array of shape (n, t).

    Examples
    --------
    >>> z = np.arange(20.0)[:, None]
    >>> left = cross_fitted_residuals("linear", z, 3 * z + 1, n_folds=4, seed=0)
    >>> bool(np.abs(left).max() < 1e-9)
    True
    """
    if z is None:
        return targets - targets.mean(axis=0)
    n = len(targets)
    if isinstance(n_folds, bool) or not 1 <= n_folds <= n:
        raise ParameterError(f"n_folds must be between 1 and the number of rows ({n}), got {n_folds!r}")
    template = make_regressor(regressor, seed)
    if n_folds == 1:
        return targets - predict_columns(fit_columns(template, z, targets), z)
    fold = generator(seed, "folds").permutation(n) % n_folds
    left = np.empty_like(targets)
    for k in range(n_folds):
        held_out = fold == k
        fitted = fit_columns(template, z[~held_out], targets[~held_out])
        left[held_out] = targets[held_out] - predict_columns(fitted, z[held_out])
    return left
