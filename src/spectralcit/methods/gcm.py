"""Generalised covariance measure: the covariance of the residuals of x and y given z."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..base import BaseCITest
from ..inputs import CIData, RowDesign
from ..nuisance.regression import Regressor, cross_fitted_residuals, folds_option, regressor_option
from ..null import normal_sf
from ..null.clustered import clustered_mean, signed_max_statistic
from ..null.max_statistic import max_statistic
from ..numeric.streams import generator
from ..parameters import integer
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome
from ..survival import RiskSets, effect_sizes, fit_hazard, score_rows

__all__ = ["GCM", "correlation", "largest_product", "residual_pair"]


@register(
    "gcm",
    tags=TestTags(
        summary="generalised covariance measure: correlation of residuals, any regressor",
        censored=True,
        standing=70,
        honours=("groups", "time", "weights"),
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
        if data.y.event is not None:
            return self._censored(data, seed)
        x, y, warnings = residual_pair(data, self.regressor, self.n_folds, seed)
        if x.shape[1] == y.shape[1] == 1:
            effect = correlation(x[:, 0], y[:, 0], data.design)
            outcome = _single(x[:, 0] * y[:, 0], effect, warnings, data.design)
            return replace(outcome, diagnostics={"partial_correlation": effect})
        return largest_product(x, y, self.n_bootstrap, seed, warnings, data.design)

    def _censored(self, data: CIData, seed: int) -> Outcome:
        """Each row's score takes the place of the product of residuals."""
        scores, effects = self._scores(data, np.ones((data.n, 1)), seed)
        if scores.shape[1] == 1:
            return _single(scores[:, 0], effects[0], (), None)
        outcome = largest_product(scores, np.ones((data.n, 1)), self.n_bootstrap, seed, ())
        return replace(outcome, effect_size=effects[outcome.diagnostics.get("x_column", 0)])

    def _scores(self, data: CIData, weights: np.ndarray, seed: int) -> tuple[np.ndarray, list[float]]:
        """Scores of the columns of x against a censored y, times weights; the correlation behind each column.

        In every interval of time, x is regressed on ``z`` among the rows at risk; the hazard given ``z`` is
        that of the default test. The scores have their own mean, and the spread they had before the fit.
        """
        assert data.y.event is not None
        sets = RiskSets(data.y.values[:, 0], data.y.event)
        hazard = fit_hazard(sets, data.z, generator(seed, "hazard"))
        left = np.zeros((data.n, sets.n_intervals, data.x.n_columns))
        for j, rows in enumerate(sets.at_risk.T):
            z, x = None if data.z is None else data.z.values[rows], data.x.values[rows]
            folds = min(self.n_folds, len(x))
            left[rows, j] = cross_fitted_residuals(self.regressor, z, x, n_folds=folds, seed=seed)
        scores, noise = (
            np.einsum("ifk,iw->ifw", part, weights).reshape(data.n, -1)
            for part in score_rows(left, hazard, np.ones((sets.n_intervals, 1)))
        )
        return noise - noise.mean(axis=0) + scores.mean(axis=0), effect_sizes(left, hazard).tolist()


def residual_pair(
    data: CIData, regressor: Regressor, n_folds: int, seed: int
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Cross-fitted residuals of x and y, and warnings about what ``z`` determines."""
    z = None if data.z is None else data.z.values
    both = np.hstack([data.x.values, data.y.values])
    left = cross_fitted_residuals(regressor, z, both, n_folds=n_folds, seed=seed, rows=data.design)
    names = (*data.x.names, *data.y.names)
    determined = [name for name, r, v in zip(names, left.T, both.T, strict=True) if r.std() <= 1e-6 * v.std()]
    warnings: tuple[str, ...] = ()
    if determined:
        warnings = (f"z determines {', '.join(determined)} almost exactly; what is left is rounding",)
    return left[:, : data.x.n_columns], left[:, data.x.n_columns :], warnings


def largest_product(
    x: np.ndarray,
    y: np.ndarray,
    n_bootstrap: int,
    seed: int,
    warnings: tuple[str, ...],
    design: RowDesign | None = None,
) -> Outcome:
    """Outcome of the maximum statistic over all products of residuals, of shapes (n, p) and (n, q)."""
    if design is None:
        found = max_statistic(x, y, n_bootstrap=n_bootstrap, seed=seed)
    else:
        found = signed_max_statistic(x, y, design, n_bootstrap=n_bootstrap, seed=seed)
    if found is None:
        return _nothing_varies(warnings)
    j, k = found.index
    diagnostics: dict[str, Any] = {"x_column": j, "y_column": k, "n_products": x.shape[1] * y.shape[1]}
    diagnostics["n_constant_products"] = found.n_skipped
    return Outcome(
        statistic=found.statistic,
        pvalue=found.pvalue,
        null=NullDistribution("multiplier_bootstrap", {"n_bootstrap": n_bootstrap}),
        effect_size=correlation(x[:, j], y[:, k], design),
        diagnostics=diagnostics,
        warnings=warnings,
    )


def _single(
    products: np.ndarray, effect: float, warnings: tuple[str, ...], design: RowDesign | None
) -> Outcome:
    if design is not None:
        found = clustered_mean(products, design)
        if found is None:
            return _nothing_varies(warnings)
        null = NullDistribution("t", {"df": found.degrees_of_freedom})
        return Outcome(found.statistic, found.sf(), null, effect, {}, warnings)
    deviation = float(products.std())
    if deviation <= 1e-14 * float(np.abs(products).max()):
        return _nothing_varies(warnings)
    statistic = math.sqrt(len(products)) * float(products.mean()) / deviation
    return Outcome(statistic, normal_sf(statistic), NullDistribution("normal"), effect, {}, warnings)


def _nothing_varies(warnings: tuple[str, ...]) -> Outcome:
    message = "the products of residuals do not vary: there is nothing left to test, and the p-value is one"
    return Outcome(0.0, 1.0, NullDistribution("normal"), 0.0, {}, (*warnings, message))


def correlation(a: np.ndarray, b: np.ndarray, design: RowDesign | None = None) -> float:
    """Correlation of residuals, weighted when rows do not count alike."""
    if design is not None and design.root is not None:
        a, b = a * design.root, b * design.root
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / scale if scale > 0 else 0.0
