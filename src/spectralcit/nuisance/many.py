"""A smoother and a penalty for each of many columns, by matrix products over all of them at once.

Only smoothers that need no look at the columns take part, and generalised cross-validation chooses among
them: it needs the columns' coordinates, not the residuals of every row. That is cruder than the search for
the columns of one side, and a hundred times quicker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..numeric.grouped import standard_error
from .selection import beyond_chance
from .smoother import LEVERAGE_CAP, Smoother

__all__ = ["ManyFits", "choose_each"]


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


def choose_each(smoothers: list[Smoother], targets: np.ndarray) -> ManyFits:
    """Choose for each target; the first smoother, least squares, stays unless another is clearly better.

    Generalised cross-validation chooses among the others, and leave-one-out errors say whether that one is
    better by more than chance explains: heavy tails deceive the former.

    Unlike in `select` penalties are not relaxed. What a ridge shrinks away stays in these residuals alone:
    those of the other side come from the whole search. And where one of few ready smoothers has to follow a
    function that it does not suit, relaxing would cost it half of the degrees of freedom.
    """
    m = targets.shape[1]
    plain = ManyFits(tuple(smoothers), np.zeros(m, dtype=int), np.zeros(m), np.ones(m))
    least_squares = np.square(plain.out_of_sample(targets))
    curved = _best_curved(plain, targets)
    losses = np.square(curved.out_of_sample(targets))
    gain = least_squares - losses
    clearly = gain.mean(axis=0) > beyond_chance(len(targets)) * standard_error(gain, None)
    variance = np.maximum(targets.var(axis=0), 1e-300)
    return ManyFits(
        plain.smoothers,
        np.where(clearly, curved.which, plain.which),
        np.where(clearly, curved.penalties, plain.penalties),
        np.where(clearly, losses.mean(axis=0), least_squares.mean(axis=0)) / variance,
    )


def _best_curved(plain: ManyFits, targets: np.ndarray) -> ManyFits:
    """Return the choices with the least error by generalised cross-validation, least squares aside."""
    which, penalties, errors = plain.which.copy(), plain.penalties.copy(), np.full(len(plain.which), np.inf)
    for k, smoother in enumerate(plain.smoothers):
        allowed = smoother.admissible_penalties()
        if k == 0 or not len(allowed):
            continue
        path = smoother.gcv_errors(targets, allowed)
        best = path.argmin(axis=0)
        least = path[best, np.arange(len(best))]
        less = least < errors
        which[less], penalties[less], errors[less] = k, allowed[best[less]], least[less]
    return replace(plain, which=which, penalties=penalties)
