"""What is left of columns when others are removed, and how much its rows have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..numeric.grouped import sums_by_group

__all__ = ["Left", "orthonormal"]

_ROUNDING = 1e-16  # of a squared length: what is left of a column that others explain


@dataclass(frozen=True, eq=False)
class Left:
    """What is left of some columns when those of an orthonormal basis are removed.

    Removing them makes rows unlike that are near each other in what was removed: of independent rows i and j
    the products have the mean ``-(B B')_ij`` times the variance, which is what correlations are counted from.
    """

    columns: np.ndarray
    basis: np.ndarray

    @cached_property
    def variance(self) -> np.ndarray:
        """Of each column, before something was removed."""
        n, removed = self.basis.shape
        return np.square(self.columns).sum(axis=0) / max(n - removed, 1) + 1e-300

    @classmethod
    def of(cls, columns: np.ndarray, basis: np.ndarray) -> Left:
        """Remove the columns of an orthonormal basis."""
        return cls(columns - basis @ (basis.T @ columns), basis)

    def of_squares(self) -> Left:
        """Remove the same from the squares of what is left."""
        return Left.of(np.square(self.columns), self.basis)

    def without(self, columns: np.ndarray) -> Left:
        """Remove further columns."""
        new = columns - self.basis @ (self.basis.T @ columns)
        new = new[:, np.square(new).sum(axis=0) > _ROUNDING * np.square(columns).sum(axis=0)]
        return Left.of(self.columns, np.hstack([self.basis, np.linalg.qr(new)[0]]))

    def at_lags(self, n_lags: int) -> np.ndarray:
        """Correlations of rows 1, 2, ... apart, each the mean over the columns."""
        unit = self.columns / np.sqrt(self.variance)
        return np.array(
            [
                ((unit[:-k] * unit[k:]).sum() / unit.shape[1] + (self.basis[:-k] * self.basis[k:]).sum())
                / len(unit)
                for k in range(1, n_lags + 1)
            ]
        )

    def within(self, codes: np.ndarray) -> tuple[float, float]:
        """Return the mean correlation of rows that share a code, and the pairs that it is worth.

        If such rows have the correlation r, squares of sums exceed those of independent rows by r times a
        number that follows from what was removed (Henderson's method of variance components).
        """
        sizes = np.bincount(codes)
        sums, lost = sums_by_group(self.columns, codes), sums_by_group(self.basis, codes)
        of_codes = np.square(lost).sum(axis=1)
        alone = len(codes) - float(of_codes.sum())
        excess = float((np.square(sums).sum(axis=0) / self.variance).mean()) - alone
        together = float(sizes @ (sizes - 2.0 * of_codes)) + float(np.square(lost.T @ lost).sum())
        pairs = (together - alone) / 2
        return (excess / (2 * pairs), pairs) if pairs > 1 else (0.0, 1.0)


def orthonormal(columns: np.ndarray) -> np.ndarray:
    """Return orthonormal columns that span a constant and the given ones."""
    return np.linalg.qr(np.hstack([np.ones((len(columns), 1)), columns]))[0]
