"""Where in their cells the values of a lattice are expected: waves of what Z predicts.

The mean of a rounded value, and that of any function of its residual, is a wave of what Z predicts, with a
period of one cell and the same phase for X and for Y. Which periods there are (a column may be rounded to
ones in some rows and to tens in others) shows in the characteristic function of the column, which has a peak
at the frequency of every lattice. Waves faster than what Z leaves unexplained are blurred by it.
"""

from __future__ import annotations

import numpy as np
from scipy import fft

from ..inputs import Block
from .dictionary import Location

__all__ = ["lattice_frequencies", "phase_columns"]

_BINS_PER_SPREAD = 16  # by hand: of the histogram, so that even the fastest waves are seen undamped
_MOST_BINS = 2**17  # a lattice finer than that shows no waves in what Z leaves
_TAIL = 0.005  # of the rows at either end: outliers would stretch the histogram
_SLOWEST = 0.5  # periods per standard deviation of the column; slower waves are its shape
_FASTEST = 3.0  # periods per standard deviation of what Z leaves, rounding included, which blurs faster ones
_CLEAR = 4.0  # by hand: standard errors of the characteristic function
_MOST = 12  # by hand: frequencies; a sharp staircase has many harmonics, and with six 300 rows see the rest
_ROWS_EACH = 100  # by hand: with several columns there may be a frequency more for so many rows


def phase_columns(block: Block, location: Location) -> np.ndarray:
    """Return waves of what Z predicts of a side: a cosine and a sine for each frequency of its lattices."""
    fit = location.fit
    fitted = fit.targets - fit.remove(fit.targets)
    heights, angles = [np.zeros(0)], [np.zeros((len(fitted), 0))]
    for j, kind in enumerate(block.kinds):
        if kind == "indicator":
            continue
        values = block.values[:, j]
        by_value = np.argsort(values)
        predicted = np.interp(fitted[:, j], fit.targets[by_value, j], values[by_value])
        frequency, height = lattice_frequencies(values, float(np.std(values - predicted)))
        heights.append(height)
        angles.append(2.0 * np.pi * predicted[:, None] * frequency)
    strongest = np.argsort(-np.concatenate(heights), kind="stable")[: max(_MOST, len(fitted) // _ROWS_EACH)]
    chosen = np.hstack(angles)[:, strongest]
    return np.hstack([np.cos(chosen), np.sin(chosen)])


def lattice_frequencies(values: np.ndarray, left: float) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies where the characteristic function of a column has clear peaks, and their heights.

    Parameters
    ----------
    values
        The column.
    left
        The standard deviation of what Z does not explain of it.

    Examples
    --------
    >>> values = np.random.default_rng(0).normal(0.0, 3.0, 500)
    >>> for column in (np.round(values), values):
    ...     frequency, height = lattice_frequencies(column, 0.4)
    ...     print(np.round(frequency, 1).tolist(), np.round(height, 1).tolist())
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0] [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    [] []
    """
    low, high = np.quantile(values, [_TAIL, 1.0 - _TAIL])
    width = left / _BINS_PER_SPREAD
    if not (high - low) / _MOST_BINS < width < high - low:
        return np.zeros(0), np.zeros(0)
    inner = values[(values >= low) & (values <= high)]
    place = np.round((inner - low) / width).astype(int)
    size = fft.next_fast_len(4 * (int(place.max()) + 1), real=True)
    height = np.abs(fft.rfft(np.bincount(place, minlength=size))) / len(inner)
    frequency = np.arange(len(height)) / (size * width)
    peak = np.zeros(len(height), dtype=bool)
    peak[1:-1] = (height[1:-1] >= height[:-2]) & (height[1:-1] > height[2:])
    peak &= (frequency >= _SLOWEST / inner.std()) & (frequency <= _FASTEST / left)
    found = np.flatnonzero(peak & (height > _CLEAR / np.sqrt(len(inner))))
    strongest = np.sort(found[np.argsort(-height[found], kind="stable")[:_MOST]])
    return frequency[strongest], height[strongest]
