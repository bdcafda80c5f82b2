"""Means of residuals in bins, with a band that holds all of them when there is nothing to see.

What a residual is drawn against must not be tied to it by the fit: leave-one-out predictions are, each being
lower where its own residual is high. Columns of Z are not, nor is the least-squares line in Z, to which the
residuals are orthogonal. A mean over a bin is ``sum_i b_i r_i = sum_i e_i ((I - H)' b)_i`` in the noise e, so
random signs in front of these terms imitate it without refitting, as in `spectral.block_null`: what
the fit took out of a bin together with Z makes the band narrower there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..inputs import Block, RowDesign
from ..inputs.sources import SourceColumn, source_columns
from ..null.bootstrap import Multipliers
from ..numeric.bins import bin_codes, explained_share
from ..numeric.linear import orthonormal_columns
from ..numeric.standardize import standardized
from ..views import BinnedMeans
from .side_features import SideFeatures, null_rows

__all__ = ["LEVEL", "Bins", "band_along", "bins_of_columns", "number_bins", "remainder"]

LEVEL = 0.99  # by hand: a report has two pictures of remainders, and a false alarm in one of 50 is enough
_DRAWS = 2000  # sign vectors: the 99 % quantile of their maxima is then known within about 2 %
_MOST_COLUMNS = 20  # by hand: columns of Z that are looked at
_LINE_SHARE = 0.2  # of the rows: by hand, a line through more columns of Z follows the noise
_BINS, _CELLS = 12, 20_000_000  # bins of a column; rows × bins of all of them: 160 MB
_REMOVED = 1e-8  # share of a bin's own spread below which the fit has taken out its mean exactly


@dataclass(frozen=True, eq=False)
class Bins:
    """A grouping of the rows, and where to draw them."""

    name: str
    position: np.ndarray  # of each row: its value, or the number of its level
    codes: np.ndarray  # its bin, from zero without gaps
    labels: tuple[str, ...] = ()  # of the levels, where there are some


def number_bins(name: str, values: np.ndarray) -> Bins:
    """Bins of about equal counts; equal values share one."""
    return Bins(name, values, bin_codes(values))


def bins_of_columns(z: Block, explained: np.ndarray) -> list[Bins]:
    """Bins of the source columns of Z; of many columns, those that say most about what the fit explains.

    Not about the target itself: its noise would choose columns along which the residuals stray.
    """
    found = [_source_bins(column) for column in source_columns(z)]
    most = int(np.clip(_CELLS // (len(explained) * _BINS), 1, _MOST_COLUMNS))
    found.sort(key=lambda bins: -explained_share(bins.codes, explained))
    return found[:most]


def line_bins(z: Block, target: np.ndarray) -> Bins:
    """Bins of what the least-squares line in all of Z says about the target."""
    basis = orthonormal_columns(standardized(z.values))
    return number_bins("the best line in Z", basis @ (basis.T @ target))


def _source_bins(column: SourceColumn) -> Bins:
    """Bins of one source column: its levels, or ranges of its numbers."""
    if not column.labels:
        return number_bins(column.name, column.values)
    # By name: the test has its own order of columns.
    present, codes = np.unique(np.array(column.labels)[column.values.astype(int)], return_inverse=True)
    return Bins(column.name, codes.astype(float), codes, tuple(str(label) for label in present))


def remainder(
    side: SideFeatures,
    values: np.ndarray,
    target: np.ndarray,
    z: Block,
    rng: np.random.Generator,
    design: RowDesign | None = None,
) -> BinnedMeans:
    """What is left of Z in a feature of the target: along its columns, and along the line of all of them."""
    left = side.fit.remove(target[:, None])[:, 0] / np.ravel(side.root)
    candidates = bins_of_columns(z, target - left)
    if 1 < z.n_columns < _LINE_SHARE * len(target) and len(set(z.groups)) > 1:
        candidates.append(line_bins(z, target))
    return band_along(side, values, candidates, rng, design)


def band_along(
    side: SideFeatures,
    values: np.ndarray,
    candidates: list[Bins],
    rng: np.random.Generator,
    design: RowDesign | None = None,
) -> BinnedMeans:
    """Means of a feature with Z removed, along the most surprising of the candidates.

    The band is simultaneous over the bins of all of them: what was looked at counts, not what is drawn.
    """
    root = np.broadcast_to(np.ravel(side.root), len(values))
    cells = np.hstack([_averages(bins.codes, root) for bins in candidates])
    noise, partner = null_rows(values[:, None], cells, side.fit, side.allowance)
    clusters = None if design is None else design.clusters
    multipliers = Multipliers(len(values), _DRAWS, rng, clusters=clusters)
    sums = multipliers.sums_of_products(noise, partner)
    means = cells.T @ values
    products = sums if multipliers.clustered else noise * partner
    # Of a skewed residual a bin without its rare large values looks quieter than it is (a bin of a rare yes
    # with nothing but no in it): no bin counts as quieter than an average one.
    average = float(np.square(noise).mean()) * np.square(partner).sum(axis=0)
    spread = np.sqrt(np.maximum(np.square(products).sum(axis=0), average))
    # A mean that the fit removes exactly (a level of Z) is zero up to rounding, and so is its spread.
    own = np.sqrt(np.square(cells * values[:, None]).sum(axis=0))
    free = spread > _REMOVED * own
    spread = np.where(free, spread, _REMOVED * np.maximum(own, 1e-300))
    sizes = np.where(free, np.abs(means) / spread, 0.0)
    draws = np.abs(multipliers.signs @ (sums[:, free] / spread[free])).max(axis=1, initial=0.0)
    critical = float(np.quantile(draws, LEVEL))
    ends = np.cumsum([bins.codes.max() + 1 for bins in candidates])
    parts = [slice(end - bins.codes.max() - 1, end) for end, bins in zip(ends, candidates, strict=True)]
    worst = int(np.argmax([sizes[part].max() for part in parts]))
    bins, part = candidates[worst], parts[worst]
    counts = np.bincount(bins.codes)
    return BinnedMeans(
        along=bins.name,
        position=bins.position,
        labels=bins.labels,
        centres=np.bincount(bins.codes, bins.position) / counts,
        means=np.where(free, means, 0.0)[part],
        margin=(critical * spread)[part],
        pvalue=float((1 + np.sum(draws >= sizes.max())) / (1 + len(draws))),
        n_looked=len(candidates),
        level=LEVEL,
    )


def _averages(codes: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Columns whose product with rows (times the roots of their weights) is the mean in each bin."""
    cells = np.zeros((len(codes), codes.max() + 1))
    cells[np.arange(len(codes)), codes] = root
    return cells / np.square(cells).sum(axis=0)
