"""Rounded measurements: values of a lattice are spread over their cells.

The residual of a rounded value is a sawtooth of what Z predicts, with one phase for X and for Y, and its
ranks would tell both where in the sawtooth Z is. Independent noise as wide as a cell takes most of the phase
away; the rest is removed (`spectralcit.spectral.phases`). Rows may be given their noise in any order that
does not look at the noise, be it an order by X and Y: independent numbers that are permuted so stay
independent, of each other and of the data, and X ⊥ Y | Z stays as true or false as it was. Where the
rounding is fine the noise is too small to matter. A value in over a fifth of the rows is an atom, not a
cell: such columns are left as they are, and their residuals are never ranked.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..inputs import Block

__all__ = ["lies_on_lattice", "spread_ties"]

_TIED_SHARE = 0.05  # by hand: of the rows: fewer repeated values say nothing about the width of a cell
_DECIMALS = 8  # values with more are not rounded
_OFF_LATTICE = 1e-4  # of a unit of the last decimal: what floating point makes of it is far less
_LARGEST = 1e11  # in these units; beyond, floating point is no longer exact enough


def spread_ties(block: Block, columns: np.ndarray, rng: np.random.Generator) -> Block:
    """Add uniform noise, as wide as the cell of each value, to those of `columns` that lie on a lattice.

    Examples
    --------
    >>> values = np.array([[1.0, np.sqrt(2)], [2.0, np.pi], [2.0, np.e], [4.0, np.sqrt(3)]])
    >>> block = Block(values, ("a", "b"), ("continuous",) * 2, (0, 1))
    >>> spread = spread_ties(block, np.array([True, True]), np.random.default_rng(0))
    >>> np.round(spread.values[:, 0]).tolist(), bool((spread.values[:, 1] == values[:, 1]).all())
    ([1.0, 2.0, 2.0, 4.0], True)
    """
    values = block.values
    for j in np.flatnonzero(columns):
        widths = _cell_widths(block.values[:, j])
        if widths is not None:
            values = values.copy() if values is block.values else values
            values[:, j] += widths * rng.uniform(-0.5, 0.5, len(values))
    return block if values is block.values else replace(block, values=values)


def lies_on_lattice(block: Block) -> bool:
    """Tell whether any column of numbers, a score with few levels included, lies on a lattice."""
    return any(
        _cell_widths(block.values[:, j]) is not None
        for j, kind in enumerate(block.kinds)
        if kind != "indicator"
    )


def _cell_widths(values: np.ndarray) -> np.ndarray | None:
    """Return the width of each value's cell; ``None`` for a column that is on no lattice.

    With many ties it is the distance to the nearest other value, which follows lattices that grow coarser
    with the value (two significant digits), but never more than at any tied value. With few it is the
    largest step of which all distances are multiples, if decimals have one.
    """
    levels, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(levels) < 3:
        return None
    gaps = np.diff(levels)
    tied = counts > 1
    if counts[tied].sum() < _TIED_SHARE * len(values):
        step = _decimal_step(levels)
        return None if step is None else np.full(len(values), step)
    nearest = np.minimum(np.append(gaps, np.inf), np.insert(gaps, 0, np.inf))
    return np.minimum(nearest, nearest[tied].max())[place]


def _decimal_step(levels: np.ndarray) -> float | None:
    """Return the greatest common divisor of the distances between rounded decimals."""
    for decimals in range(_DECIMALS + 1):
        scaled = levels * 10.0**decimals
        if np.abs(scaled).max() > _LARGEST:
            return None
        whole = np.round(scaled)
        if np.abs(scaled - whole).max() < _OFF_LATTICE:
            return float(np.gcd.reduce(np.diff(whole).astype(np.int64)) / 10.0**decimals)
    return None
