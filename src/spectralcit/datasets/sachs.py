"""A graph of seven nodes after the protein network of Sachs et al., and three queries on it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..parameters import integer
from .base import Dataset, Sample
from .registry import declared

__all__ = ["SachsQuery"]


@declared("sachs")
class SachsQuery(Dataset):
    """A hub Z1 with children X1 to X4, and Y1 and Y2 below them; one of three queries.

    The paper does not give the matrices A_j nor the equation of Y1; here A_j has independent N(0, 1/d_z)
    entries and Y1 = cos(X1 + X2 + noise). Under the alternative X1 and Y2 share noise, which leaves query 3
    conditionally independent, so that query 3 has no alternative.

    References
    ----------
    Fröhlich et al. (2026), appendix, "CI queries on a Sachs-inspired model"; Sachs et al. (2005).
    """

    paper: ClassVar[str] = "Fröhlich et al. (2026), appendix; Sachs et al. (2005)"

    query: int = integer(
        1,
        "1: X1 and Y2 given (X3, X4). 2: the same given (X3, X4, Z1). 3: Y1 and Y2 given (X1, X2, X3, X4).",
        most=3,
    )
    d_z: int = integer(100, "Dimension of Z1, X3 and X4.")

    @property
    def has_alternative(self) -> bool:
        """The planted edge makes queries 1 and 2 dependent."""
        return self.query != 3

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        z = rng.standard_normal((n, self.d_z))
        noise = 0.5 * rng.standard_normal((5, n))
        mixing = rng.standard_normal((2, self.d_z, self.d_z)) / np.sqrt(self.d_z)
        x1, x2 = np.tanh(z.mean(axis=1) + noise[0]), np.tanh(z.mean(axis=1) + noise[1])
        x3, x4 = z @ mixing + 0.5 * rng.standard_normal((2, n, self.d_z))
        y2 = np.cos(x3.mean(axis=1) + x4.mean(axis=1) + noise[2])
        if dependent:
            x1, y2 = x1 + noise[4], y2 + noise[4]
        y1 = np.cos(x1 + x2 + noise[3])
        if self.query == 1:
            return x1, y2, np.hstack([x3, x4])
        if self.query == 2:
            return x1, y2, np.hstack([x3, x4, z])
        return y1, y2, np.column_stack([x1, x2, x3, x4])
