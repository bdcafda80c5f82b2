"""What a report draws of a test: residuals with bands, the pair most tied given Z, and single columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .inputs import CIData

__all__ = ["BinnedMeans", "ColumnView", "Kept", "LeadingPair", "SideView"]


@dataclass(frozen=True, eq=False, repr=False)
class Kept:
    """What a result needs to draw itself: the prepared data, and the settings of the test.

    Parameters
    ----------
    data
        As the test saw them.
    params
        Parameters of the test that are not its defaults; neither the seed nor the way with missing values.
    """

    data: CIData
    params: dict[str, Any]


@dataclass(frozen=True, eq=False)
class BinnedMeans:
    """Means of residuals in bins of something else, and how far from zero chance alone takes them.

    Parameters
    ----------
    along
        Name of what the bins are made of.
    position
        Its value in each row; of categories, the number of the level.
    labels
        The levels, where it has some; otherwise empty.
    centres, means
        Mean of `position` and of the residuals, one entry per bin.
    margin
        Half the width of the band: when there is nothing to see, all means of all that was looked at are
        within it in a share `level` of data sets.
    pvalue
        Chance of a larger departure anywhere when there is nothing to see.
    n_looked
        Number of columns that were looked at; this is the one with the most surprising mean.
    level
        Of the band.
    """

    along: str
    position: np.ndarray
    labels: tuple[str, ...]
    centres: np.ndarray
    means: np.ndarray
    margin: np.ndarray
    pvalue: float
    n_looked: int = 1
    level: float = 0.99

    @property
    def leaves_band(self) -> bool:
        """Whether a mean is outside of the band."""
        return bool((np.abs(self.means) > self.margin).any())


@dataclass(frozen=True, eq=False)
class SideView:
    """One side of the test, in one of its columns: the most dependent one.

    Parameters
    ----------
    name
        The column.
    residual
        What Z leaves of it, as the test uses it: far values pulled in, about one in size.
    remainder
        Its means along the column of Z of which most is left; ``None`` without Z.
    """

    name: str
    residual: np.ndarray
    remainder: BinnedMeans | None = None


@dataclass(frozen=True)
class ColumnView:
    """One of several columns of a side, by itself.

    Parameters
    ----------
    name
        The column.
    partner
        The column of the other side that goes with it most closely.
    correlation
        The partial correlation of the two given Z; its sign says which way they go.
    pvalue
        For its dependence, of any shape, on the whole other side given Z, without regard to the other columns
        beside it.
    """

    name: str
    partner: str
    correlation: float
    pvalue: float


@dataclass(frozen=True, eq=False)
class LeadingPair:
    """The function of X and the function of Y that are most correlated given Z.

    Where X or Y has several columns and the test learned directions, the most surprising pair of functions
    along them.

    Parameters
    ----------
    u, v
        Their values, one per row, with mean square one.
    correlation
        The mean of their product: what is left of their correlation when Z is known.
    singular_value
        The first of ``result.diagnostics["singular_values"]``, when all rows were used.
    x, y
        The residuals behind them, of the column of X and the column of Y that depend most.
    n_total
        Rows of the data; `u` and `v` have fewer when only a part of the rows was looked at.
    shapes
        Of functions along learned directions, ``"linear"`` or ``"square"``; ``None`` where none were learned.
    partial
        Means of ``y.residual`` along ``x.residual``.
    columns
        By role, ``"x"`` or ``"y"``, every column of a side that has several, the most dependent first.
    """

    u: np.ndarray
    v: np.ndarray
    correlation: float
    singular_value: float
    x: SideView
    y: SideView
    n_total: int
    shapes: tuple[str, str] | None = None
    partial: BinnedMeans | None = None
    columns: dict[str, tuple[ColumnView, ...]] = field(default_factory=dict)
