"""Randomised conditional independence tests: KCIT with random Fourier features, linear in the rows."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..base import BaseCITest
from ..inputs import CIData
from ..null import chi2_mixture_sf, chi2_sf, permutation_pvalue
from ..null.resampling import draws_option
from ..numeric.kernels import median_width, standardize
from ..numeric.streams import generator
from ..parameters import choice, flag, integer
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["RCIT", "RCoT", "fourier_features", "partial_cross_covariance"]

_ROWS_FOR_WIDTH = 300  # by hand: the median distance needs no more
_NUM_F = 100  # as published
_RIDGE = 1e-10  # as published: keeps collinear features from being divided by zero, no more
# Most features of z, and most products of features of x and y: the covariance of as many takes 200 MB, and
# its eigenvectors one or two minutes of one core.
_MOST_FEATURES = 5_000


@register(
    "rcit",
    tags=TestTags(
        summary="KCIT with random Fourier features (Strobl et al. 2019)",
        symmetric=False,
        fourier=True,
        assumes="its random features of Z explain the features of X and Y",
        fails="with strong linear or high-dimensional confounding, and by depending on the seed",
    ),
)
class RCIT(BaseCITest):
    """Randomised conditional independence test.

    Random Fourier features of ``x``, of (y, z) and of ``z`` stand for the kernels of KCIT; the statistic is
    n times the squared norm of the partial cross-covariance of the first two given the third. Without ``z``
    it is the randomised independence test.

    Notes
    -----
    The effect size is the root mean square of the partial correlations between features.

    References
    ----------
    E. V. Strobl, K. Zhang and S. Visweswaran. Approximate kernel-based conditional independence tests for
    fast non-parametric causal discovery. Journal of Causal Inference, 2019.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=1000)
    >>> x, y = z + rng.normal(size=1000), z**2 + rng.normal(size=1000)
    >>> RCIT(random_state=0).test(x, y, z).reject(), RCIT(random_state=0).test(x, y + x, z).reject()
    (False, True)
    """

    _joins_z: ClassVar[bool] = True

    num_f: int | None = integer(
        None,
        "Number of features of ``z``; with None the published 100, but at most a quarter of the rows, since "
        "a regression on as many features as rows leaves no residuals.",
        most=_MOST_FEATURES,
        also=(None,),
    )
    num_f2: int = integer(5, "Number of features of ``x`` and of (y, z).", most=math.isqrt(_MOST_FEATURES))
    approx: str = choice(
        "exact",
        "Null distribution. ``'exact'``, ``'lpb'`` (Lindsay-Pilla-Basak), ``'hbe'`` (Hall-Buckley-Eagleson) "
        "and ``'sw'`` (Satterthwaite-Welch) are tails of one chi-squared mixture, the first computed exactly "
        "and the others as published; ``'chi2'`` normalises the statistic by its covariance; "
        "``'permutation'`` permutes the residuals of ``x``.",
        "exact",
        "lpb",
        "hbe",
        "sw",
        "chi2",
        "permutation",
    )
    df_correction: bool = flag(
        True,
        "The regression on ``z`` takes up to `num_f` degrees of freedom, and residual products look smaller "
        "than they are. The correction rescales the null by what the leverages of the rows say; without it "
        "(as published) the test is liberal unless n is large compared with `num_f`. The statistic is the "
        "same.",
    )
    n_permutations: int = draws_option(999, "Draws for ``approx='permutation'``.")

    def _run(self, data: CIData, seed: int) -> Outcome:
        rng = generator(seed, "rcit")
        x, y = standardize(data.x.values), standardize(data.y.values)
        features_z = None
        if data.z is not None:
            z = standardize(data.z.values)
            num_f = min(_NUM_F, data.n // 4) if self.num_f is None else self.num_f
            features_z = standardize(fourier_features(z, num_f, rng))
            if self._joins_z:
                y = np.hstack([y, z])
        features_x = standardize(fourier_features(x, self.num_f2, rng))
        features_y = standardize(fourier_features(y, self.num_f2, rng))
        covariance, left_x, left_y, leverages = partial_cross_covariance(features_x, features_y, features_z)
        return self._outcome(covariance, left_x, left_y, leverages, rng)

    def _outcome(
        self,
        covariance: np.ndarray,
        left_x: np.ndarray,
        left_y: np.ndarray,
        leverages: np.ndarray,
        rng: np.random.Generator,
    ) -> Outcome:
        n, df = len(left_x), float(leverages.sum())
        statistic = n * float((covariance**2).sum())
        warnings: tuple[str, ...] = ()
        if df > n / 2:
            warnings = (f"the regression on z uses {df:.0f} of {n} degrees of freedom; use a smaller num_f",)
        scale = _mean_square(left_x) * _mean_square(left_y)
        if scale <= 1e-20:
            message = "z determines the features of x or y: nothing is left to test, and the p-value is one"
            return Outcome(0.0, 1.0, NullDistribution("chi2_mixture"), 0.0, {}, (*warnings, message))
        effect = min(math.sqrt(float((covariance**2).mean()) / scale), 1.0)
        diagnostics: dict[str, Any] = {"regression_df": df}
        if self.approx == "permutation":
            draws = [
                n * float(((left_x[rng.permutation(n)].T @ left_y / (n - 1)) ** 2).sum())
                for _ in range(self.n_permutations)
            ]
            pvalue = permutation_pvalue(statistic, draws)
            null = NullDistribution("permutation", {"n_permutations": self.n_permutations})
            return Outcome(statistic, pvalue, null, effect, diagnostics, warnings)
        products = (left_x[:, :, None] * left_y[:, None, :]).reshape(n, -1)
        moments = products.T @ products / n
        if self.df_correction:
            # For equal variances: expected statistic over the expected trace of the uncorrected moments.
            moments *= (n / (n - 1)) ** 2 * max(n - df, 1.0) / max(float(((1.0 - leverages) ** 2).sum()), 1.0)
        if self.approx == "chi2":
            values, vectors = np.linalg.eigh(moments)
            kept = values > 1e-10 * values[-1]
            statistic = n * float(((vectors[:, kept].T @ covariance.ravel()) ** 2 / values[kept]).sum())
            null = NullDistribution("chi2", {"df": int(kept.sum())})
            return Outcome(
                statistic, chi2_sf(statistic, int(kept.sum())), null, effect, diagnostics, warnings
            )
        weights = np.linalg.eigvalsh(moments)
        weights = weights[weights > 1e-12 * weights[-1]]
        null = NullDistribution("chi2_mixture", {"weights": weights[::-1].tolist()})
        pvalue = chi2_mixture_sf(statistic, weights, self.approx)  # type: ignore[arg-type]
        return Outcome(statistic, pvalue, null, effect, diagnostics, warnings)


@register(
    "rcot",
    tags=TestTags(
        summary="RCIT without z among the features of y; for larger z",
        standing=55,
        fourier=True,
        assumes="its random features of Z explain the features of X and Y",
        fails="with strong linear or high-dimensional confounding, and by depending on the seed",
    ),
)
class RCoT(RCIT):
    """Randomised conditional correlation test: `RCIT` with features of ``y`` alone in place of (y, z).

    Faster to lose its power than RCIT where the dependence changes with ``z``, but better calibrated when
    ``z`` has many columns.

    References
    ----------
    E. V. Strobl, K. Zhang and S. Visweswaran. As for RCIT, 2019.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(1000, 3))
    >>> x, y = z[:, 0] + rng.normal(size=1000), z[:, 1] + rng.normal(size=1000)
    >>> RCoT(random_state=0).test(x, y, z).reject(), RCoT(random_state=0).test(x, y + x, z).reject()
    (False, True)
    """

    _joins_z: ClassVar[bool] = False


def fourier_features(values: np.ndarray, n_features: int, rng: np.random.Generator) -> np.ndarray:
    """Random cosines, n times n_features, whose products approximate a Gaussian kernel of median width."""
    width = median_width(_spread_rows(values))
    frequencies = rng.standard_normal((values.shape[1], n_features)) / width
    phases = rng.uniform(0.0, 2.0 * np.pi, n_features)
    angles = values @ frequencies
    angles += phases
    return math.sqrt(2.0) * np.cos(angles, out=angles)


def _spread_rows(values: np.ndarray) -> np.ndarray:
    """Return evenly spaced rows in the order of their values: the same ones in whatever order rows came."""
    n = len(values)
    if n <= _ROWS_FOR_WIDTH:
        return values
    return values[np.lexsort(values.T)[np.linspace(0, n - 1, _ROWS_FOR_WIDTH).astype(int)]]


def partial_cross_covariance(
    x: np.ndarray, y: np.ndarray, z: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Cross-covariance of centred features `x` and `y` after a nearly unpenalised regression on `z`.

    Also their residuals, and the leverages: the share of each row in its own prediction, whose sum is the
    degrees of freedom that the regression used.
    """
    n = len(x)
    covariance = x.T @ y / (n - 1)
    if z is None:
        return covariance, x, y, np.full(n, 1.0 / n)
    # One symmetric eigendecomposition gives the slopes and the degrees of freedom. Random features are often
    # collinear up to rounding (a smooth kernel needs fewer than num_f): the ridge keeps their shares finite.
    values, vectors = np.linalg.eigh(z.T @ z / (n - 1))
    shrunk = np.maximum(values, 0.0) + _RIDGE
    cross_x, cross_y = vectors.T @ (z.T @ x) / (n - 1), vectors.T @ (z.T @ y) / (n - 1)
    rotated = z @ (vectors / np.sqrt(shrunk))
    left_x = x - rotated @ (cross_x / np.sqrt(shrunk)[:, None])
    left_y = y - rotated @ (cross_y / np.sqrt(shrunk)[:, None])
    covariance = covariance - cross_x.T @ (cross_y / shrunk[:, None])
    leverages = 1.0 / n + np.einsum("ij,ij->i", rotated, rotated) / (n - 1)
    return covariance, left_x, left_y, np.minimum(leverages, 1.0)


def _mean_square(values: np.ndarray) -> float:
    return float((values**2).mean())
