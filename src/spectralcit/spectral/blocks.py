"""Full-sample block statistics: the size of the partial cross-covariance of groups of features.

A block is a group of features of X, a group of features of Y and a group of functions of Z; its statistic is
``n |mean of u ⊗ v ⊗ b|²``. Few small blocks, each aimed at one kind of dependence, have power against weak
alternatives; their joint null distribution comes from shared random signs (`spectralcit.null.bootstrap`).

Residuals of a smoother are not independent from row to row: with hat matrix H, ``sum u_i v_i = sum e_i ((I
- H)' v)_i`` in the noise e of X. The signs are therefore put in front of ``e_i ⊗ ((I - H)'(v b))_i``, which
keeps the null distribution right even when Z uses up a third of the degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..nuisance import NuisanceFit
from ..null.bootstrap import Multipliers
from ..null.joint import Null
from ..null.quadratic import QuadraticNull
from ..null.student import freedom_of_variance
from ..null.whole_steps import as_normal, expected_steps
from ..numeric.linear import effective_dimensions
from .dictionary import GRAM_ROWS, SideFeatures, null_rows
from .ridge_pairs import leading
from .slopes import one_row_decides, without_slopes
from .variances import are_rare, expected_variance, rare_columns, rows_of_independent, steps_of_pairs
from .wide_linear import LinearRows, wide_linear_rows
from .zweights import ZWeights

__all__ = [
    "BLOCK_WEIGHTS",
    "FeatureBlock",
    "evaluate_block",
    "feature_blocks",
    "independent_columns",
    "measured_block",
]

# Shares of the error rate. Linear dependence is the alternative met most often and keeps most of it.
BLOCK_WEIGHTS = {
    "linear × linear": 0.735,
    "linear × nonlinear": 0.035,
    "nonlinear × linear": 0.035,
    "nonlinear × nonlinear": 0.03,
    "largest linear × fine": 0.005,
    "largest fine × linear": 0.005,
    "direct × all": 0.015,
    "all × direct": 0.015,
    "linear × linear × Z": 0.035,
    "all × all × Z": 0.015,
    "largest linear × linear × column of Z": 0.06,
    "largest linear × linear × function of Z": 0.015,
}

_MAX_WITH_Z = 12  # by hand: features of either kind and side in blocks with Z; of more, leading components
_MAX_LARGEST = 3  # likewise in the search over functions of Z
_ROWS_AT_ONCE = 4000  # by hand: products of so many rows are formed at once
# By hand: with more rows than `_MANY_ROWS` and fewer degrees of freedom than this share of them, residuals
# count as independent rows.
_NEGLIGIBLE_SHARE = 0.01
_MANY_ROWS = 5000

_Drawn = Callable[[Multipliers], Null]  # draws a null distribution under the signs of its argument


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
        """Whether the products are of rare columns; of two single columns, whether one of them is rare."""
        if self.left.shape[1] == self.right.shape[1] == 1:
            return are_rare(self.left, self.right)
        return self.of_rare_sides and all(rare_columns(side).any() for side in (self.left, self.right))

    def right_products(self, rows: np.ndarray | slice) -> np.ndarray:
        """Return the products of `right` and `z_functions` in these rows."""
        right = self.right[rows]
        if self.z_functions is None:
            return right
        return np.einsum("ni,nj->nij", right, self.z_functions[rows]).reshape(len(right), -1)


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


def independent_columns(columns: np.ndarray) -> float:
    """Return about how many independent columns vary as these do together; of one, exactly one."""
    small = columns.T @ columns if columns.shape[1] <= len(columns) else columns @ columns.T
    return effective_dimensions(small)


def _linear_block(x: SideFeatures, y: SideFeatures, weights: ZWeights | None) -> FeatureBlock:
    rows = None
    if weights is not None and not _negligible(len(x.linear), x.fit):
        rows = wide_linear_rows(x, y, weights.linear)
    left = x.linear if rows is None else rows.left
    return FeatureBlock("linear × linear", left, y.linear, x.fit, x.allowance * y.allowance, rows=rows)


def _negligible(n: int, fit: NuisanceFit) -> bool:
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


def evaluate_block(block: FeatureBlock, multipliers: Multipliers) -> tuple[float, Null]:
    """Return the block's statistic and its null distribution."""
    statistic, drawn = measured_block(block, multipliers)
    return statistic, drawn(multipliers)


