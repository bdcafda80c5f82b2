"""Numbers that repeat without being labels: counts, rounded values, and what rough functions of them do.

A quantity that is measured once per site or subject repeats exactly within it, and is as good as a label.
Values of a lattice repeat by themselves, but then values one step apart are as frequent as equal ones.
"""

from __future__ import annotations

import numpy as np

from .left import Left
from .together import Together

__all__ = ["beside_waves", "repeats_by_itself"]

_ATOM = 0.2  # of the rows, by hand: zeros of a count that has too many of them say nothing about the others
_ROUNDING = 1e-9  # of the range: less apart are values that are one but for floating point
_NEXT = 1.5  # steps: beyond, values are not next to each other on the lattice
_LABELS_PER_WAVE = 6  # at least, by hand: with more waves nothing would be left of them
_WAVE_LEVEL = 0.05  # by hand: a wave that is removed without need takes a part of what subjects share only
_LEAST_LEFT = 0.01  # of a wave beside what was removed, by hand: of less, numbers are too rough to judge
_PER_PERIOD = 16  # frequencies that are tried between those of neighbouring numbers of periods in the range
_MOST_FREQUENCIES = 1000  # for the time


def repeats_by_itself(values: np.ndarray) -> bool:
    """Tell whether values repeat no more than those of a lattice do, given how many are one step apart.

    Of independent values on a lattice, whose law hardly changes from one step to the next, twice as many
    pairs are one step apart as are equal. Of sites or subjects hardly any are, unless these are numbered.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> counts, altitudes = rng.poisson(20, 400) * 1.0, np.round(rng.uniform(0, 2000, 40), 1)
    >>> repeats_by_itself(counts), repeats_by_itself(altitudes[rng.integers(0, 40, 400)])
    (True, False)
    """
    levels, counts = np.unique(values, return_counts=True)
    gaps = np.diff(levels)
    gaps = gaps[gaps > _ROUNDING * (levels[-1] - levels[0])]
    if not len(gaps):
        return True
    kinds = np.ones(len(levels), dtype=bool), counts <= _ATOM * len(values)
    return any(_is_lattice(levels[kept], counts[kept].astype(np.float64), gaps.min()) for kept in kinds)


def _is_lattice(levels: np.ndarray, counts: np.ndarray, step: float) -> bool:
    """Tell whether at least as many pairs of values are one step apart as are equal."""
    following = np.diff(levels) < _NEXT * step
    return float(counts @ (counts - 1.0)) / 2 <= float(counts[:-1][following] @ counts[1:][following])


def beside_waves(both: tuple[Left, Left], values: np.ndarray, groups: Together) -> tuple[Left, Left]:
    """Remove from both sides the waves of a number, of any frequency, that explain either beyond chance.

    Parity, remainders and other rough functions of a number are few waves; effects of subjects, in
    the order of their numbers, are as much of each as of any other.
    """
    levels = np.unique(values)
    steps = levels - levels[0]
    count = min(int(_PER_PERIOD * steps[-1]), _MOST_FREQUENCIES)
    turns = 2 * np.pi * np.outer(steps, np.arange(1, count + 1) / (2 * count))
    waves = np.stack([np.cos(turns), np.sin(turns)])
    best = [wave for side in both for wave in _best_waves(side, groups, waves)]
    if not best:
        return both
    columns = np.hstack(best)[groups.codes]
    x, y = (Left.of(side.columns, side.basis.beside(columns)) for side in both)
    return x, y


def _best_waves(side: Left, groups: Together, waves: np.ndarray) -> list[np.ndarray]:
    """Return the waves that explain more of a side's means of groups than chance, one after the other."""
    from scipy import special  # half a second that `spectralcit --help` need not wait

    n_groups, found = len(groups.sizes), []
    for _ in range(n_groups // _LABELS_PER_WAVE):
        lost = np.hstack(side.basis.lost(groups).parts)
        sums = groups.sums(side.columns) / np.sqrt(side.variance)
        explained = _explained(sums, groups.sizes, lost, waves)
        best = int(np.argmax(explained))
        rest = n_groups - 2.0 - float((np.square(lost).sum(axis=1) / groups.sizes).sum())
        beyond = float((np.square(sums).sum(axis=1) / groups.sizes).sum()) - explained[best]
        ratio = explained[best] / 2 * max(rest, 1.0) / max(beyond, _ROUNDING * explained[best], 1e-300)
        if special.fdtrc(2.0, max(rest, 1.0), ratio) * n_groups > _WAVE_LEVEL:
            break
        wave = waves[:, :, best].T
        found.append(wave[:, np.square(wave).sum(axis=0) > _ROUNDING])  # a sine of half turns is nothing
        side = Left.of(side.columns, side.basis.beside(found[-1][groups.codes]))
    return found


def _explained(sums: np.ndarray, sizes: np.ndarray, lost: np.ndarray, waves: np.ndarray) -> np.ndarray:
    """Return the sum of squares that a cosine and a sine of each frequency explain beside a basis."""
    of_basis = np.einsum("gb,wgf->wbf", lost, waves, optimize=True)
    aa, bb, ab = (
        sizes @ (waves[i] * waves[j]) - (of_basis[i] * of_basis[j]).sum(axis=0)
        for i, j in ((0, 0), (1, 1), (0, 1))
    )
    least = _LEAST_LEFT * sizes.sum()
    aa, bb = aa + least, bb + least
    a, b = waves[0].T @ sums, waves[1].T @ sums
    top = bb[:, None] * a**2 - 2 * ab[:, None] * a * b + aa[:, None] * b**2
    return top.sum(axis=1) / (aa * bb - ab**2)
