"""Grids: functions of two columns of Z that jump where either of them crosses certain values.

Exclusive or, checkerboards and other tables of two columns have edges that kernels smooth over. Trees grow
one split at a time, and in a checkerboard no first split explains anything. So both columns are cut at once:
given strips of the one, the best segmentation of the other is an exact dynamic programme, and the two take
turns. All rows along an edge tell where it is, so hardly a row ends up in the wrong cell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy import stats

from .maps import FeatureMap
from .sums import SumOfMaps

__all__ = ["GridCells", "StripTables", "find_grid", "on_more_rows"]

_ROWS_PER_CELL = 12  # by hand: fewer tell little about a cell in the screen of pairs
_MOST_STRIPS = 16  # by hand: finer strips cost more noise than they show of the edges
_FEWEST_STRIPS = 3  # two halves of a column show hardly more than a line
_FINER = 2  # by hand: strips as wide as two fields of a board show nothing of it; then narrower ones may
_BINS = 100  # by hand: candidates for edges of a column, before they are moved row by row
_ROWS_PER_BIN = 10  # by hand: with fewer rows there are fewer candidates
_MOST_CELLS = 400  # by hand: of a grid; more are not cells but a smooth function cut to pieces
_CHANCE = 0.001  # by hand: that noise asks for a grid
_LEAST_NOISE = 1e-9  # share of the variance: less is rounding, and would make every cut worth its price
_TURNS = 3  # by hand: each column is cut so often, given the other's cuts


@dataclass(frozen=True, eq=False)
class GridCells:
    """Indicators of the cells into which cuts of two columns divide the rows."""

    columns: tuple[int, int]
    cuts: tuple[np.ndarray, np.ndarray]  # increasing values of each of the two; a row at a cut is above it

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return one 0/1 column per cell."""
        count = (len(self.cuts[0]) + 1) * (len(self.cuts[1]) + 1)
        return (self.cells(z)[:, None] == np.arange(count)).astype(float)

    def cells(self, z: np.ndarray) -> np.ndarray:
        """Return the number of each row's cell."""
        first, second = (_segments(z[:, c], cuts) for c, cuts in zip(self.columns, self.cuts, strict=True))
        return first * (len(self.cuts[1]) + 1) + second

    def relevance(self, z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return zeros: steps have no gradient, and the metric is learned before grids are tried."""
        return np.zeros((z.shape[1],) * 2)

    def on(self, z: np.ndarray, left: np.ndarray) -> GridCells:
        """Return the grid of the same two columns on other rows, which may show more cells than before."""
        unit = _standardised(left)
        moved = self._moved(z, unit)
        return _cut_in_turn(z, self.columns, moved.cuts, unit, _within(moved.cells(z), unit)) or moved

    def _moved(self, z: np.ndarray, unit: np.ndarray) -> GridCells:
        """Return as many cuts, between the rows of `z` where the targets say they are."""
        cuts = list(self.cuts)
        for turn in range(2 * _TURNS):
            one, other = turn % 2, 1 - turn % 2
            strata = _segments(z[:, self.columns[other]], cuts[other])
            cuts[one] = _moved(z[:, self.columns[one]], cuts[one], strata, unit)
        return GridCells(self.columns, (cuts[0], cuts[1]))


@dataclass(frozen=True, eq=False)
class StripTables:
    """Columns of Z cut into strips of equally many rows, and the table of cells of each pair of columns."""

    parts: int  # strips of a column
    strips: list[np.ndarray]  # the strip of each row, by columns
    pairs: list[tuple[int, int]]  # all pairs of columns
    cells: list[np.ndarray]  # the cell of each row in the table of each pair

    @classmethod
    def of(cls, z: np.ndarray, parts: int) -> StripTables:
        """Cut every column."""
        strips = [_segments(column, _quantiles(column, parts)) for column in z.T]
        pairs = list(combinations(range(len(strips)), 2))
        return cls(parts, strips, pairs, [strips[i] * parts + strips[j] for i, j in pairs])


def find_grid(
    z: np.ndarray,
    continuous: np.ndarray,
    left: np.ndarray,
    noise: float,
    known: dict[int, StripTables] | None = None,
) -> GridCells | None:
    """Return the grid of the two columns that interact most in what is `left`; ``None`` where none do.

    Parameters
    ----------
    z, continuous : arrays
        Rows of Z, and which of its columns may be cut.
    left : array of shape (n, t)
        What least squares leaves of the targets.
    noise : float
        Share of the variance of `left` that a smooth fit misses: at least that of the noise.
    known : dict
        Tables of these columns by their number of strips; those that are made here are added.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z, e = rng.standard_normal((1000, 3)), 0.3 * rng.standard_normal((1000, 1))
    >>> grid = find_grid(z, np.arange(3), np.sign(z[:, :1] * (z[:, 2:] - 0.5)) + e, 0.5)
    >>> grid.columns, [np.abs(cuts).round(1).tolist() for cuts in grid.cuts]
    ((0, 2), [[0.0], [0.5]])
    """
    unit = _standardised(left)
    known = {} if known is None else known
    coarse = _strips(len(z))
    for parts in (coarse, _FINER * coarse):
        if len(continuous) < 2 or parts < _FEWEST_STRIPS:
            continue
        if parts not in known:
            known[parts] = StripTables.of(z[:, continuous], parts)
        pair = _interacting(known[parts], unit)
        if pair is not None:
            columns = (int(continuous[pair[0]]), int(continuous[pair[1]]))
            strips = (_quantiles(z[:, columns[0]], parts), _quantiles(z[:, columns[1]], parts))
            return _cut_in_turn(z, columns, strips, unit, noise)
    return None


def _standardised(left: np.ndarray) -> np.ndarray:
    return (left - left.mean(axis=0)) / np.maximum(left.std(axis=0), 1e-300)


def _cut_in_turn(
    z: np.ndarray,
    columns: tuple[int, int],
    start: tuple[np.ndarray, np.ndarray],
    unit: np.ndarray,
    noise: float,
) -> GridCells | None:
    """Cut either column given the cuts of the other; ``None`` where nothing is worth a cut, or too much."""
    cuts = list(start)
    for turn in range(2 * _TURNS):
        one, other = turn % 2, 1 - turn % 2
        strata = _segments(z[:, columns[other]], cuts[other])
        column = z[:, columns[one]]
        # Cuts that are where they should be are candidates: bins that straddle an edge would need two.
        candidates = np.union1d(_candidates(column), cuts[one])
        cuts[one] = _moved(column, _segmentation(column, candidates, strata, unit, noise), strata, unit)
        if len(cuts[one]) == 0:
            return None
        cells = _segments(column, cuts[one]) * (len(cuts[other]) + 1) + strata
        noise = min(noise, _within(cells, unit))
    if (len(cuts[0]) + 1) * (len(cuts[1]) + 1) > min(_MOST_CELLS, len(z) // 4):
        return None
    return GridCells(columns, (cuts[0], cuts[1]))


def on_more_rows(feature_map: FeatureMap | None, z: np.ndarray, left: np.ndarray) -> FeatureMap | None:
    """Return the map for more rows than it was found on: the cuts of a grid go where these rows say.

    Between two rows that found a cut there are others, on the wrong side of it for X and Y alike; and in the
    tails, cells of a few rows that fewer rows did not show.
    """
    if isinstance(feature_map, SumOfMaps):
        second = on_more_rows(feature_map.second, z, left)
        return feature_map if second is None else replace(feature_map, second=second)
    return feature_map.on(z, left) if isinstance(feature_map, GridCells) else feature_map


def _strips(n: int) -> int:
    return int(min(np.sqrt(n / _ROWS_PER_CELL), _MOST_STRIPS))


def _quantiles(column: np.ndarray, parts: int) -> np.ndarray:
    return np.unique(np.quantile(column, np.arange(1, parts) / parts))


def _candidates(column: np.ndarray) -> np.ndarray:
    """Return quantiles, and between the outermost of them values with ever fewer rows beyond."""
    parts = min(_BINS, len(column) // _ROWS_PER_BIN)
    ordered = np.sort(column)
    beyond = 2 ** np.arange(1, max(int(np.log2(len(column) / parts)), 1) + 1)
    tails = np.append(ordered[beyond], ordered[-beyond])
    return np.unique(np.append(_quantiles(column, parts), tails))


def _within(cells: np.ndarray, unit: np.ndarray) -> float:
    """Return the variance within cells."""
    counts = np.maximum(np.bincount(cells), 1)
    explained = sum((np.square(np.bincount(cells, target)) / counts).sum() for target in unit.T)
    spare = max(len(cells) - int((counts > 0).sum()), 1)
    return max(float((unit.size - explained) / (unit.shape[1] * spare)), _LEAST_NOISE)


def _segments(column: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    return np.searchsorted(cuts, column, side="right")


def _interacting(tables: StripTables, unit: np.ndarray) -> tuple[int, int] | None:
    """Return the pair of columns whose cells explain most beyond rows and columns of the table of cells."""
    alone, _ = _explained(tables.strips, unit)
    together, filled = _explained(tables.cells, unit)
    first, second = np.array(tables.pairs).T
    excess = together - alone[first] - alone[second]
    df = unit.shape[1] * np.maximum(filled - 2 * tables.parts + 1, 1)
    # Beyond chance in standard deviations: pairs whose tables have other numbers of empty cells compare.
    most = int(np.argmax((excess - df) / np.sqrt(2.0 * df)))
    if stats.chi2.sf(excess[most], df[most]) > _CHANCE / len(tables.pairs):
        return None
    return tables.pairs[most]


def _explained(tables: list[np.ndarray], unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what the means of each table's cells explain of all targets, and how many cells have rows."""
    explained, filled = np.zeros(len(tables)), np.zeros(len(tables), dtype=int)
    for k, cells in enumerate(tables):
        counts = np.bincount(cells)
        filled[k] = np.count_nonzero(counts)
        for target in unit.T:
            explained[k] += (np.square(np.bincount(cells, target)) / np.maximum(counts, 1)).sum()
    return explained, filled


def _segmentation(
    column: np.ndarray, candidates: np.ndarray, strata: np.ndarray, unit: np.ndarray, noise: float
) -> np.ndarray:
    """Return the candidates that explain most within the strata, less a price for each.

    The price is what the best of all candidates explains of noise (Laurent and Massart's bound).
    """
    bins, n_strata = len(candidates) + 1, int(strata.max()) + 1
    cell = _segments(column, candidates) * n_strata + strata
    tables = [np.bincount(cell, weights, bins * n_strata) for weights in (np.ones(len(cell)), *unit.T)]
    below = [np.vstack([np.zeros(n_strata), t.reshape(bins, -1).cumsum(axis=0)]) for t in tables]
    counts, *sums = (table[None, :, :] - table[:, None, :] for table in below)
    explained = sum((np.square(s) / np.maximum(counts, 1.0)).sum(axis=2) for s in sums) / noise
    df, surprise = unit.shape[1] * (counts > 0).sum(axis=2), np.log(bins / _CHANCE)
    explained -= df + 2.0 * np.sqrt(df * surprise) + 2.0 * surprise
    best, last = np.zeros(bins + 1), np.zeros(bins + 1, dtype=int)
    for end in range(1, bins + 1):
        worth = best[:end] + explained[:end, end]
        last[end] = int(np.argmax(worth))
        best[end] = worth[last[end]]
    edges = []
    end = int(last[bins])
    while end > 0:
        edges.append(candidates[end - 1])
        end = int(last[end])
    return np.array(edges[::-1])


def _moved(column: np.ndarray, cuts: np.ndarray, strata: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Move each cut in turn to the gap between two rows where means on both sides differ most."""
    cuts = cuts.copy()
    n_strata = int(strata.max()) + 1
    for k in range(len(cuts)):
        low = cuts[k - 1] if k else -np.inf
        high = cuts[k + 1] if k + 1 < len(cuts) else np.inf
        inside = np.flatnonzero((column >= low) & (column < high))
        inside = inside[np.argsort(column[inside], kind="stable")]
        onehot = (strata[inside, None] == np.arange(n_strata)).astype(float)
        below = onehot.cumsum(axis=0)
        worth = np.zeros(len(inside))
        for target in targets.T:
            sums = (onehot * target[inside, None]).cumsum(axis=0)
            worth += (np.square(sums) / np.maximum(below, 1.0)).sum(axis=1)
            above = np.maximum(below[-1] - below, 1.0)
            worth += (np.square(sums[-1] - sums) / above).sum(axis=1)
        ordered = column[inside]
        worth[:-1][ordered[1:] == ordered[:-1]] = -np.inf  # equal values stay together
        best = int(np.argmax(worth[:-1]))
        cuts[k] = (ordered[best] + ordered[best + 1]) / 2.0
    return cuts
