"""What a report draws of a test: the residuals of both sides and the pair of functions most tied given Z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .inputs import CIData

__all__ = ["Kept", "LeadingPair", "SideView"]


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
class SideView:
    """One side of the test, in the column that counts most.

    Parameters
    ----------
    name
        The column.
    predicted
        What Z says about it, each row predicted without that row, in standard deviations of the column.
    residual
        What Z leaves of it, divided by its scale given Z.
    """

    name: str
    predicted: np.ndarray
    residual: np.ndarray


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
        The residuals behind them.
    n_total
        Rows of the data; `u` and `v` have fewer when only a part of the rows was looked at.
    shapes
        Of functions along learned directions, ``"linear"`` or ``"square"``; ``None`` where none were learned.
    """

    u: np.ndarray
    v: np.ndarray
    correlation: float
    singular_value: float
    x: SideView
    y: SideView
    n_total: int
    shapes: tuple[str, str] | None = None