def measured_block(block: FeatureBlock, multipliers: Multipliers) -> tuple[float, _Drawn]:
    """Return the block's statistic and what draws its null distribution, under these signs or more of them.

    Only the groups of the multipliers matter here, not their signs.
    """
    n = len(block.left)
    if not multipliers.clustered and block.has_rare_pairs:
        return _of_rare_pairs(block, multipliers)
    if not multipliers.clustered and _negligible(n, block.left_fit):
        sums = _sums_by_group(block, multipliers)
        if block.largest:
            spread = np.sqrt(np.square(sums).sum(axis=0))
            return _largest(sums.sum(axis=0), spread), lambda signed: signed.null_of_largest(sums)
        return float(np.square(sums.sum(axis=0)).sum() / n), lambda signed: signed.null_of_sums(sums)
    products = block.right_products(slice(None))
    total = _group_sum(block.left, products)
    if block.rows is None:
        noise, partner = null_rows(block.left, products, block.left_fit, block.allowance)
    else:
        noise, partner = block.rows.noise, block.rows.partner
    if multipliers.clustered:
        return _by_cluster(block, total, multipliers.sums_of_products(noise, partner), multipliers)
    if block.largest:
        spread = _expected_spread(noise, partner, block.left_fit)
        sums = multipliers.sums_of_products(noise, partner)
        return _largest(total, spread), lambda signed: signed.null_of_largest(sums)
    freedom = np.inf
    if noise.shape[1] == 1 and not one_row_decides(noise):
        partner = without_slopes(noise, partner)
        freedom = block.n_variances * float(freedom_of_variance(np.square(noise))[0])
    drawn: Callable[[Multipliers], QuadraticNull]
    if block.n_products > 2 * len(multipliers.groups) and n <= GRAM_ROWS:
        gram = multipliers.inner_products(noise, partner)
        drawn = lambda signed: signed.null_of_inner_products(gram)  # noqa: E731
    else:
        sums = multipliers.sums_of_products(noise, partner)
        drawn = lambda signed: signed.null_of_sums(sums)  # noqa: E731
    # Row by row the mean does not depend on how rows were gathered in groups.
    mean = float(np.square(noise).sum(axis=1) @ np.square(partner).sum(axis=1) / n)
    statistic = float(np.square(total).sum() / n)
    return statistic, lambda signed: drawn(signed).with_mean(mean).with_estimated_variance(freedom)


def _by_cluster(
    block: FeatureBlock, total: np.ndarray, sums: np.ndarray, multipliers: Multipliers
) -> tuple[float, _Drawn]:
    """Evaluate a block from its sums over clusters.

    Slopes are left in: with few clusters, signs are most exact in front of what the null hypothesis itself
    leaves.
    """
    if block.largest:
        spread = np.sqrt(np.square(sums).sum(axis=0))
        return _largest(total, spread), lambda signed: signed.null_of_largest(sums)
    return float(np.square(total).sum() / multipliers.n), lambda signed: signed.null_of_sums(sums)


def _largest(total: np.ndarray, spread: np.ndarray) -> float:
    return float(np.divide(np.abs(total), spread, out=np.zeros_like(total), where=spread > 0).max())


def _expected_spread(noise: np.ndarray, partner: np.ndarray, fit: NuisanceFit) -> np.ndarray:
    """Return the standard deviation of each sum of products if noise and partner are independent given Z.

    The noise enters by its variance given Z. Its square itself would be large where the products are, when
    they depend: a third of the studentised sum is lost to that in y = x z + noise.
    """
    expected = expected_variance(np.square(noise), fit)
    return np.sqrt(expected.T @ np.square(partner)).ravel()


def _of_rare_pairs(block: FeatureBlock, multipliers: Multipliers) -> tuple[float, _Drawn]:
    """Evaluate a block of rare columns: see `variances`."""
    noise = block.left * np.sqrt(block.allowance)
    rows = rows_of_independent(noise, block.right, block.left_fit)
    sums = _sums_by_group(replace(block, left=rows.left, right=rows.right), multipliers)
    expected = replace(block, left=rows.left_variance, right=rows.right_variance)
    variances = _with_powers_of_z(expected, 2, multipliers)
    total = _sums_by_group(block, multipliers).sum(axis=0)
    counted = rare_columns(block.left), rare_columns(block.right)
    steps = steps_of_pairs(block.left, block.right, counted)
    if block.z_functions is None:
        steps = steps.ravel()
    else:
        # Functions of Z have both signs; the longer tail is taken to be on the side of the sum.
        size = np.sqrt(_with_powers_of_z(expected, 4, multipliers) / np.maximum(variances, 1e-300))
        steps = np.sign(total) * np.repeat(np.abs(steps).ravel(), block.z_functions.shape[1]) * size
    if block.largest or len(total) == 1:
        total = as_normal(total, variances, steps)
    if block.largest:
        return _largest(total, np.sqrt(variances)), lambda signed: signed.null_of_largest(sums)
    mean, freedom = float(variances.sum()) / multipliers.n, _known(block)

    def drawn(signed: Multipliers) -> Null:
        null = signed.null_of_sums(sums).with_mean(mean)
        if len(total) > 1:
            null = null.of_counts(variances / signed.n, expected_steps(variances, steps))
        return null.with_estimated_variance(freedom)

    return float(np.square(total).sum() / multipliers.n), drawn


def _known(block: FeatureBlock) -> float:
    """Return the degrees of freedom of a variance that is the product of two.

    Of two events both are known: how many there are of each says nothing about how many meet.
    """
    if are_rare(block.left) and are_rare(block.right):
        return np.inf
    known = min(float(freedom_of_variance(np.square(side)).min()) for side in (block.left, block.right))
    return block.n_variances * known


def _with_powers_of_z(block: FeatureBlock, power: int, multipliers: Multipliers) -> np.ndarray:
    """Return the sums of the block's products with its functions of Z to this power."""
    functions = None if block.z_functions is None else block.z_functions**power
    return _sums_by_group(replace(block, z_functions=functions), multipliers).sum(axis=0)


def _sums_by_group(block: FeatureBlock, multipliers: Multipliers) -> np.ndarray:
    return np.stack([_group_sum(block.left[rows], block.right_products(rows)) for rows in multipliers.groups])


def _group_sum(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left.T @ right).ravel()
