"""Rows that belong together: they share a code, as those of one label do, or lie in a row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

__all__ = ["Together", "runs", "sharing"]

_LABELS_PER_DEGREE, _MOST_DEGREE = 4, 6  # of a polynomial; by hand: a curve through eight labels bends once


@dataclass(frozen=True, eq=False)
class Together:
    """Groups of rows, one per code; what bases know of the same object is kept with them (`Basis`)."""

    codes: np.ndarray  # 0, 1, ..., all of which occur

    @cached_property
    def sizes(self) -> np.ndarray:
        """How many rows have each code."""
        return np.bincount(self.codes)

    @cached_property
    def _places(self) -> tuple[np.ndarray | None, np.ndarray]:
        """An order in which rows of one code are neighbours, unless they are, and where codes begin."""
        rising = bool((np.diff(self.codes) >= 0).all())
        order = None if rising else np.argsort(self.codes, kind="stable")
        return order, np.append(0, np.cumsum(self.sizes)[:-1])

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sums of `values` over the rows of each code."""
        order, starts = self._places
        return np.add.reduceat(values if order is None else values[order], starts, axis=0)

    @cached_property
    def smooth(self) -> np.ndarray:
        """Polynomials of the code as a number: if x and y are no more than that, it is a covariate."""
        degree = min(_MOST_DEGREE, len(self.sizes) // _LABELS_PER_DEGREE)
        return np.polynomial.legendre.legvander(2.0 * self.codes / self.codes.max() - 1.0, degree)[:, 1:]


@lru_cache(maxsize=32)  # of one number of rows there are ten
def runs(n: int, size: int) -> Together:
    """Return groups of so many rows in a row; the same object every time."""
    return Together(np.arange(n) // size)


def sharing(values: np.ndarray) -> Together:
    """Return the groups of equal values, in their order; the same object for the same values of late."""
    return _remembered_groups(values.tobytes(), values.dtype.str)


@lru_cache(maxsize=64)  # columns of Z, and labels beside, of one table: each question asks for them again
def _remembered_groups(values: bytes, dtype: str) -> Together:
    return Together(np.unique(np.frombuffer(values, dtype), return_inverse=True)[1].ravel())
