"""Full-sample block statistics: the size of the partial cross-covariance of groups of features.

A block is a group of features of X, a group of features of Y and a group of functions of Z; its statistic is
``n |mean of u ⊗ v ⊗ b|²``. Few small blocks, each aimed at one kind of dependence, have power against weak
alternatives; their joint null distribution comes from shared random signs (`spectralcit.null.bootstrap`).

Residuals of a smoother are not independent from row to row: with hat matrix H, ``sum u_i v_i = sum e_i ((I
- H)' v)_i`` in the noise e of X. The signs are therefore put in front of ``e_i ⊗ ((I - H)'(v b))_i``, which
keeps the null distribution right even when Z uses up a third of the degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..nuisance import NuisanceFit
from ..null.bootstrap import Multipliers, QuadraticNull
from .dictionary import GRAM_ROWS, SideFeatures, null_rows, sketch
from .zweights import ZWeights

__all__ = ["BLOCK_WEIGHTS", "FeatureBlock", "evaluate_block", "feature_blocks"]

# Shares of the error rate. Linear dependence is the alternative met most often and keeps most of it.
BLOCK_WEIGHTS = {
    "linear × linear": 0.75,
    "linear × nonlinear": 0.035,
    "nonlinear × linear": 0.035,
    "nonlinear × nonlinear": 0.025,
    "direct × all": 0.025,
    "all × direct": 0.025,
    "linear × linear × Z": 0.085,
    "all × all × Z": 0.02,
}

_MAX_WITH_Z = 12  # feature columns of either kind and side in blocks with Z; more are sketched
# With more rows than `_MANY_ROWS` and fewer degrees of freedom than this share of them, residuals count as
# independent rows.
_NEGLIGIBLE_SHARE = 0.01
_MANY_ROWS = 5000


@dataclass(frozen=True, eq=False)
class FeatureBlock:
    """Features of both sides, with Z removed, and functions of Z."""

    name: str  # a key of `BLOCK_WEIGHTS`
    left: np.ndarray  # residual features of X and of Y, shapes (n, p) and (n, q)
    right: np.ndarray
    left_fit: NuisanceFit  # the fits that removed Z from them
    right_fit: NuisanceFit
    z_functions: np.ndarray | None = None  # functions of Z, shape (n, k); ``None`` for the constant

    def right_products(self, rows: np.ndarray | slice) -> np.ndarray:
        """Return the products of `right` and `z_functions` in these rows."""
        right = self.right[rows]
        if self.z_functions is None:
            return right
        return np.einsum("ni,nj->nij", right, self.z_functions[rows]).reshape(len(right), -1)


def feature_blocks(
    x: SideFeatures, y: SideFeatures, weights: ZWeights | None, rng: np.random.Generator
) -> list[FeatureBlock]:
    """Pair the groups of features; groups without columns drop out."""
    fits = (x.fit, y.fit)
    blocks = [
        FeatureBlock("linear × linear", x.linear, y.linear, *fits),
        FeatureBlock("linear × nonlinear", x.linear, y.nonlinear, *fits),
        FeatureBlock("nonlinear × linear", x.nonlinear, y.linear, *fits),
        FeatureBlock("nonlinear × nonlinear", x.nonlinear, y.nonlinear, *fits),
    ]
    if weights is not None:  # without Z a column is its own residual
        blocks.append(FeatureBlock("direct × all", x.direct, y.together, x.direct_fit, y.fit))
        blocks.append(FeatureBlock("all × direct", x.together, y.direct, x.fit, y.direct_fit))
        few_x, few_y = (sketch(side.linear, _MAX_WITH_Z, rng)[0] for side in (x, y))
        all_x = np.hstack([few_x, sketch(x.nonlinear, _MAX_WITH_Z, rng)[0]])
        all_y = np.hstack([few_y, sketch(y.nonlinear, _MAX_WITH_Z, rng)[0]])
        blocks.append(FeatureBlock("linear × linear × Z", few_x, few_y, *fits, weights.linear))
        blocks.append(FeatureBlock("all × all × Z", all_x, all_y, *fits, weights.all))
    return [block for block in blocks if block.left.shape[1] and block.right.shape[1]]


def evaluate_block(block: FeatureBlock, multipliers: Multipliers) -> tuple[float, QuadraticNull]:
    """Return the block's statistic and its null distribution."""
    n = len(block.left)
    if n > _MANY_ROWS and block.left_fit.degrees_of_freedom < _NEGLIGIBLE_SHARE * n:
        sums = np.stack(
            [_group_sum(block.left[rows], block.right_products(rows)) for rows in multipliers.groups]
        )
        return float(np.square(sums.sum(axis=0)).sum() / n), multipliers.null_of_sums(sums)
    products = block.right_products(slice(None))
    statistic = float(np.square(block.left.T @ products).sum() / n)
    noise, partner = null_rows(block.left, products, block.left_fit, block.right_fit)
    if noise.shape[1] * partner.shape[1] > 2 * len(multipliers.groups) and n <= GRAM_ROWS:
        return statistic, multipliers.null_of_gram((noise @ noise.T) * (partner @ partner.T))
    sums = np.stack([_group_sum(noise[rows], partner[rows]) for rows in multipliers.groups])
    return statistic, multipliers.null_of_sums(sums)


def _group_sum(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left.T @ right).ravel()
