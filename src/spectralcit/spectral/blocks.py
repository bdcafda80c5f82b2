"""Full-sample block statistics: the size of the partial cross-covariance of groups of features.

A block is a group of features of X, a group of features of Y and a group of functions of Z; its statistic is
``n |mean of u ⊗ v ⊗ b|²``. Few small blocks, each aimed at one kind of dependence, have power against weak
alternatives; their joint null distribution comes from shared random signs (`spectralcit.null.bootstrap`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..nuisance import NuisanceFit
from ..numeric.linear import independent_columns
from .ridge_pairs import leading
from .side_features import SideFeatures
from .variances import are_rare, products_by_row, rare_columns
from .wide_linear import LinearRows, wide_linear_rows
from .zweights import ZWeights

__all__ = [
    "BLOCK_WEIGHTS",
    "FeatureBlock",
    "feature_blocks",
    "negligible",
]

# Shares of the error rate. Linear dependence is the alternative met most often and keeps most of it.
BLOCK_WEIGHTS = {
    "linear × linear": 0.73,
    "linear × nonlinear": 0.035,
    "nonlinear × linear": 0.035,
    "nonlinear × nonlinear": 0.025,
    "largest linear × fine": 0.005,
    "largest fine × linear": 0.005,
    "direct × all": 0.025,
    "all × direct": 0.025,
    "linear × linear × Z": 0.035,
    "all × all × Z": 0.015,
    "largest linear × linear × column of Z": 0.05,
    "largest linear × linear × function of Z": 0.015,
}

_MAX_WITH_Z = 12  # by hand: features of either kind and side in blocks with Z; of more, leading components
_MAX_LARGEST = 3  # likewise in the search over functions of Z
# By hand: with more rows than `_MANY_ROWS` and fewer degrees of freedom than this share of them, residuals
# count as independent rows.
_NEGLIGIBLE_SHARE = 0.01
_MANY_ROWS = 5000


@dataclass(frozen=True, eq=False)
class FeatureBlock:
    """Features of both sides, with Z removed, and functions of Z."""

    name: str  # a key of `BLOCK_WEIGHTS`
    left: np.ndarray  # residual features of X and of Y, shapes (n, p) and (n, q)
    right: np.ndarray
    left_fit: NuisanceFit  # the fit that removed Z from `left`
    allowance: float  # product of both sides' allowances for fits that were chosen from the data
    z_functions: np.ndarray | None = None  # functions of Z, shape (n, k); ``None`` for the constant
    # Whether the statistic is the largest studentised mean of a product instead of the sum of squares: when
    # one of many products depends, a sum drowns it
    largest: bool = False
    rows: LinearRows | None = None  # what signs are put in front of, where usual rows are not exact enough
    right_columns: float = 1.0  # how many independent columns of Y, about, `right` is made of
    of_rare_sides: bool = False  # whether X and Y both have columns of events or levels that few rows have

    @property
    def n_products(self) -> int:
        """Number of products of features and functions of Z."""
        functions = 1 if self.z_functions is None else self.z_functions.shape[1]
        return self.left.shape[1] * self.right.shape[1] * functions

    @property
    def n_variances(self) -> float:
        """How many variances of products average out: each column of Y, each function of Z has its own.

        Those of several curves of one column do not: they are large in the same data sets.
        """
        functions = 1 if self.z_functions is None else self.z_functions.shape[1]
        return min(self.right_columns, self.right.shape[1]) * functions

    @property
    def has_rare_pairs(self) -> bool:
        """Whether the products are of rare columns; of two single columns, whether one of them is rare.

        If only one is, sums over clusters, or weighted rows, tell how much they vary, however few there are.
        """
        if self.left.shape[1] == self.right.shape[1] == 1 and self.left_fit.design is None:
            return are_rare(self.left, self.right)
        return self.of_rare_sides and all(rare_columns(side).any() for side in (self.left, self.right))

    def right_products(self, rows: np.ndarray | slice) -> np.ndarray:
        """Return the products of `right` and `z_functions` in these rows."""
        right = self.right[rows]
        return right if self.z_functions is None else products_by_row(right, self.z_functions[rows])


def feature_blocks(x: SideFeatures, y: SideFeatures, weights: ZWeights | None) -> list[FeatureBlock]:
    """Pair the groups of features; groups without columns drop out."""
    fits = (x.fit, x.allowance * y.allowance)
    blocks = [
        _linear_block(x, y, weights),
        FeatureBlock("linear × nonlinear", x.linear, y.nonlinear, *fits),
        FeatureBlock("nonlinear × linear", x.nonlinear, y.linear, *fits),
        FeatureBlock("nonlinear × nonlinear", x.nonlinear, y.nonlinear, *fits),
        FeatureBlock(
            "largest linear × fine", x.linear, y.fine, x.fit, x.allowance * y.direct_allowance, largest=True
        ),
        FeatureBlock(
            "largest fine × linear",
            x.fine,
            y.linear,
            x.direct_fit,
            x.direct_allowance * y.allowance,
            largest=True,
        ),
    ]
    if weights is not None:
        blocks += _blocks_with_z(x, y, weights)
    columns, rare = independent_columns(y.linear), bool(x.rare.any() and y.rare.any())
    return [replace(block, right_columns=columns, of_rare_sides=rare) for block in blocks if block.n_products]


def _linear_block(x: SideFeatures, y: SideFeatures, weights: ZWeights | None) -> FeatureBlock:
    rows = None
    if weights is not None and not negligible(len(x.linear), x.fit):
        rows = wide_linear_rows(x, y, weights.linear)
    left = x.linear if rows is None else rows.left
    return FeatureBlock("linear × linear", left, y.linear, x.fit, x.allowance * y.allowance, rows=rows)


def negligible(n: int, fit: NuisanceFit) -> bool:
    """Tell whether Z uses so few of so many rows that residuals count as independent."""
    return n > _MANY_ROWS and fit.degrees_of_freedom < _NEGLIGIBLE_SHARE * n


def _blocks_with_z(x: SideFeatures, y: SideFeatures, weights: ZWeights) -> list[FeatureBlock]:
    """Pair features that Z can change; without Z a column is its own residual, and nothing changes."""
    fits = (x.fit, x.allowance * y.allowance)
    few_x, few_y = (leading(side.linear, _MAX_WITH_Z)[0] for side in (x, y))
    all_x, all_y = (
        np.hstack([few, leading(side.nonlinear, _MAX_WITH_Z)[0]]) for few, side in ((few_x, x), (few_y, y))
    )
    fewest_x, fewest_y = (leading(side.linear, _MAX_LARGEST)[0] for side in (x, y))
    name = "largest linear × linear × "
    return [
        FeatureBlock("direct × all", x.direct, y.together, x.direct_fit, x.direct_allowance * y.allowance),
        FeatureBlock("all × direct", x.together, y.direct, x.fit, x.allowance * y.direct_allowance),
        FeatureBlock("linear × linear × Z", few_x, few_y, *fits, weights.linear),
        FeatureBlock("all × all × Z", all_x, all_y, *fits, weights.all),
        FeatureBlock(name + "column of Z", fewest_x, fewest_y, *fits, weights.columns, largest=True),
        FeatureBlock(name + "function of Z", fewest_x, fewest_y, *fits, weights.functions, largest=True),
    ]
