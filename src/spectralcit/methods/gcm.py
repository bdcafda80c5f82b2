"""Generalised covariance measure: the covariance of the residuals of x and y given z."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import BaseCITest
from ..inputs import CIData
from ..nuisance.regression import Regressor, cross_fitted_residuals, folds_option, regressor_option
from ..null import normal_sf
from ..null.max_statistic import max_statistic
from ..parameters import integer
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["GCM", "residual_pair"]


@register(
    "gcm",
    tags=TestTags(
        summary="generalised covariance measure: correlation of residuals, any regressor",
        standing=70,
        assumes="the product of the errors of the two regressions on Z vanishes faster than n^(-1/2)",
        fails=(
            "by missing dependence without covariance given Z, such as y = x² + noise, and by "
            "rejecting true nulls when the regressor cannot follow Z"
        ),
    ),
)
class GCM(BaseCITest):
    """Generalised covariance measure.

    Regress ``x`` and ``y`` on ``z``; under conditional independence the product of the two residuals has
    mean zero. The studentised mean is compared with the standard normal distribution, or, with several
    columns, the largest absolute one with its multiplier bootstrap.

    Notes
    -----
    The effect size is the correlation of the residuals, for several columns that of the pair with the largest
    statistic.

    References
    ----------
    R. D. Shah and J. Peters. The hardness of conditional independence testing and the generalised covariance
    measure. Annals of Statistics, 2020.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=400)
    >>> x, y = np.sin(2 * z) + rng.normal(size=400), z**2 + rng.normal(size=400)
    >>> GCM(random_state=0).test(x, y, z).reject(), GCM(random_state=0).test(x, y + 0.3 * x, z).reject()
    (False, True)
    """

    regressor: Regressor = regressor_option()
    n_folds: int = folds_option()
    # All multipliers are in memory at once: so many take 0.8 GB for a thousand rows.
    n_bootstrap: int = integer(999, "Multiplier draws when there are several products.", most=100_000)

    def _run(self, data: CIData, seed: int) -> Outcome:
        x, y, warnings = residual_pair(data, self.regressor, self.n_folds, seed)
        if x.shape[1] == y.shape[1] == 1:
            return _single(x[:, 0] * y[:, 0], _correlation(x[:, 0], y[:, 0]), warnings)
        return largest_product(x, y, self.n_bootstrap, seed, warnings)


def residual_pair(
    data: CIData, regressor: Regressor, n_folds: int, seed: int
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Cross-fitted residuals of x and y, and warnings about what ``z`` determines."""
    z = None if data.z is None else data.z.values
    both = np.hstack([data.x.values, data.y.values])
    left = cross_fitted_residuals(regressor, z, both, n_folds=n_folds, seed=seed)
    names = (*data.x.names, *data.y.names)
    determined = [name for name, r, v in zip(names, left.T, both.T, strict=True) if r.std() <= 1e-6 * v.std()]
    warnings: tuple[str, ...] = ()
    if determined:
        warnings = (f"z determines {', '.join(determined)} almost exactly; what is left is rounding",)
    return left[:, : data.x.n_columns], left[:, data.x.n_columns :], warnings


def largest_product(
    x: np.ndarray, y: np.ndarray, n_bootstrap: int, seed: int, warnings: tuple[str, ...]
) -> Outcome:
    """Outcome of the maximum statistic over all products of residuals, of shapes (n, p) and (n, q)."""
    found = max_statistic(x, y, n_bootstrap=n_bootstrap, seed=seed)
    if found is None:
        return _nothing_varies(warnings)
    j, k = found.index
    diagnostics: dict[str, Any] = {"x_column": j, "y_column": k, "n_products": x.shape[1] * y.shape[1]}
    diagnostics["n_constant_products"] = found.n_skipped
    return Outcome(
        statistic=found.statistic,
        pvalue=found.pvalue,
        null=NullDistribution("multiplier_bootstrap", {"n_bootstrap": n_bootstrap}),
        effect_size=_correlation(x[:, j], y[:, k]),
        diagnostics=diagnostics,
        warnings=warnings,
    )


def _single(products: np.ndarray, effect: float, warnings: tuple[str, ...]) -> Outcome:
    deviation = float(products.std())
    if deviation <= 1e-14 * float(np.abs(products).max()):
        return _nothing_varies(warnings)
    statistic = math.sqrt(len(products)) * float(products.mean()) / deviation
    return Outcome(statistic, normal_sf(statistic), NullDistribution("normal"), effect, {}, warnings)


def _nothing_varies(warnings: tuple[str, ...]) -> Outcome:
    message = "the products of residuals do not vary: there is nothing left to test, and the p-value is one"
    return Outcome(0.0, 1.0, NullDistribution("normal"), 0.0, {}, (*warnings, message))


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / scale if scale > 0 else 0.0
