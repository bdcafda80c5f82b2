"""Hilbert-Schmidt independence criterion: unconditional independence of x and y."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import BaseCITest
from ..errors import ParameterError
from ..inputs import CIData
from ..null import gamma_sf, permutation_pvalue
from ..null.resampling import draws_option
from ..numeric.kernels import center, gaussian_gram, median_width, standardize, width_option
from ..numeric.memory import require_memory
from ..numeric.streams import generator
from ..parameters import choice
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["HSIC"]

_NEGLIGIBLE = 1e-10  # share of the largest eigenvalue below which one is rounding; by hand


@register(
    "hsic",
    tags=TestTags(
        summary="Hilbert-Schmidt independence criterion, without conditioning",
        conditional=False,
        cost="O(n^2)",
        standing=58,
        assumes="nothing of the distributions of X and Y",
        fails=(
            "to see high-frequency dependence when the width is the median distance, and loses "
            "power as columns are added"
        ),
    ),
)
class HSIC(BaseCITest):
    """Hilbert-Schmidt independence criterion with Gaussian kernels.

    The statistic is n times the biased estimate: the mean product of the centred kernel matrices times n.

    Notes
    -----
    The effect size is the statistic divided by the geometric mean of its values for x with x and y with y, in
    [0, 1] (centred kernel alignment).

    References
    ----------
    A. Gretton, K. Fukumizu, C. H. Teo, L. Song, B. Schölkopf and A. Smola. A kernel statistical test of
    independence. NeurIPS, 2007.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> HSIC().test(x, x**2 + rng.normal(size=200)).reject(), HSIC().test(x, rng.normal(size=200)).reject()
    (True, False)
    """

    width: str | float | tuple[float, float] = width_option(
        "median",
        "Width of the kernels of the standardised ``x`` and ``y``; ``'median'`` is their median distance.",
        "median",
        n_kernels=2,
    )
    null: str = choice(
        "gamma",
        "Null distribution; ``'gamma'`` matches two moments, ``'permutation'`` permutes ``y`` and is valid "
        "at every sample size.",
        "gamma",
        "permutation",
    )
    n_permutations: int = draws_option(999, "Draws for the permutation null.")

    def _run(self, data: CIData, seed: int) -> Outcome:
        if data.z is not None:
            raise ParameterError("'hsic' tests unconditional independence, without z; use 'kcit' or 'rcit'")
        require_memory(data.n, 5, method="hsic", instead="rcit")
        n = data.n
        x, y = standardize(data.x.values), standardize(data.y.values)
        widths = self._widths(x, y)
        raw_x, raw_y = gaussian_gram(x, widths[0]), gaussian_gram(y, widths[1])
        gram_x, gram_y = center(raw_x), center(raw_y)
        norms = float(np.linalg.norm(gram_x)), float(np.linalg.norm(gram_y))
        diagnostics: dict[str, Any] = {"width_x": widths[0], "width_y": widths[1]}
        if min(norms) <= 1e-12 * n:
            message = "a kernel is constant: its width is too large for the data; the p-value is one"
            return Outcome(0.0, 1.0, NullDistribution("gamma"), 0.0, diagnostics, (message,))
        total = max(float(np.vdot(gram_x, gram_y)), 0.0)
        statistic, effect = total / n, min(total / (norms[0] * norms[1]), 1.0)
        if self.null == "permutation":
            draws = _permuted(gram_x, gram_y, self.n_permutations, generator(seed, "hsic")) / n
            null = NullDistribution("permutation", {"n_permutations": self.n_permutations})
            return Outcome(statistic, permutation_pvalue(statistic, draws), null, effect, diagnostics)
        mean, variance = _gamma_moments(raw_x, raw_y, gram_x, gram_y)
        null = NullDistribution("gamma", {"shape": mean**2 / variance, "scale": variance / mean})
        return Outcome(statistic, gamma_sf(statistic, mean, variance), null, effect, diagnostics)

    def _widths(self, x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
        if isinstance(self.width, str):
            return median_width(x), median_width(y)
        first, second = np.broadcast_to(np.asarray(self.width, dtype=np.float64), (2,))
        return float(first), float(second)


def _gamma_moments(
    raw_x: np.ndarray, raw_y: np.ndarray, gram_x: np.ndarray, gram_y: np.ndarray
) -> tuple[float, float]:
    """Mean and variance under independence of n times the biased estimate, for kernels with k(x, x) = 1."""
    n = len(raw_x)
    off_x = (float(raw_x.sum()) - n) / (n * (n - 1))
    off_y = (float(raw_y.sum()) - n) / (n * (n - 1))
    mean = (1.0 - off_x) * (1.0 - off_y)
    squares = (gram_x * gram_y) ** 2
    off_diagonal = (float(squares.sum()) - float(np.trace(squares))) / (n * (n - 1))
    variance = 2.0 * off_diagonal * n * (n - 4) * (n - 5) / ((n - 1) * (n - 2) * (n - 3))
    return mean, variance


def _permuted(
    gram_x: np.ndarray, gram_y: np.ndarray, n_permutations: int, rng: np.random.Generator
) -> np.ndarray:
    """Inner products of the Gram matrices after permuting one, through their leading eigenvectors."""
    factor_x, factor_y = _factor(gram_x), _factor(gram_y)
    n = len(gram_x)
    return np.array(
        [float(((factor_x.T @ factor_y[rng.permutation(n)]) ** 2).sum()) for _ in range(n_permutations)]
    )


def _factor(gram: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(gram)
    kept = values > _NEGLIGIBLE * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])
