"""Blocks of time: adjacent rows that count as one, as many as the data ask for, and what these still miss.

Under the null hypothesis products of both sides' residuals have autocorrelations ``r(k) = r_x(k) r_y(k)``.
Sums over blocks of L rows have the variance that independent blocks would have, but for a share of about
``2 sum k r(k) / (L (1 + 2 sum r(k)))``, which is lost at their borders. L makes that share small; what is
left of it is known from the same autocorrelations and made up for.
"""

from __future__ import annotations

import numpy as np

from ..numeric.grouped import members_of
from ..numeric.linear import orthonormal_basis, residuals, unit_columns
from .data import Block
from .design import DeclaredRows, RowDesign

__all__ = ["block_design"]

_SHORTFALL = 0.1  # by hand: the share of the variance that blocks may miss; the rest of it is made up for
_FEWEST_BLOCKS = 16  # by hand: fewer signs say little, and what longer blocks would add is known well enough
_MANY_SERIES = 20  # that many series are clusters enough, whatever the dependence within them
_MOST_INFLATION = 2.0  # by hand: beyond, autocorrelations do not fade within the rows, and nothing is known
_QUIET_LAGS = 5  # consecutive lags below the noise end the autocorrelation, after Politis and White (2004)


def block_design(declared: DeclaredRows, x: Block, y: Block, z: Block | None) -> RowDesign | None:
    """Return the design that a test works with; ``None`` when rows are independent and count alike.

    References
    ----------
    D. N. Politis and H. White. Automatic block-length selection for the dependent bootstrap. Econometric
    Reviews, 2004.
    """
    n = len(x.values)
    weights = declared.weights
    if weights is not None:
        weights = None if np.ptp(weights) <= 1e-12 * weights.max() else weights / weights.mean()
    clusters, inflation = declared.groups, 1.0
    facts: dict[str, float] = {}
    if clusters is not None and len(np.unique(clusters)) == n:
        clusters = None
    if declared.time is not None:
        clusters, inflation, length = _blocks(declared, x, y, z)
        facts["block_length"] = length
    if clusters is None and weights is None:
        return None
    design = RowDesign(clusters, weights, inflation, declared.given, facts)
    if design.members is not None:
        facts["n_groups" if declared.time is None else "n_blocks"] = len(design.members)
    if weights is not None:
        facts["effective_sample_size"] = float(weights.sum() ** 2 / np.square(weights).sum())
    return design


def _blocks(
    declared: DeclaredRows, x: Block, y: Block, z: Block | None
) -> tuple[np.ndarray | None, float, int]:
    """Return the block of each row, the inflation, and the length of blocks."""
    n = len(x.values)
    time = declared.time
    assert time is not None
    series = np.zeros(n, dtype=int) if declared.groups is None else declared.groups
    runs = [rows[np.argsort(time[rows], kind="stable")] for rows in members_of(series)]
    longest = max(len(run) for run in runs)
    if declared.block_length is None and len(runs) >= _MANY_SERIES:
        return series, 1.0, longest
    most = max(1, n // _FEWEST_BLOCKS)
    basis = None if z is None else orthonormal_basis(unit_columns(z.values))
    decay = np.ones(max(1, min(longest // 2, 4 * most)))
    for side in (x, y):
        decay *= _autocorrelation(residuals(unit_columns(side.values), basis), runs, len(decay))
    lags = np.arange(1, len(decay) + 1)
    long_run = max(1.0 + 2.0 * float(decay.sum()), 1.0)
    length = declared.block_length
    if length is None:
        wanted = 2.0 * float((lags * decay).sum()) / long_run / _SHORTFALL
        length = int(np.clip(np.ceil(max(wanted, n ** (1 / 3) / 2)), 1, most))
    clusters = np.empty(n, dtype=int)
    count = 0
    for run in runs:
        blocks = max(1, round(len(run) / length))
        clusters[run] = count + np.arange(len(run)) * blocks // len(run)
        count += blocks
    within = 1.0 + 2.0 * float((np.maximum(1.0 - lags / length, 0.0) * decay).sum())
    inflation = float(np.clip(long_run / max(within, 1e-300), 1.0, _MOST_INFLATION))
    return (None if count == n else clusters), inflation, length


def _autocorrelation(values: np.ndarray, runs: list[np.ndarray], most: int) -> np.ndarray:
    """Return autocorrelations of lags 1, 2, ..., averaged over columns, zero from where they are noise."""
    n = len(values)
    unit = values - values.mean(axis=0)
    unit = unit / np.maximum(unit.std(axis=0), 1e-300)
    noise = 2.0 * np.sqrt(np.log10(n) / n)
    found, quiet = np.zeros(most), 0
    for lag in range(1, most + 1):
        total = sum(float((unit[run[lag:]] * unit[run[:-lag]]).sum()) for run in runs if len(run) > lag)
        pairs = sum(max(len(run) - lag, 0) for run in runs) * unit.shape[1]
        # An estimated mean makes autocorrelations too small, by this much when they fade slowly (Kendall
        # 1954).
        found[lag - 1] = min(total / max(pairs, 1) * (1.0 + 1.0 / n) + 3.0 / n, 1.0)
        quiet = quiet + 1 if abs(found[lag - 1]) < noise else 0
        if quiet == _QUIET_LAGS:
            found[lag - _QUIET_LAGS :] = 0.0
            break
    return found
