"""The statistic of the published test, its pruning and its chi-square null.

All functions take features that are already whitened on the training part and work in float64 NumPy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg
import scipy.stats

from ..errors import ParameterError
from ..null.bootstrap import Multipliers
from ..null.joint import joint_p
from ..numeric.streams import generator
from ..numeric.whiten import FloatArray

__all__ = [
    "SpectralStatistic",
    "StatisticName",
    "partial_cross_covariance",
    "projector_cross_covariance",
    "projector_diagonal",
    "retained_rank",
    "row_shares",
    "signed_pvalue",
    "spectral_statistic",
]

_SIGNS = 1999  # sign vectors: p-values of 0.05 are fixed to a tenth

StatisticName = Literal["frobenius", "projector"]


def _centred(features: FloatArray) -> FloatArray:
    features = np.asarray(features, dtype=np.float64)
    return features - features.mean(axis=0)


def partial_cross_covariance(u: FloatArray, v: FloatArray, w: FloatArray | None = None) -> FloatArray:
    """``C_UV - C_UW C_WV`` of features centred on the rows given.

    With ``w`` white (``C_WW = I``) the second term is the part of ``C_UV`` that a linear regression of both
    on ``w`` explains. ``w=None`` gives ``C_UV``.
    """
    n = u.shape[0]
    u, v = _centred(u), _centred(v)
    cross = u.T @ v / n
    if w is None:
        return np.asarray(cross, dtype=np.float64)
    w = _centred(w)
    return np.asarray(cross - (u.T @ w / n) @ (w.T @ v / n), dtype=np.float64)


def projector_diagonal(w: FloatArray) -> FloatArray:
    """Diagonal of the orthogonal projector off the columns of ``w`` (centred).

    Row ``i`` gets one minus its leverage in a regression on ``w``. Directions of ``w`` that are zero up to
    rounding do not count.
    """
    left, scale, _ = np.linalg.svd(_centred(w), full_matrices=False)
    cutoff = scale.max(initial=0.0) * max(w.shape) * np.finfo(np.float64).eps
    return 1.0 - np.sum(left[:, scale > cutoff] ** 2, axis=1)


def projector_cross_covariance(u: FloatArray, v: FloatArray, w: FloatArray | None = None) -> FloatArray:
    """``cov(q u, v)`` with ``q_i`` the diagonal of the projector off ``w``.

    The proof of the paper's validity theorem keeps only the diagonal of the projector, and the authors'
    program computes that approximation. It barely corrects for ``Z``: ``q_i`` is close to one for every row.
    """
    if w is None:
        return partial_cross_covariance(u, v)
    weighted = projector_diagonal(w)[:, None] * _centred(u)
    return partial_cross_covariance(weighted, v)


# The matrix behind each statistic: of the paper's text, and of the authors' program.
_MATRICES = {"frobenius": partial_cross_covariance, "projector": projector_cross_covariance}


def row_shares(
    u: FloatArray, v: FloatArray, w: FloatArray | None = None, *, kind: StatisticName = "frobenius"
) -> FloatArray:
    """The share of each row in what the statistic, before pruning, is expected to be under random signs.

    It is the squared norm of the row's product of ``u`` and ``v``, freed of ``w`` as the statistic does it.
    """
    if kind == "projector" and w is not None:
        left, right = _centred(projector_diagonal(w)[:, None] * _centred(u)), _centred(v)
    else:
        left, right = _freed(u, v, w)
    parts = np.sum(left**2, axis=1) * np.sum(right**2, axis=1)
    total = parts.sum()
    return np.asarray(parts / total if total > 0.0 else parts, dtype=np.float64)


def _freed(u: FloatArray, v: FloatArray, w: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Centred features, less what a ``w`` that is taken to be white explains of them."""
    left, right = _centred(u), _centred(v)
    if w is None:
        return left, right
    third = _centred(w)
    return left - third @ (third.T @ left / len(third)), right - third @ (third.T @ right / len(third))


