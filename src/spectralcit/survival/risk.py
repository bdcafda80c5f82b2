"""Who is at risk of the event when: rows by intervals of time with about equally many events.

Within an interval risks are proportional; from one to the next they may change. Exposure is counted in units
of the baseline hazard, which is free at every event time (Breslow).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

__all__ = ["RiskSets"]

_EVENTS_PER_INTERVAL = 15  # by hand: with fewer, what is at risk in an interval says little about Z
_MAX_INTERVALS = 8  # by hand: each costs a regression of X on Z among the rows at risk


@dataclass(frozen=True, eq=False)
class RiskSets:
    """Times and events, by interval.

    Examples
    --------
    >>> sets = RiskSets(np.array([1.0, 2.0, 2.0, 3.0]), np.array([True, True, False, True]))
    >>> sets.n_intervals, float(sets.events.sum())
    (1, 3.0)
    >>> np.round(
    ...     sets.exposure(np.ones((4, 1))).ravel(), 3
    ... ).tolist()  # the censored row is there for half of 2
    [0.25, 0.65, 0.45, 1.65]
    """

    time: np.ndarray
    event: np.ndarray

    @cached_property
    def times(self) -> np.ndarray:
        """The distinct event times, sorted."""
        return np.unique(self.time[self.event])

    @cached_property
    def _upto(self) -> np.ndarray:
        """How many event times each row lived to see."""
        return np.searchsorted(self.times, self.time, side="right")

    @cached_property
    def _deaths(self) -> np.ndarray:
        return np.bincount(self._upto[self.event] - 1, minlength=len(self.times)).astype(float)

    @cached_property
    def _tied(self) -> np.ndarray:
        """Rows that were censored at the very time of an event.

        Rounding hides which came first, so they count as at risk for half of it (the actuaries' rule). Where
        times are not rounded there are none.
        """
        at = np.maximum(self._upto - 1, 0)
        return ~self.event & (self._upto > 0) & (self.times[at] == self.time)

    @cached_property
    def _interval(self) -> np.ndarray:
        """The interval of each event time."""
        deaths = self._deaths
        n_intervals = int(np.clip(deaths.sum() // _EVENTS_PER_INTERVAL, 1, _MAX_INTERVALS))
        middle = (np.cumsum(deaths) - deaths / 2.0) / deaths.sum()
        return np.unique((n_intervals * middle).astype(int), return_inverse=True)[1]

    @property
    def n_intervals(self) -> int:
        """Number of intervals, each with at least one event time."""
        return int(self._interval[-1]) + 1

    @cached_property
    def _bounds(self) -> np.ndarray:
        """Positions of the first event time of each interval, and the number of event times."""
        return np.searchsorted(self._interval, np.arange(self.n_intervals + 1))

    @cached_property
    def at_risk(self) -> np.ndarray:
        """Whether a row is at risk at the first event time of an interval, shape (n, intervals)."""
        return self._upto[:, None] > self._bounds[:-1]

    @cached_property
    def events(self) -> np.ndarray:
        """One where the row's event falls into the interval, shape (n, intervals)."""
        found = np.zeros((len(self.time), self.n_intervals))
        rows = np.flatnonzero(self.event)
        found[rows, self._interval[self._upto[rows] - 1]] = 1.0
        return found

    @cached_property
    def middles(self) -> np.ndarray:
        """Share of the events that come before the middle of each interval."""
        deaths = self.events.sum(axis=0)
        return (np.cumsum(deaths) - deaths / 2.0) / deaths.sum()

    def exposure(self, risk: np.ndarray) -> np.ndarray:
        """Return the baseline hazard that each row lived through in each interval.

        `risk` holds the rows' relative risks, shape (n, intervals). ``events - risk * exposure`` are the
        increments of the martingale residuals; they sum to zero at every event time.
        """
        exposed = np.zeros_like(risk)
        last = np.maximum(self._upto - 1, 0)
        for j, (first, end) in enumerate(zip(self._bounds[:-1], self._bounds[1:], strict=True)):
            seen = np.bincount(self._upto, risk[:, j], minlength=len(self.times) + 1)
            present = np.cumsum(seen[::-1])[::-1][1:]
            half = np.bincount(last[self._tied], risk[self._tied, j], minlength=len(self.times))
            jumps = self._deaths[first:end] / (present - 0.5 * half)[first:end]
            total = np.append(0.0, np.cumsum(jumps))
            exposed[:, j] = total[np.clip(self._upto, first, end) - first]
            here = self._tied & (last >= first) & (last < end)
            exposed[here, j] -= 0.5 * jumps[last[here] - first]
        return exposed
