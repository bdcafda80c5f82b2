"""What is left of columns when others are removed, and how much its rows have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from .together import Together

__all__ = ["Basis", "Left", "orthonormal"]

_ROUNDING = 1e-16  # of a squared length: what is left of a column that others explain


@dataclass(frozen=True, eq=False)
class _Lost:
    """What groups of rows lose to a basis, and so the moments of the squares of their sums of unit noise."""

    parts: tuple[np.ndarray, ...]  # sums of its columns over the rows of each group
    mean: float  # of the sum of the squares over all groups
    square: float  # half its variance: the sum of the squared covariances of all pairs of groups


class Basis:
    """Orthonormal columns to remove: those of an earlier basis and new ones.

    What follows from the columns alone is kept: one basis serves many columns, and so does what comes first
    in several bases. What follows from groups of rows is kept as long as these are.
    """

    def __init__(self, new: np.ndarray, before: Basis | None = None) -> None:
        self._new, self._before = new, before
        self._at_lags: dict[int, np.ndarray] = {}
        self._lost: WeakKeyDictionary[Together, _Lost] = WeakKeyDictionary()
        self._beside_codes: WeakKeyDictionary[Together, dict[int, Basis]] = WeakKeyDictionary()

    @property
    def width(self) -> int:
        """Number of columns."""
        return self._new.shape[1] + (0 if self._before is None else self._before.width)

    def remove(self, columns: np.ndarray) -> np.ndarray:
        """Return what the basis does not explain."""
        left = columns if self._before is None else self._before.remove(columns)
        return left - self._new @ (self._new.T @ left)

    def beside(self, columns: np.ndarray) -> Basis:
        """Return a basis of these columns too."""
        new = self.remove(columns)
        new = new[:, np.square(new).sum(axis=0) > _ROUNDING * np.square(columns).sum(axis=0)]
        return Basis(np.linalg.qr(new)[0], self)

    def beside_codes(self, groups: Together, degree: int) -> Basis:
        """Return a basis of polynomials of the groups' codes too."""
        known = self._beside_codes.setdefault(groups, {})
        if degree not in known:
            known[degree] = self.beside(groups.smooth[:, :degree])
        return known[degree]

    def at_lags(self, n_lags: int) -> np.ndarray:
        """Return the sums of products of rows 1, 2, ... apart, over all columns."""
        if n_lags not in self._at_lags:
            earlier = 0.0 if self._before is None else self._before.at_lags(n_lags)
            self._at_lags[n_lags] = earlier + products_at_lags(self._new, n_lags)
        return self._at_lags[n_lags]

    def lost(self, groups: Together) -> _Lost:
        """Return what these groups of rows lose."""
        if groups in self._lost:
            return self._lost[groups]
        new = groups.sums(self._new)
        earlier = _Lost((), float(len(groups.codes)), float(groups.sizes @ groups.sizes))
        if self._before is not None:
            earlier = self._before.lost(groups)
        of_codes = np.square(new).sum(axis=1)
        across = sum(float(np.square(part.T @ new).sum()) for part in earlier.parts)
        square = float(np.square(new.T @ new).sum()) + 2.0 * (across - float(groups.sizes @ of_codes))
        self._lost[groups] = _Lost(
            (*earlier.parts, new), earlier.mean - float(of_codes.sum()), earlier.square + square
        )
        return self._lost[groups]


def products_at_lags(columns: np.ndarray, n_lags: int) -> np.ndarray:
    """Return the sums over all columns of products of rows 1, 2, ... apart, by Fourier transforms.

    Examples
    --------
    >>> products_at_lags(np.array([[1.0], [2.0], [3.0]]), 2).round(9).tolist()
    [8.0, 3.0]
    """
    length = 1 << (len(columns) + n_lags - 1).bit_length()  # so that the ends do not meet
    power = np.square(np.abs(np.fft.rfft(columns.T, length))).sum(axis=0)
    return np.fft.irfft(power, length)[1 : n_lags + 1]


@dataclass(frozen=True, eq=False)
class Left:
    """What is left of some columns when those of a basis are removed.

    Removing them makes rows unlike that are near each other in what was removed: of independent rows i and j
    the products have the mean ``-(B B')_ij`` times the variance, which is what correlations are counted from.
    """

    columns: np.ndarray
    basis: Basis

    @cached_property
    def variance(self) -> np.ndarray:
        """Of each column, before something was removed."""
        n = len(self.columns)
        return np.square(self.columns).sum(axis=0) / max(n - self.basis.width, 1) + 1e-300

    @classmethod
    def of(cls, columns: np.ndarray, basis: Basis) -> Left:
        """Remove the columns of a basis."""
        return cls(basis.remove(columns), basis)

    def of_squares(self) -> Left:
        """Remove the same from the squares of what is left."""
        return Left.of(np.square(self.columns), self.basis)

    def without_codes(self, groups: Together, degree: int) -> Left:
        """Remove polynomials of the groups' codes, up to a degree, too."""
        return Left.of(self.columns, self.basis.beside_codes(groups, degree))

    def at_lags(self, n_lags: int) -> np.ndarray:
        """Correlations of rows 1, 2, ... apart, each the mean over the columns."""
        unit = self.columns / np.sqrt(self.variance)
        products = products_at_lags(unit, n_lags) / unit.shape[1]
        return (products + self.basis.at_lags(n_lags)) / len(unit)

    def within(self, groups: Together) -> tuple[float, float]:
        """Return the mean correlation of rows that share a code, and the pairs that it is worth.

        If such rows have the correlation r, squares of sums exceed those of independent rows by r times a
        number that follows from what was removed (Henderson's method of variance components).
        """
        sums, lost = groups.sums(self.columns), self.basis.lost(groups)
        excess = float((np.square(sums).sum(axis=0) / self.variance).mean()) - lost.mean
        pairs = (lost.square - lost.mean) / 2
        return (excess / (2 * pairs), pairs) if pairs > 1 else (0.0, 1.0)


def orthonormal(columns: np.ndarray) -> Basis:
    """Return a basis of a constant and the given columns."""
    return Basis(np.linalg.qr(np.hstack([np.ones((len(columns), 1)), columns]))[0])
