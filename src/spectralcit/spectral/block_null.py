"""Statistics of blocks and their null distributions under random signs.

Residuals of a smoother are not independent from row to row: with hat matrix H, ``sum u_i v_i = sum e_i ((I
- H)' v)_i`` in the noise e of X. The signs are therefore put in front of ``e_i ⊗ ((I - H)'(v b))_i``, which
keeps the null distribution right even when Z uses up a third of the degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..nuisance import NuisanceFit
from ..null.bootstrap import Multipliers
from ..null.joint import Null
from ..null.quadratic import QuadraticNull
from ..null.student import freedom_of_variance
from ..null.whole_steps import as_normal, expected_steps
from .blocks import FeatureBlock, negligible
from .dictionary import GRAM_ROWS
from .side_features import null_rows
from .slopes import one_row_decides, without_slopes
from .variances import (
    IndependentRows,
    expected_variance,
    rare_columns,
    rows_of_independent,
    steps_of_pairs,
)

__all__ = ["Drawn", "evaluate_block", "measured_block"]

Drawn = Callable[[Multipliers], Null]  # draws a null distribution under the signs of its argument


def evaluate_block(block: FeatureBlock, multipliers: Multipliers) -> tuple[float, Null]:
    """Return the block's statistic and its null distribution."""
    statistic, drawn = measured_block(block, multipliers)
    return statistic, drawn(multipliers)


def measured_block(block: FeatureBlock, multipliers: Multipliers) -> tuple[float, Drawn]:
    """Return the block's statistic and what draws its null distribution, under these signs or more of them.

    Only the groups of the multipliers matter here, not their signs.
    """
    n = len(block.left)
    if block.has_rare_pairs:
        return _of_rare_pairs(block, multipliers)
    if not multipliers.clustered and negligible(n, block.left_fit):
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
) -> tuple[float, Drawn]:
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


def _of_rare_pairs(block: FeatureBlock, multipliers: Multipliers) -> tuple[float, Drawn]:
    """Evaluate a block of rare columns: see `variances`.

    Of few events little is lost to the degrees of freedom of Z, which are left out of account here.
    """
    design = block.left_fit.design
    allowed = block.allowance * (1.0 if design is None else design.inflation)
    noise = block.left * np.sqrt(allowed)
    rows = rows_of_independent(noise, block.right, block.left_fit, multipliers.rows)
    sums = _sums_by_group(replace(block, left=rows.left, right=rows.right), multipliers)
    variances = rows.variances_of_sums(block.z_functions).ravel()
    seen = _sums_by_group(block, multipliers)
    total = seen.sum(axis=0)
    counted = rare_columns(block.left), rare_columns(block.right)
    steps = steps_of_pairs(block.left, block.right, counted, design)
    if block.z_functions is None:
        steps = steps.ravel()
    else:
        # Functions of Z have both signs; the longer tail is taken to be on the side of the sum.
        fourth = _fourth_powers(block, rows, multipliers)
        size = np.sqrt(fourth / np.maximum(variances, 1e-300))
        steps = np.sign(total) * np.repeat(np.abs(steps).ravel(), block.z_functions.shape[1]) * size
    if block.largest or len(total) == 1:
        total = as_normal(total, variances, steps)
    if block.largest:
        return _largest(total, np.sqrt(variances)), lambda signed: signed.null_of_largest(sums)
    if rows.shared.any() and len(total) > 1:
        # A few clusters may have most events of all columns: their own sums tell how much that matters.
        excess = allowed * float(np.square(seen).sum()) / max(float(variances.sum()), 1e-300)
        if excess > 1.0:
            sums, variances = np.sqrt(allowed) * seen, excess * variances
    mean, freedom = float(variances.sum()) / multipliers.n, _freedom(block, counted)

    def drawn(signed: Multipliers) -> Null:
        null = signed.null_of_sums(sums).with_mean(mean)
        if len(total) > 1:
            null = null.of_counts(variances / signed.n, expected_steps(variances, steps))
        return null.with_estimated_variance(freedom)

    return float(np.square(total).sum() / multipliers.n), drawn


def _freedom(block: FeatureBlock, rare: tuple[np.ndarray, np.ndarray]) -> float:
    """Return the degrees of freedom of a variance that is the product of two; `rare` tells of which columns.

    Of two events both are known: how many there are of each says nothing about how many meet.
    """
    if all(columns.any() for columns in rare):
        return np.inf
    known = min(float(freedom_of_variance(np.square(side)).min()) for side in (block.left, block.right))
    return block.n_variances * known


def _fourth_powers(block: FeatureBlock, rows: IndependentRows, multipliers: Multipliers) -> np.ndarray:
    """Return the sums of the variances of the products times the fourth powers of the functions of Z."""
    assert block.z_functions is not None
    expected = replace(
        block, left=rows.left_variance, right=np.square(rows.right), z_functions=block.z_functions**4
    )
    return _sums_by_group(expected, multipliers).sum(axis=0)


def _sums_by_group(block: FeatureBlock, multipliers: Multipliers) -> np.ndarray:
    return np.stack([_group_sum(block.left[rows], block.right_products(rows)) for rows in multipliers.groups])


def _group_sum(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left.T @ right).ravel()
