"""Partial correlation: Fisher's z for single columns, Wilks' Lambda for several."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special, stats

from ..base import BaseCITest
from ..errors import TooFewRowsError
from ..inputs import CIData
from ..null import normal_sf
from ..numeric.linear import orthonormal_basis, residuals, unit_columns
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["FisherZ", "SpearmanZ"]

# Two roundings below one: the logarithms of Fisher and Wilks stay finite.
_LARGEST_CORRELATION = 1.0 - np.finfo(np.float64).eps


@register(
    "fisher-z",
    tags=TestTags(
        summary="partial correlation; Wilks' Lambda for several columns",
        mixed=False,
        linear="the tie of X and Y to Z must be linear",
        assumes="linear dependence on Z and roughly Gaussian residuals",
        fails=(
            "by rejecting true nulls when Z acts nonlinearly on X and Y, and by missing "
            "dependence without correlation, such as y = x² + noise"
        ),
    ),
)
class FisherZ(BaseCITest):
    """Partial correlation test.

    With one column in each of ``x`` and ``y`` the statistic is Fisher's z of the partial correlation,
    compared with the standard normal distribution. With several it is Rao's F of Wilks' Lambda, which tests
    that all partial canonical correlations are zero. Nothing here is random.

    Notes
    -----
    The effect size is the partial correlation with its sign; for several columns the square root of one
    minus the t-th root of Lambda, which is the partial multiple correlation when one side has a single
    column.

    References
    ----------
    R. A. Fisher. The distribution of the partial correlation coefficient. Metron, 1924.
    C. R. Rao. An asymptotic expansion of the distribution of Wilks' criterion. Bull. Int. Stat. Inst., 1951.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=500)
    >>> x, y = z + rng.normal(size=500), z + rng.normal(size=500)
    >>> FisherZ().test(x, y).reject(), FisherZ().test(x, y, z).reject()
    (True, False)
    """

    def _transform(self, values: np.ndarray) -> np.ndarray:
        return values

    def _run(self, data: CIData, seed: int) -> Outcome:
        basis = None
        if data.z is not None:
            basis = orthonormal_basis(unit_columns(self._transform(data.z.values)))
        n_conditions = 0 if basis is None else basis.shape[1]
        x = residuals(unit_columns(self._transform(data.x.values)), basis)
        y = residuals(unit_columns(self._transform(data.y.values)), basis)
        span_x, span_y = orthonormal_basis(x), orthonormal_basis(y)
        for role, span in (("x", span_x), ("y", span_y)):
            if span.shape[1] == 0:
                return _nothing_left(role)
        _require_rows(data.n, n_conditions, span_x.shape[1], span_y.shape[1])
        correlations = np.clip(np.linalg.svd(span_x.T @ span_y, compute_uv=False), 0.0, _LARGEST_CORRELATION)
        warnings: tuple[str, ...] = ()
        if correlations.max() >= 1.0 - 1e-12:
            warnings = ("a linear combination of x is one of y and z: their partial correlation is one",)
        if x.shape[1] == y.shape[1] == 1:
            return _fisher(float(correlations[0]) * _sign(x, y), data.n - n_conditions, warnings)
        return _wilks(correlations, span_x.shape[1], span_y.shape[1], data.n - 1 - n_conditions, warnings)


@register(
    "spearman-z",
    tags=TestTags(
        summary="partial correlation of ranks",
        mixed=False,
        cost="O(n log n)",
        linear="ties must be linear in ranks",
        assumes="monotone relations that are linear between ranks",
        fails=(
            "by rejecting true nulls when Z acts on X and Y in a way that is not monotone, and by "
            "missing dependence without rank correlation"
        ),
    ),
)
class SpearmanZ(FisherZ):
    """Partial rank correlation test: `FisherZ` on the ranks of every column.

    Invariant under increasing transformations of each column, and not misled by heavy tails or outliers. It
    removes what the ranks of ``z`` explain linearly of the ranks of ``x`` and ``y``, no more.

    References
    ----------
    E. C. Fieller, H. O. Hartley and E. S. Pearson. Tests for rank correlation coefficients. Biometrika, 1957.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> SpearmanZ().test(np.exp(5 * x), x + rng.normal(size=200)).reject()
    True
    """

    def _transform(self, values: np.ndarray) -> np.ndarray:
        return stats.rankdata(values, axis=0)


def _sign(x: np.ndarray, y: np.ndarray) -> float:
    return -1.0 if float(x[:, 0] @ y[:, 0]) < 0 else 1.0


def _fisher(r: float, n_free: int, warnings: tuple[str, ...]) -> Outcome:
    z = math.sqrt(n_free - 3) * math.atanh(r)
    diagnostics: dict[str, Any] = {"partial_correlation": r, "df": n_free - 3}
    return Outcome(z, normal_sf(z), NullDistribution("normal"), r, diagnostics, warnings)


def _wilks(correlations: np.ndarray, p: int, q: int, n_free: int, warnings: tuple[str, ...]) -> Outcome:
    """Rao's F approximation, exact when one of the dimensions is at most two."""
    log_lambda = float(np.log1p(-(correlations**2)).sum())
    root = math.sqrt((p * p * q * q - 4) / (p * p + q * q - 5)) if p * p + q * q > 5 else 1.0
    df1 = p * q
    df2 = (n_free - (p + q + 1) / 2) * root - p * q / 2 + 1
    explained = -math.expm1(log_lambda / root)
    f = explained / (1.0 - explained) * df2 / df1
    # The tail of F as an incomplete beta function of the unexplained part keeps its digits far out.
    pvalue = float(special.betainc(df2 / 2, df1 / 2, math.exp(log_lambda / root)))
    return Outcome(
        statistic=f,
        pvalue=pvalue,
        null=NullDistribution("f", {"df1": df1, "df2": df2}),
        effect_size=math.sqrt(explained),
        diagnostics={"canonical_correlations": correlations, "log_wilks_lambda": log_lambda},
        warnings=warnings,
    )


def _nothing_left(role: str) -> Outcome:
    message = f"{role} is a linear function of z: nothing of it is left to test, and the p-value is one"
    return Outcome(0.0, 1.0, NullDistribution("normal"), 0.0, {}, (message,))


def _require_rows(n: int, conditions: int, p: int, q: int) -> None:
    needed = conditions + p + q + 2
    if n < needed:
        raise TooFewRowsError(
            f"partial correlation with {p} column(s) in x, {q} in y and {conditions} in z needs at least "
            f"{needed} rows, got {n}; use fewer columns or a test that regularises, such as method='spectral'"
        )
