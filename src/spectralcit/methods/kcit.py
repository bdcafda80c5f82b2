"""Kernel conditional independence test of Zhang et al."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..base import BaseCITest
from ..inputs import CIData
from ..nuisance.gaussian_process import marginal_likelihood_kernel
from ..null import chi2_mixture_sf, gamma_sf
from ..numeric.kernels import (
    center,
    empirical_width,
    empirical_width_unconditional,
    gaussian_gram,
    linear_gram,
    median_width,
    ridge_residual_gram,
    standardize,
    width_option,
)
from ..numeric.memory import require_memory
from ..parameters import choice, real
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["KCIT"]

_NEGLIGIBLE = 1e-6  # share of the largest eigenvalue below which a weight of the null is dropped; by hand
# Below the first, the ridge drowns in the rounding of a Gram matrix; above the second, larger than any
# eigenvalue of one, the regression removes nothing.
_RIDGES = (1e-9, 1e9)
# What the regression leaves of each pair of columns adds up in the sum over all pairs.
_SEVERAL_COLUMNS = (
    "kcit rejects true nulls when x and y both have several columns (5 x 5 columns given 5, 300 rows: 30 of "
    "30 at level .05); use 'spectral', which held its level there"
)


@register(
    "kcit",
    tags=TestTags(
        summary="kernel conditional independence test (Zhang et al. 2011)",
        symmetric=False,
        cost="O(n^3)",
        standing=60,
        local=True,
        aliases=("kci",),
        assumes=("kernel ridge with the given width and ridge removes Z; bias that is left grows with n"),
        fails=(
            "when Z has many columns, when X and Y both have several, and when the regression is biased, as "
            "under strong confounding"
        ),
    ),
)
class KCIT(BaseCITest):
    """Kernel conditional independence test.

    Kernel ridge regression on ``z`` removes what ``z`` explains of the features of (x, z) and of ``y``; the
    statistic is the squared Hilbert-Schmidt norm of the cross-covariance of the residuals. Without ``z`` it
    is the kernel independence test with the same kernels. Nothing here is random.

    Notes
    -----
    The effect size is the statistic divided by the geometric mean of its values for x with x and y with y:
    the alignment of the two residual kernels, in [0, 1].

    References
    ----------
    K. Zhang, J. Peters, D. Janzing and B. Schölkopf. Kernel-based conditional independence test and
    application in causal discovery. UAI, 2011.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=200)
    >>> x, y = z + rng.normal(size=200), z**2 + rng.normal(size=200)
    >>> KCIT().test(x, y, z).reject(), KCIT().test(x, y + x**2, z).reject()
    (False, True)
    """

    width: str | float | tuple[float, float, float] = width_option(
        "empirical",
        "Width of the kernels of (x, z), ``y`` and ``z``, whose columns are standardised first; "
        "``'empirical'`` is the authors' rule, ``'median'`` the median distance.",
        "empirical",
        "median",
        n_kernels=3,
    )
    kernel: str = choice("gaussian", "Kind of all three kernels.", "gaussian", "linear")
    null: str = choice(
        "gamma",
        "Null distribution; ``'gamma'`` matches two moments, ``'spectrum'`` computes the tail of the "
        "weighted sum of chi-squared variables exactly from its eigenvalues, where the paper simulates it.",
        "gamma",
        "spectrum",
    )
    regression: str = choice(
        "ridge",
        "``'ridge'`` uses the given `ridge` and width; ``'gp'`` chooses width and ridge of the regressions "
        "on ``z`` by the marginal likelihood of a Gaussian process, separately for (x, z) and for ``y``.",
        "ridge",
        "gp",
    )
    ridge: float = real(1e-3, "Regularisation of the regression on ``z``.", least=_RIDGES[0], most=_RIDGES[1])

    def _run(self, data: CIData, seed: int) -> Outcome:
        require_memory(data.n, 8, method="kcit", instead="rcit")
        x, y = standardize(data.x.values), standardize(data.y.values)
        if data.z is None:
            return self._unconditional(x, y)
        z = standardize(data.z.values)
        # Half of z inside the features of x makes the test see dependence that shows only for some z.
        x = np.hstack([x, 0.5 * z])
        widths = self._widths((x, y, z), empirical_width(*z.shape))
        gram_x, gram_y = (center(self._gram(v, w)) for v, w in zip((x, y), widths, strict=False))
        diagnostics: dict[str, Any] = {"width_x": widths[0], "width_y": widths[1]}
        if _alignment(gram_x, gram_y) is None:
            return _constant_kernel(diagnostics)
        if self.regression == "gp":
            left = []
            for role, gram in (("x", gram_x), ("y", gram_y)):
                width, ridge = marginal_likelihood_kernel(z, gram)
                diagnostics |= {f"width_z_for_{role}": width, f"ridge_for_{role}": ridge}
                left.append(ridge_residual_gram(gram, gaussian_gram(z, width), ridge))
            gram_x, gram_y = left
        else:
            gram_z = center(self._gram(z, widths[2]))
            gram_x = ridge_residual_gram(gram_x, gram_z, self.ridge)
            gram_y = ridge_residual_gram(gram_y, gram_z, self.ridge)
            diagnostics |= {"width_z": widths[2], "ridge": self.ridge}
        outcome = self._conditional_outcome(gram_x, gram_y, diagnostics)
        if min(data.x.n_columns, data.y.n_columns) > 1:
            return replace(outcome, warnings=(*outcome.warnings, _SEVERAL_COLUMNS))
        return outcome

    def _conditional_outcome(self, gram_x: np.ndarray, gram_y: np.ndarray, diagnostics: dict) -> Outcome:
        effect = _alignment(gram_x, gram_y)
        gram_x *= gram_y  # the Gram matrix of the products of residual features
        statistic = max(float(gram_x.sum()), 0.0)
        if effect is None:
            return _constant_kernel(diagnostics)
        if self.null == "spectrum":
            return _spectrum_outcome(statistic, np.linalg.eigvalsh(gram_x), effect, diagnostics)
        # Trace and squared norm of that matrix are the two moments; no eigenvalue is needed.
        return _gamma_outcome(
            statistic, float(np.trace(gram_x)), 2.0 * float((gram_x**2).sum()), effect, diagnostics
        )

    def _unconditional(self, x: np.ndarray, y: np.ndarray) -> Outcome:
        n = len(x)
        widths = [
            self._widths((v, v, v), empirical_width_unconditional(*v.shape))[i] for i, v in enumerate((x, y))
        ]
        gram_x, gram_y = (center(self._gram(v, w)) for v, w in zip((x, y), widths, strict=True))
        diagnostics: dict[str, Any] = {"width_x": widths[0], "width_y": widths[1]}
        effect = _alignment(gram_x, gram_y)
        if effect is None:
            return _constant_kernel(diagnostics)
        statistic = max(float((gram_x * gram_y).sum()), 0.0)
        if self.null == "spectrum":
            products = np.outer(_leading(np.linalg.eigvalsh(gram_x)), _leading(np.linalg.eigvalsh(gram_y)))
            return _spectrum_outcome(statistic, products.ravel() / n, effect, diagnostics)
        mean = float(np.trace(gram_x) * np.trace(gram_y)) / n
        variance = 2.0 * float((gram_x**2).sum() * (gram_y**2).sum()) / n**2
        return _gamma_outcome(statistic, mean, variance, effect, diagnostics)

    def _gram(self, values: np.ndarray, width: float) -> np.ndarray:
        return linear_gram(values) if self.kernel == "linear" else gaussian_gram(values, width)

    def _widths(self, blocks: tuple[np.ndarray, ...], empirical: float) -> list[float]:
        if self.width == "empirical":
            return [empirical] * 3
        if self.width == "median":
            return [median_width(block) for block in blocks]
        return [float(w) for w in np.broadcast_to(np.asarray(self.width, dtype=np.float64), (3,))]


def _alignment(gram_x: np.ndarray, gram_y: np.ndarray) -> float | None:
    """Cosine between two Gram matrices; None when one of them is zero up to rounding."""
    norms = float(np.linalg.norm(gram_x)), float(np.linalg.norm(gram_y))
    if min(norms) <= 1e-12:
        return None
    return min(max(float(np.vdot(gram_x, gram_y)) / (norms[0] * norms[1]), 0.0), 1.0)


def _leading(eigenvalues: np.ndarray) -> np.ndarray:
    return eigenvalues[eigenvalues > _NEGLIGIBLE * eigenvalues[-1]]


def _gamma_outcome(
    statistic: float, mean: float, variance: float, effect: float, diagnostics: dict
) -> Outcome:
    null = NullDistribution("gamma", {"shape": mean**2 / variance, "scale": variance / mean})
    return Outcome(statistic, gamma_sf(statistic, mean, variance), null, effect, diagnostics)


def _spectrum_outcome(statistic: float, weights: np.ndarray, effect: float, diagnostics: dict) -> Outcome:
    weights = np.sort(weights[weights > _NEGLIGIBLE * weights.max()])[::-1]
    # The result keeps the leading weights only: a list of thousands would help nobody.
    null = NullDistribution("chi2_mixture", {"weights": weights[:50].tolist(), "n_weights": len(weights)})
    return Outcome(statistic, chi2_mixture_sf(statistic, weights), null, effect, diagnostics)


def _constant_kernel(diagnostics: dict) -> Outcome:
    message = (
        "a kernel is constant after z is removed: the width is too large or z determines the variable; "
        "there is nothing left to test, and the p-value is one"
    )
    return Outcome(0.0, 1.0, NullDistribution("gamma", {}), 0.0, diagnostics, (message,))
