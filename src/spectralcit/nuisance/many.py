"""A smoother and a penalty for each of many columns, by matrix products over all of them at once.

Only smoothers that need no look at the columns take part, and generalised cross-validation chooses: it needs
the columns' coordinates, not the residuals of every row. That is cruder than the search for the columns of
one side, and a hundred times quicker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from .selection import without_remainder
from .smoother import LEVERAGE_CAP, Smoother

__all__ = ["ManyFits", "choose_each"]

# By hand: rows times the share of the error that a curved fit must save to be preferred to least squares. The
# best of a few hundred fits saves that much of pure noise in one column of twenty.
_CLEAR = 6.0


@dataclass(frozen=True, eq=False)
class ManyFits:
    """The choice for each column."""

    smoothers: tuple[Smoother, ...]
    which: np.ndarray  # position of each column's smoother
    penalties: np.ndarray
    errors: np.ndarray  # out-of-sample error as a share of each column's variance

    def take(self, columns: np.ndarray) -> ManyFits:
        """Return the choices for some of the columns; positions may repeat."""
        which, penalties, errors = (each[columns] for each in (self.which, self.penalties, self.errors))
        return ManyFits(self.smoothers, which, penalties, errors)

    def on(self, other_rows: Callable[[Smoother], Smoother]) -> ManyFits:
        """Return the same choices on other rows."""
        used = set(self.which.tolist())
        moved = (other_rows(one) if k in used else one for k, one in enumerate(self.smoothers))
        return replace(self, smoothers=tuple(moved))

    def remove(self, columns: np.ndarray) -> np.ndarray:
        """Take Z out of each column's features, shape (n, columns, features)."""
        n, _, width = columns.shape
        left = np.empty_like(columns)
        for smoother, members in self._groups():
            penalties = np.repeat(self.penalties[members], width)
            flat = smoother.residuals_each(columns[:, members].reshape(n, -1), penalties)
            left[:, members] = flat.reshape(n, len(members), width)
        return left

    def out_of_sample(self, columns: np.ndarray) -> np.ndarray:
        """Return the residual of each column's rows from the fit without that row, shape (n, columns)."""
        left = self.remove(columns[:, :, None])[:, :, 0]
        for smoother, members in self._groups():
            for penalty, same in _by_penalty(self.penalties, members):
                kept = 1.0 - np.minimum(smoother.leverage(penalty), LEVERAGE_CAP)
                left[:, same] /= kept[:, None]
        return left

    def adjoint(self, column: np.ndarray) -> np.ndarray:
        """Take Z out of one column as it is taken out of each of the columns, shape (n, columns)."""
        left = np.empty((len(column), len(self.which)))
        for smoother, members in self._groups():
            for penalty, same in _by_penalty(self.penalties, members):
                left[:, same] = smoother.residuals(column[:, None], penalty)
        return left

    def row_scale(self) -> np.ndarray:
        """Return the standard deviation that unit noise keeps in each row of `remove`, shape (n, columns)."""
        scale = np.empty((self.smoothers[self.which[0]].n, len(self.which)))
        for smoother, members in self._groups():
            for penalty, same in _by_penalty(self.penalties, members):
                scale[:, same] = smoother.row_scale(penalty)[:, None]
        return scale

    def optimism(self) -> np.ndarray:
        """Return, for each column, by what factor the choice makes variances look too small.

        See `LinearFit.optimism`.
        """
        factor = np.ones(len(self.which))
        for smoother, members in self._groups():
            adaptive = smoother.shrinkages(self.penalties[members]).sum(axis=0)
            factor[members] = 1.0 / (1.0 - 0.5 * adaptive / smoother.n)
        return factor

    def _groups(self) -> Iterator[tuple[Smoother, np.ndarray]]:
        for k in np.unique(self.which):
            yield self.smoothers[k], np.flatnonzero(self.which == k)


def _by_penalty(penalties: np.ndarray, members: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
    for penalty in np.unique(penalties[members]):
        yield float(penalty), members[penalties[members] == penalty]


def choose_each(smoothers: list[Smoother], targets: np.ndarray, *, relax: bool = True) -> ManyFits:
    """Choose for each target; the first smoother, least squares, stays unless another is clearly better.

    As in `select`, a penalty is relaxed, if asked for, until little of what Z explains is expected to be
    left.
    """
    n, m = targets.shape
    every = np.arange(m)
    variance = np.maximum(targets.var(axis=0), 1e-300)
    least_squares = smoothers[0].gcv_errors(targets, np.zeros(1))[0]
    which, penalties, errors = np.zeros(m, dtype=int), np.zeros(m), np.full(m, np.inf)
    for k, smoother in enumerate(smoothers):
        allowed = smoother.admissible_penalties()
        if k == 0 or not len(allowed):
            continue
        path = smoother.gcv_errors(targets, allowed)
        best = path.argmin(axis=0)
        less = path[best, every] < errors
        which[less], penalties[less], errors[less] = k, allowed[best[less]], path[best, every][less]
    clearly = n * (least_squares - errors) > _CLEAR * least_squares
    which, penalties = np.where(clearly, which, 0), np.where(clearly, penalties, 0.0)

    @cache
    def relaxed(k: int, penalty: float) -> float:
        return without_remainder(smoothers[k], penalty, penalty)

    for j in np.flatnonzero(clearly & relax):
        penalties[j] = relaxed(int(which[j]), float(penalties[j]))
    errors = np.where(clearly, errors, least_squares)
    return ManyFits(tuple(smoothers), which, penalties, errors / variance)
