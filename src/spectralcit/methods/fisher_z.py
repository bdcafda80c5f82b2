"""Partial correlation: Fisher's z for single columns, Wilks' Lambda for several."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats

from ..base import BaseCITest
from ..errors import TooFewRowsError
from ..inputs import CIData
from ..nuisance.designed import DesignedSmoother
from ..null import normal_sf
from ..null.bootstrap import Multipliers
from ..null.clustered import student_of_sums
from ..null.joint import joint_p
from ..numeric.grouped import sums_by_group
from ..numeric.linear import orthonormal_basis, orthonormal_columns, residuals, unit_columns
from ..numeric.streams import generator
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["FisherZ", "SpearmanZ"]

# Two roundings below one: the logarithms of Fisher and Wilks stay finite.
_LARGEST_CORRELATION = 1.0 - np.finfo(np.float64).eps
_DRAWS = 1999  # sign vectors for several columns: p-values of 0.05 are fixed to a tenth


@register(
    "fisher-z",
    tags=TestTags(
        summary="partial correlation; Wilks' Lambda for several columns",
        mixed=False,
        honours=("groups", "time", "weights"),
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
    that all partial canonical correlations are zero. Nothing here is random. With ``groups``, ``time`` or
    ``weights`` the variance is cluster-robust (CR2) and tails are Student's; several columns are then
    compared by random signs.

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
        if data.design is not None:
            return _robust(data, self._transform, seed)
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
        honours=("groups", "time", "weights"),
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


def _robust(data: CIData, transform: Callable[[np.ndarray], np.ndarray], seed: int) -> Outcome:
    """Test that residuals of weighted least squares on z are uncorrelated.

    With hat matrix H the sum of products is ``sum_g e_g' v_g`` in the noise e of x, so clusters of e are
    made unit noise again (CR2) and studentised by their sums.
    """
    design = data.design
    assert design is not None
    z = np.zeros((data.n, 0)) if data.z is None else _scaled(transform(data.z.values))
    fixed = orthonormal_columns(z, design.root)
    count = data.n if design.members is None else len(design.members)
    if min(data.n, count) <= 3 or data.n <= fixed.shape[1] + 2:
        raise TooFewRowsError(f"{count} groups of {data.n} rows are too few for {z.shape[1]} columns in z")
    smoother = DesignedSmoother(fixed, name="linear", design=design)
    x, y = (
        orthonormal_basis(smoother.residuals(_scaled(transform(block.values)), 0.0) / np.sqrt(data.n))
        for block in (data.x, data.y)
    )
    for role, span in (("x", x), ("y", y)):
        if span.shape[1] == 0:
            text = f"{role} is a linear function of z: nothing of it is left to test, and the p-value is one"
            return Outcome(0.0, 1.0, NullDistribution("normal"), 0.0, {}, (text,))
    noise, cross = smoother.unit_noise(x, 0.0, 1.0), x.T @ y
    effect = float(np.linalg.svd(cross, compute_uv=False)[0])
    if x.shape[1] == y.shape[1] == 1:
        products = noise[:, 0] * y[:, 0]
        sums = products if design.clusters is None else sums_by_group(products, design.clusters)
        found = student_of_sums(float(cross[0, 0]), sums, design)
        assert found is not None
        left = [smoother.residuals(_scaled(transform(block.values)), 0.0)[:, 0] for block in (data.x, data.y)]
        sign = 1.0 if float(left[0] @ left[1]) >= 0 else -1.0
        null = NullDistribution("t", {"df": found.degrees_of_freedom})
        statistic = sign * abs(found.statistic)
        return Outcome(statistic, found.sf(), null, sign * effect, {"partial_correlation": sign * effect})
    multipliers = Multipliers(
        data.n, _DRAWS, generator(seed, "signs"), max_groups=data.n, clusters=design.clusters
    )
    sums = multipliers.sums_of_products(noise, y)
    statistic = float(np.square(cross).sum()) / data.n
    joint = joint_p(np.array([statistic]), [multipliers.null_of_sums(sums)], np.ones(1))
    null = NullDistribution("bootstrap", {"n_draws": _DRAWS})
    return Outcome(statistic * data.n, joint.pvalue, null, effect, {})


def _scaled(values: np.ndarray) -> np.ndarray:
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