def retained_rank(output_dim: int, perc_dim_prune: float) -> int:
    """``floor(perc_dim_prune * output_dim)`` singular triplets, at least one.

    A hair is added before the floor so that 0.7 of 10 is 7 and not 6.
    """
    return max(1, math.floor(perc_dim_prune * output_dim + 1e-9))


@dataclass(frozen=True)
class SpectralStatistic:
    """Statistic of `n` rows, degrees of freedom, all singular values, and how many of them were retained.

    The degrees of freedom are ``retained ** 2``. The paper prints "degrees of freedom equal to the retained
    (pruned) dimension"; its unpruned null is chi-square with ``d ** 2``, so the square of the retained rank
    is the only reading under which pruning nothing changes nothing, and it is what the authors' program does.
    """

    value: float
    degrees_of_freedom: int
    singular_values: FloatArray
    retained: int
    n: int

    @classmethod
    def of(cls, singular_values: FloatArray, n: int, retained: int | None = None) -> SpectralStatistic:
        """Keep the `retained` leading singular values, or all."""
        rank = len(singular_values) if retained is None else retained
        if not 1 <= rank <= len(singular_values):
            raise ParameterError(
                f"retained is {rank}, but the matrix has {len(singular_values)} singular values;"
                " keep at least one and at most all of them."
            )
        value = float(n * np.sum(singular_values[:rank] ** 2))
        return cls(value, rank**2, singular_values, rank, n)

    @property
    def pvalue(self) -> float:
        """Upper tail of the chi-square null, never exactly zero."""
        tail = float(scipy.stats.chi2.sf(self.value, self.degrees_of_freedom))
        return max(tail, float(np.finfo(np.float64).tiny))

    def critical_value(self, alpha: float = 0.05) -> float:
        """The statistic above which the test rejects at level ``alpha``."""
        return float(scipy.stats.chi2.isf(alpha, self.degrees_of_freedom))

    @property
    def effect_size(self) -> float:
        """Root mean square of the retained singular values, noise removed.

        Under the null the statistic is close to its degrees of freedom, so ``(T - df) / (n r)`` estimates the
        mean squared singular value without the upward bias that ``r ** 2`` noisy entries bring; negative
        estimates count as zero. A population singular value is at most 1, and so is this number.
        """
        excess = (self.value - self.degrees_of_freedom) / (self.n * self.retained)
        return min(1.0, math.sqrt(max(0.0, excess)))


def signed_pvalue(
    u: FloatArray, v: FloatArray, w: FloatArray | None, clusters: FloatArray, inflation: float, seed: int
) -> float:
    """P-value of the statistic of the paper under random signs of whole clusters of rows."""
    left, right = _freed(u, v, w)
    multipliers = Multipliers(len(u), _SIGNS, generator(seed, "signs"), clusters=clusters)
    sums = multipliers.sums_of_products(left, right) * math.sqrt(inflation)
    statistic = float(len(u) * np.square(partial_cross_covariance(u, v, w)).sum())
    return joint_p(np.array([statistic]), [multipliers.null_of_sums(sums)], np.ones(1)).pvalue


def spectral_statistic(
    u: FloatArray,
    v: FloatArray,
    w: FloatArray | None = None,
    *,
    retained: int | None = None,
    kind: StatisticName = "frobenius",
) -> SpectralStatistic:
    """The published statistic on whitened features of the test part: of section 4, or of the program.

    It keeps the `retained` leading singular triplets, or all; `w` has twice as many columns as `u` and `v`.
    """
    if kind not in _MATRICES:
        raise ParameterError(f"statistic must be {' or '.join(map(repr, _MATRICES))}; got {kind!r}.")
    matrix = _MATRICES[kind](u, v, w)
    return SpectralStatistic.of(scipy.linalg.svdvals(matrix), u.shape[0], retained)
