"""Weighted generalised covariance measure: sees residual covariances whose sign changes with z."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..errors import CensoredTimesError, ParameterError
from ..inputs import CIData, halves
from ..nuisance.regression import fit_columns, make_regressor, predict_columns
from ..null import normal_sf
from ..null.clustered import clustered_mean
from ..numeric.streams import generator
from ..parameters import choice, integer
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome
from .gcm import GCM, largest_product, residual_pair

__all__ = ["WeightedGCM"]


@register(
    "wgcm",
    tags=TestTags(
        summary="weighted generalised covariance measure: residual correlations that vary with z",
        censored=True,
        standing=75,
        honours=("groups", "time", "weights"),
        assumes="as for gcm; covariances that vary with Z are seen as far as its weights reach",
        fails=(
            "by missing dependence without covariance given Z, and by rejecting true nulls when "
            "the regressor cannot follow Z"
        ),
    ),
)
class WeightedGCM(GCM):
    """Weighted generalised covariance measure.

    Under conditional independence the product of the residuals of ``x`` and ``y`` has mean zero for every
    value of ``z``, hence also after multiplication by any function of ``z``.

    References
    ----------
    C. Scheidegger, J. Hörrmann and P. Bühlmann. The weighted generalised covariance measure. JMLR, 2022.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z, x = rng.normal(size=500), rng.normal(size=500)
    >>> y = np.sign(z) * x + rng.normal(size=500)
    >>> WeightedGCM(random_state=0).test(x, y, z).pvalue < 0.01
    True
    """

    weights: str = choice(
        "fixed",
        "``'fixed'``: the constant one and, for each column of z, the signs of its distances from `n_cuts` "
        "quantiles; the largest of all the statistics is compared with its multiplier bootstrap. "
        "``'estimated'``: on half of the rows learn the sign of the conditional covariance given z, use it "
        "as the weight on the other half, and test one-sided; for a single column in each of x and y.",
        "fixed",
        "estimated",
    )
    # Steps of a thousandth: more are more repetitions of the same signs.
    n_cuts: int = integer(7, "Quantiles per column of z for fixed weights.", most=999)

    def _censored(self, data: CIData, seed: int) -> Outcome:
        if self.weights == "estimated":
            raise CensoredTimesError("weights='estimated' cannot take censored times as y; use 'fixed'")
        signs = np.ones((data.n, 1)) if data.z is None else sign_weights(data.z.values, self.n_cuts)
        scores, effects = self._scores(data, signs, seed)
        outcome = largest_product(scores, np.ones((data.n, 1)), self.n_bootstrap, seed, (), data.design)
        column, weight = divmod(outcome.diagnostics.get("x_column", 0), signs.shape[1])
        outcome.diagnostics.update(x_column=column, weight=weight, n_weights=signs.shape[1])
        return replace(outcome, effect_size=effects[column])

    def _run(self, data: CIData, seed: int) -> Outcome:
        if data.y.event is not None:
            return self._censored(data, seed)
        if self.weights == "estimated":
            return self._estimated(data, seed)
        x, y, warnings = residual_pair(data, self.regressor, self.n_folds, seed)
        signs = np.ones((data.n, 1)) if data.z is None else sign_weights(data.z.values, self.n_cuts)
        weighted = (y[:, :, None] * signs[:, None, :]).reshape(data.n, -1)
        outcome = largest_product(x, weighted, self.n_bootstrap, seed, warnings, data.design)
        if "y_column" in outcome.diagnostics:
            combined = outcome.diagnostics.pop("y_column")
            outcome.diagnostics["y_column"], outcome.diagnostics["weight"] = divmod(combined, signs.shape[1])
        outcome.diagnostics["n_weights"] = signs.shape[1]
        return outcome

    def _estimated(self, data: CIData, seed: int) -> Outcome:
        if data.x.n_columns != 1 or data.y.n_columns != 1 or data.z is None:
            raise ParameterError("weights='estimated' needs z and one column in each of x and y; use 'fixed'")
        # Residuals are fitted inside each half: a regression that saw both would carry luck over.
        design = data.design
        clusters = None if design is None else design.clusters
        learn, evaluate = halves(data.n, generator(seed, "wgcm"), clusters)
        learning, evaluating = data.subset(learn), data.subset(evaluate)
        x, y, _ = residual_pair(learning, self.regressor, self.n_folds, seed)
        template = make_regressor(self.regressor, seed)
        fitted = fit_columns(template, data.z.values[learn], x * y, learning.design)
        signs = np.where(predict_columns(fitted, data.z.values[evaluate])[:, 0] >= 0, 1.0, -1.0)
        x, y, warnings = residual_pair(evaluating, self.regressor, self.n_folds, seed)
        weighted = signs * x[:, 0] * y[:, 0]
        deviation = float(weighted.std())
        found = None if evaluating.design is None else clustered_mean(weighted, evaluating.design)
        if deviation == 0.0 or (found is None and design is not None):
            message = "the products of residuals do not vary: there is nothing left to test"
            return Outcome(0.0, 1.0, NullDistribution("normal"), 0.0, {}, (*warnings, message))
        statistic = math.sqrt(len(weighted)) * float(weighted.mean()) / deviation
        pvalue, null = normal_sf(statistic, "greater"), NullDistribution("normal")
        if found is not None:
            statistic, pvalue = found.statistic, found.sf("greater")
            null = NullDistribution("t", {"df": found.degrees_of_freedom})
        return Outcome(
            statistic=statistic,
            pvalue=pvalue,
            null=null,
            effect_size=float(weighted.mean()) / math.sqrt(float((x**2).mean() * (y**2).mean())),
            diagnostics={"share_of_positive_weights": float((signs > 0).mean())},
            warnings=warnings,
            n_train=len(learn),
            n_test=len(evaluate),
        )


def sign_weights(z: np.ndarray, n_cuts: int) -> np.ndarray:
    """The constant one, and the sign of each column of ``z`` minus each of its quantiles; no repetitions.

    Examples
    --------
    >>> sign_weights(np.array([[0.0], [1.0], [2.0], [3.0]]), n_cuts=1).tolist()
    [[1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [1.0, 1.0]]
    """
    columns = [np.ones(len(z))]
    for column in z.T:
        for cut in np.unique(np.quantile(column, np.arange(1, n_cuts + 1) / (n_cuts + 1))):
            signs = np.where(column >= cut, 1.0, -1.0)
            if signs.min() < 0:  # otherwise the constant again
                columns.append(signs)
    return np.unique(np.column_stack(columns), axis=1)[:, ::-1]
