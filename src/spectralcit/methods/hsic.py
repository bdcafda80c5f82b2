"""Hilbert-Schmidt independence criterion: unconditional independence of x and y."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import BaseCITest
from ..errors import ParameterError
from ..inputs import CIData
from ..null import gamma_sf, permutation_pvalue
from ..numeric.kernels import center, gaussian_gram, median_width, standardize
from ..numeric.memory import require_memory
from ..numeric.streams import generator
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["HSIC"]

_NEGLIGIBLE = 1e-10


@register(
    "hsic",
    tags=TestTags(
        summary="Hilbert-Schmidt independence criterion, without conditioning",
        conditional=False,
        cost="O(n^2)",
        standing=58,
        assumes="independent rows",
        fails=(
            "to see high-frequency dependence when the width is the median distance, and loses "
            "power as columns are added"
        ),
    ),
)
class HSIC(BaseCITest):
    """Hilbert-Schmidt independence criterion with Gaussian kernels.

    The statistic is n times the biased estimate: the mean product of the centred kernel matrices times n.

    Parameters
    ----------
    width
        ``"median"`` (median distance of the standardised columns), a number, or one number each for ``x``
        and ``y``.
    null
        ``"gamma"`` matches two moments; ``"permutation"`` permutes ``y`` and is valid at every sample size.
    n_permutations
        Draws for the permutation null.
    random_state, missing
        As in `BaseCITest`.

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

    def __init__(
        self,
        *,
        width: str | float | tuple[float, float] = "median",
        null: str = "gamma",
        n_permutations: int = 999,
        random_state: int | None = None,
        missing: str = "raise",
    ) -> None:
        super().__init__(random_state=random_state, missing=missing)
        self.width = width
        self.null = null
        self.n_permutations = n_permutations

    def _run(self, data: CIData, seed: int) -> Outcome:
        if data.z is not None:
            raise ParameterError("'hsic' tests unconditional independence, without z; use 'kcit' or 'rcit'")
        if self.null not in ("gamma", "permutation"):
            raise ParameterError(f"null must be 'gamma' or 'permutation', got {self.null!r}")
        if self.n_permutations < 1:
            raise ParameterError(f"n_permutations must be at least 1, got {self.n_permutations!r}")
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
            if self.width != "median":
                raise ParameterError(f"width must be 'median' or numbers, got {self.width!r}")
            return median_width(x), median_width(y)
        if np.shape(self.width) not in ((), (2,)):
            raise ParameterError(f"width must be one number or two, got {self.width!r}")
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
