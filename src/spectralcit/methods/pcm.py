"""Projected covariance measure: what x adds to the prediction of y beyond z."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import BaseCITest
from ..inputs import CIData, RowDesign, halves
from ..nuisance.regression import (
    SMALLEST_VARIANCE,
    Regressor,
    cross_fitted_residuals,
    fit_columns,
    folds_option,
    make_regressor,
    predict_columns,
    regressor_option,
)
from ..null import normal_sf
from ..null.clustered import ClusteredMean, clustered_mean
from ..numeric.streams import generator
from ..parameters import integer
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome
from .gcm import correlation

__all__ = ["PCM"]


@register(
    "pcm",
    tags=TestTags(
        summary="projected covariance measure: does x help to predict y beyond z",
        symmetric=False,
        standing=65,
        splits=True,
        honours=("groups", "time", "weights"),
        assumes="Y and the learned function can be regressed on Z well enough on the testing half",
        fails="to see an X that changes only the variance or shape of Y, and loses power at small n",
    ),
)
class PCM(BaseCITest):
    """Projected covariance measure.

    One half of the rows learns the function of (x, z) that carries what ``x`` adds to the prediction of
    ``y``: the regression of ``y`` on (x, z) minus its own regression on ``z``, divided by the conditional
    variance of ``y``. The other half tests whether that function and ``y`` are correlated after ``z`` is
    removed from both, one-sided.

    Notes
    -----
    With several columns in ``y`` each is tested and the smallest p-value multiplied by their number. The
    effect size is the correlation of the residuals of ``y`` and of the learned function, averaged over the
    splits.

    References
    ----------
    A. R. Lundborg, I. Kim, R. D. Shah and R. J. Samworth. The projected covariance measure for
    assumption-lean variable significance testing. Annals of Statistics, 2024.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z, x = rng.normal(size=(2, 600))
    >>> y = z + x**2 + rng.normal(size=600)
    >>> PCM(n_splits=2, random_state=0).test(x, y, z).pvalue < 0.01
    True
    """

    regressor: Regressor = regressor_option()
    n_folds: int = folds_option()
    n_splits: int = integer(
        5,
        "Random splits of the rows. The statistics are averaged and the mean is compared with the standard "
        "normal distribution: valid, somewhat conservative, and much less dependent on the seed than one.",
        most=1000,  # by hand: each split is several regressions, and the seed has long ceased to matter
    )

    def _run(self, data: CIData, seed: int) -> Outcome:
        y, z = data.y.values, None if data.z is None else data.z.values
        design = data.x.values if z is None else np.hstack([data.x.values, z])
        rng = generator(seed, "pcm")
        statistics = np.zeros((self.n_splits, data.y.n_columns))
        correlations = np.zeros_like(statistics)
        n_learn = n_test = 0
        clusters = None if data.design is None else data.design.clusters
        freedom = np.inf
        for split in range(self.n_splits):
            learn, evaluate = halves(data.n, rng, clusters)
            known, held_out = (
                None if data.design is None else data.design.subset(part) for part in (learn, evaluate)
            )
            n_learn, n_test = len(learn), len(evaluate)
            split_seed = int(rng.integers(2**32))
            z_learn, z_test = (None, None) if z is None else (z[learn], z[evaluate])
            projection = learn_projection(self.regressor, design[learn], z_learn, y[learn], split_seed, known)
            left = cross_fitted_residuals(
                self.regressor,
                z_test,
                np.hstack([y[evaluate], projection(design[evaluate], z_test)]),
                n_folds=self.n_folds,
                seed=split_seed,
                rows=held_out,
            )
            for k in range(data.y.n_columns):
                pair = left[:, k], left[:, data.y.n_columns + k]
                if held_out is None:
                    statistics[split, k], correlations[split, k] = _studentised(*pair)
                    continue
                found = clustered_mean(pair[0] * pair[1], held_out)
                if found is not None:
                    statistics[split, k] = found.statistic
                    correlations[split, k] = correlation(*pair, held_out)
                    freedom = min(freedom, found.degrees_of_freedom)
        mean = statistics.mean(axis=0)
        best = int(np.argmax(mean))
        tail, null = normal_sf(float(mean[best]), "greater"), NullDistribution("normal")
        if np.isfinite(freedom):
            tail = ClusteredMean(float(mean[best]), freedom).sf("greater")
            null = NullDistribution("t", {"df": freedom})
        warnings: tuple[str, ...] = ()
        if not correlations.any():
            warnings = ("x adds nothing to the prediction of y: the learned functions do not depend on it",)
        diagnostics: dict[str, Any] = {"split_statistics": statistics, "y_column": best}
        return Outcome(
            statistic=float(mean[best]),
            pvalue=min(tail * len(mean), 1.0),
            null=null,
            effect_size=float(correlations[:, best].mean()),
            diagnostics=diagnostics,
            warnings=warnings,
            n_train=n_learn,
            n_test=n_test,
        )


def learn_projection(
    regressor: Regressor,
    design: np.ndarray,
    z: np.ndarray | None,
    y: np.ndarray,
    seed: int,
    rows: RowDesign | None = None,
) -> Any:
    """Learn the functions of (x, z) to be tested, one per column of y; returns ``f(design, z)``.

    The design holds the columns of x and z. A regressor that can shares its work among the columns of y.
    """
    template = make_regressor(regressor, seed)
    full = fit_columns(template, design, y, rows)
    fitted = predict_columns(full, design)
    # The same regression of the fitted values on z: what of the fit is due to z alone.
    alone = None if z is None else fit_columns(template, z, fitted, rows)
    intercept = fitted.mean(axis=0)

    def direction(new_design: np.ndarray, new_z: np.ndarray | None) -> np.ndarray:
        base = intercept if alone is None or new_z is None else predict_columns(alone, new_z)
        return predict_columns(full, new_design) - base

    learned = direction(design, z)
    agreement = ((y - (fitted - learned)) * learned).sum(axis=0)
    sign = np.where(agreement < 0, -1.0, 1.0)
    squares = (y - fitted) ** 2
    variance = fit_columns(template, design, squares, rows)
    predicted = np.maximum(predict_columns(variance, design), 0.0)
    floor = np.array([_variance_offset(*columns) for columns in zip(predicted.T, squares.T, strict=True)])

    def projection(new_design: np.ndarray, new_z: np.ndarray | None) -> np.ndarray:
        spread = np.maximum(predict_columns(variance, new_design), 0.0) + floor
        return sign * direction(new_design, new_z) / spread

    return projection


def _variance_offset(predicted: np.ndarray, squares: np.ndarray) -> float:
    """Smallest constant to add to the predicted variances that makes standardised squares average one."""
    low = SMALLEST_VARIANCE * float(squares.mean())
    if low == 0.0:
        return 1.0  # y is predicted perfectly: there is no variance to weight by
    if float((squares / (predicted + low)).mean()) <= 1.0:
        return low
    high = float(squares.mean())  # with it alone the average is one already
    for _ in range(50):
        middle = 0.5 * (low + high)
        if float((squares / (predicted + middle)).mean()) > 1.0:
            low = middle
        else:
            high = middle
    return high


def _studentised(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    products = a * b
    deviation = float(products.std())
    scale = math.sqrt(float(a @ a) * float(b @ b))
    if scale == 0.0 or deviation <= 1e-14 * float(np.abs(products).max(initial=0.0)):
        return 0.0, 0.0
    return math.sqrt(len(products)) * float(products.mean()) / deviation, float(a @ b) / scale
