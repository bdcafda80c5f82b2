"""Y redrawn given Z: real X and real Z, and an outcome of which X is independent given Z by construction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..datasets.real.laws import fit_law
from ..numeric.standardize import standardized
from .prediction import encoded

__all__ = ["chance_given", "redrawn"]


def chance_given(frame: Any, y: str, z: Sequence[str]) -> NDArray[np.float64]:
    """The chance of Y = 1 given Z, by the regression that predicts held-out rows best (`fit_law`).

    Parameters
    ----------
    frame
        A pandas frame without gaps.
    y, z
        Names of columns; `y` is 0 or 1.
    """
    return fit_law(frame[y].to_numpy(float), standardized(encoded(frame, z))).centre


def redrawn(frame: Any, y: str, chance: NDArray[np.float64], rng: np.random.Generator) -> Any:
    """The frame with an outcome drawn anew, a coin of the given chance for each row.

    Parameters
    ----------
    frame
        A pandas frame.
    y
        The column that is drawn; the frame itself stays as it is.
    chance
        Of a one, for each row: a function of Z alone.
    rng
        Where chance comes from.
    """
    drawn = (rng.uniform(size=len(chance)) < chance).astype(float)
    return frame.assign(**{y: drawn})
