"""Removing what Z explains with any scikit-learn regressor or classifier, cross-fitted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold

from ..errors import ParameterError
from ..inputs import RowDesign
from ..inputs.split import folds_of
from .fits import Nuisance, NuisanceFit, share_of_variance
from .regression import fit_weighted

__all__ = ["CrossFitted"]


class CrossFitted:
    """Predict each row by a model that was trained on the other folds.

    A classifier predicts the two-valued columns; every other column is left to `fallback`.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> z = np.arange(40.0)[:, None]
    >>> fit = CrossFitted(LinearRegression(), z, seed=0).fit_location(3.0 * z)
    >>> bool(np.allclose(fit.out_of_sample, 0.0))
    True
    """

    def __init__(
        self,
        estimator: Any,
        z: np.ndarray,
        *,
        seed: int,
        fallback: Nuisance | None = None,
        n_folds: int = 5,
        design: RowDesign | None = None,
    ) -> None:
        self.design = design
        self._estimator = estimator
        self._z = z
        self._seed = seed
        self._fallback = fallback
        self._folds = list(KFold(n_folds, shuffle=True, random_state=seed).split(z))
        if design is not None and design.clusters is not None:
            fold = folds_of(len(z), n_folds, np.random.default_rng(seed), design.clusters)
            self._folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]

    def prediction_error(self, targets: np.ndarray) -> np.ndarray:
        """Return each target's cross-fitted error as a share of its variance."""
        return share_of_variance(self.fit_location(targets).out_of_sample, targets)

    def fit_location(self, targets: np.ndarray) -> NuisanceFit:
        """Explain the columns of one side of the test."""
        if is_classifier(self._estimator) and not all(_two_valued(column) for column in targets.T):
            if self._fallback is None:
                raise ParameterError(
                    "a classifier can only predict two-valued columns; give a regressor instead"
                )
            return self._fallback.fit_location(targets)
        return CrossFittedFit(self, targets)

    def fit_scale(self, targets: np.ndarray, location: NuisanceFit) -> NuisanceFit:
        """Explain log squared residuals; the estimator is equally flexible every time."""
        return self.fit_location(targets)

    def fit_features(self, features: np.ndarray, location: NuisanceFit) -> NuisanceFit:
        """Explain features of the residuals; the estimator is equally flexible every time."""
        return self.fit_location(features)

    def residuals(self, columns: np.ndarray) -> np.ndarray:
        """Return the cross-fitted residuals of each column."""
        left = np.empty_like(columns, dtype=float)
        for j, column in enumerate(columns.T):
            for train, held_out in self._folds:
                left[held_out, j] = column[held_out] - self._predict(column, train, held_out)
        return left

    def _predict(self, column: np.ndarray, train: np.ndarray, held_out: np.ndarray) -> np.ndarray:
        model = clone(self._estimator)
        if "random_state" in model.get_params():
            model.set_params(random_state=self._seed)
        if not is_classifier(model):
            self._fit(model, train, column[train])
            return np.asarray(model.predict(self._z[held_out]), dtype=float)
        low, high = column.min(), column.max()
        labels = column[train] == high
        if labels.all() or not labels.any():
            return np.full(len(held_out), column[train][0])
        chance = self._fit(model, train, labels).predict_proba(self._z[held_out])[:, 1]
        return low + (high - low) * chance

    def _fit(self, model: Any, train: np.ndarray, target: np.ndarray) -> Any:
        weights = None if self.design is None else self.design.weights
        return fit_weighted(model, self._z[train], target, None if weights is None else weights[train])


@dataclass(frozen=True, eq=False)
class CrossFittedFit:
    """Cross-fitted residuals of some targets, and the means to treat further columns alike."""

    nuisance: CrossFitted
    targets: np.ndarray

    @cached_property
    def out_of_sample(self) -> np.ndarray:
        """Residuals of the targets, each row predicted by a model that did not see its fold."""
        return self.nuisance.residuals(self.targets)

    @property
    def studentised(self) -> np.ndarray:
        """The out-of-sample residuals: each keeps its own noise in full."""
        return self.out_of_sample

    @cached_property
    def row_scale(self) -> np.ndarray:
        """Ones: a held-out row's own noise is left untouched."""
        return np.ones(len(self.targets))

    @cached_property
    def r_squared(self) -> float:
        """Out-of-sample R², averaged over targets."""
        return float(np.mean(1.0 - share_of_variance(self.out_of_sample, self.targets)))

    @property
    def degrees_of_freedom(self) -> float:
        """Not defined for a general estimator; one, for the mean, is reported."""
        return 1.0

    @property
    def optimism(self) -> float:
        """One: held-out rows took no part in any choice."""
        return 1.0

    @property
    def high_leverage_share(self) -> float:
        """Zero: no row takes part in its own prediction."""
        return 0.0

    @property
    def name(self) -> str:
        """Class of the estimator."""
        return f"cross-fitted {type(self.nuisance._estimator).__name__}"

    def unit_noise(self, columns: np.ndarray, size: float) -> np.ndarray:
        """Return `columns` times `size`: a held-out row's own noise is left untouched."""
        inflation = 1.0 if self.design is None else self.design.inflation
        return columns * (size * np.sqrt(inflation))

    def remove(self, columns: np.ndarray) -> np.ndarray:
        """Return cross-fitted residuals, by the fallback where a classifier does not apply."""
        left = self.nuisance.fit_location(columns).out_of_sample
        root = None if self.design is None else self.design.root
        return left if root is None else left * root[:, None]

    @property
    def design(self) -> RowDesign | None:
        """That of the nuisance method."""
        return self.nuisance.design

    def adjoint(self, columns: np.ndarray) -> np.ndarray:
        """Return `columns`: predictions from other folds are treated as fixed."""
        return columns


def _two_valued(column: np.ndarray) -> bool:
    return bool(np.all((column == column.min()) | (column == column.max())))
