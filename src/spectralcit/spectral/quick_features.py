"""Features of many single columns at once, each with Z removed: the columns' quick sides of the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..inputs import Block
from ..nuisance import KernelRidge
from ..nuisance.many import ManyFits
from ..nuisance.maps import normal_scores
from ..numeric.ranks import rank_angles
from ..numeric.standardize import standardized
from .dictionary import (
    FINEST_ORDER,
    MAX_ORDER,
    smooth_columns,
    winsorised,
)
from .scales import log_squares, scale_where_clear
from .variances import within_range

__all__ = ["ManySides", "expand_each"]

_DETERMINED = 1e-9  # share of the variance that Z leaves: below, it is rounding, and the whole test says so


@dataclass(frozen=True, eq=False)
class ManySides:
    """As `SideFeatures`, for many columns: arrays (n, columns, features), zero where a column has none."""

    linear: np.ndarray
    nonlinear: np.ndarray
    direct: np.ndarray
    fine: np.ndarray  # Z is not removed: waves as fine as these hardly follow it
    variance: np.ndarray  # of the linear feature given Z, shape (n, columns)
    fits: ManyFits
    row_scale: np.ndarray  # of the fits, shape (n, columns)
    n_nonlinear: np.ndarray  # how many nonlinear features each column has
    smooth: np.ndarray  # which columns are continuous, without a value that is taken often
    determined: np.ndarray  # which columns Z determines

    @property
    def together(self) -> np.ndarray:
        """Linear and nonlinear features."""
        return np.concatenate([self.linear, self.nonlinear], axis=2)


def expand_each(columns: Sequence[Block], nuisance: KernelRidge, *, direct: bool) -> ManySides:
    """Expand single columns, as `dictionary` does it."""
    block = Block(
        np.hstack([one.values for one in columns]),
        tuple(one.names[0] for one in columns),
        tuple(one.kinds[0] for one in columns),
        tuple(range(len(columns))),
    )
    smooth = smooth_columns(block)
    targets, fits = _on_best_scale(standardized(block.values), smooth, nuisance)
    row_scale = fits.row_scale()
    residuals = fits.remove(targets[:, :, None])[:, :, 0] / row_scale
    residuals[:, smooth] /= _scales(residuals[:, smooth], nuisance)
    determined = fits.errors < _DETERMINED
    linear = winsorised(residuals, smooth)
    angles = rank_angles(np.where(smooth, residuals, block.values))
    curved, n_curved = _curved(angles, block)
    own_angles = rank_angles(block.values) if smooth.any() else angles
    parts = [linear[:, :, None], curved]
    if direct:
        orders = np.arange(1, MAX_ORDER + 1)
        parts.append(np.sqrt(2.0 / orders) * np.cos(own_angles[:, :, None] * orders) * smooth[:, None])
    removed = fits.remove(np.concatenate(parts, axis=2))
    square = np.square(removed[:, :, 0])
    variance = within_range(square - fits.remove(square[:, :, None])[:, :, 0], square.mean(axis=0))
    fine_orders = np.arange(MAX_ORDER + 1, FINEST_ORDER + 1)
    fine = np.concatenate([np.cos(each[:, :, None] * fine_orders) for each in (angles, own_angles)], axis=2)
    return ManySides(
        linear=removed[:, :, :1],
        nonlinear=removed[:, :, 1 : 1 + curved.shape[2]],
        direct=removed[:, :, 1 + curved.shape[2] :],
        fine=fine * smooth[:, None] if smooth.any() else fine[:, :, :0],
        variance=variance,
        fits=fits,
        row_scale=row_scale,
        n_nonlinear=n_curved,
        smooth=smooth,
        determined=determined,
    )


def _on_best_scale(raw: np.ndarray, smooth: np.ndarray, nuisance: KernelRidge) -> tuple[np.ndarray, ManyFits]:
    """Return each column, as normal scores if Z explains these better, and its fit."""
    scored = standardized(normal_scores(raw[:, smooth]))
    both = nuisance.fit_each(np.hstack([raw, scored]))
    chosen = np.arange(raw.shape[1])
    as_scores = raw.shape[1] + np.arange(scored.shape[1])
    better = both.errors[as_scores] <= both.errors[chosen[smooth]]
    chosen[smooth] = np.where(better, as_scores, chosen[smooth])
    return np.hstack([raw, scored])[:, chosen], both.take(chosen)


def _scales(residuals: np.ndarray, nuisance: KernelRidge) -> np.ndarray:
    """Return the scale of each column given Z: one where it does not clearly depend on Z."""
    if not residuals.shape[1]:
        return residuals
    log_square = log_squares(residuals)
    return scale_where_clear(log_square, nuisance.fit_each(log_square).out_of_sample(log_square))


def _curved(angles: np.ndarray, block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Return the rank cosines of orders two and up, zero beyond those of a column with few levels."""
    levels = np.array(
        [
            {"indicator": 2, "continuous": MAX_ORDER + 1}.get(kind) or len(np.unique(block.values[:, j]))
            for j, kind in enumerate(block.kinds)
        ]
    )
    orders = np.arange(2, MAX_ORDER + 1)
    counts = np.minimum(MAX_ORDER, levels - 1) - 1
    present = np.arange(len(orders)) < counts[:, None]
    return np.sqrt(2.0) * np.cos(angles[:, :, None] * orders) / (orders - 1) * present, np.maximum(counts, 0)
