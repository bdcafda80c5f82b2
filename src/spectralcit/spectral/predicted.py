"""Functions of what Z predicts of a side, removed beside Z from functions of the side's own values.

With noise that is added to its mean, the mean of any function of a value given Z is a smooth function of the
mean of the value: a function of one number, however many columns Z has. So once the mean is learned, so is,
with a few cosines of the prediction, the mean of every other function; a smoother of all of Z would have to
learn each of them anew. The prediction is made of one side and Z only, as everything on a side is.
"""

from __future__ import annotations

import numpy as np

from ..nuisance import AugmentedFit, LinearFit, NuisanceFit
from ..numeric.ranks import rank_angles

__all__ = ["beside_prediction", "mean_is_within_reach"]

_HIGHEST_ORDER = 10  # by hand: noise blurs functions of a value to slow functions of its mean
_ROWS_EACH = 50  # by hand: rows that a function more may cost; with fewer it takes more than it brings
_EXPLAINED = 0.05  # by hand: a prediction of less than this share of the variance is mostly noise


def mean_is_within_reach(n: int, count: int) -> bool:
    """Tell whether rows suffice to remove functions of what is predicted of each of so many columns.

    Where they do not, what is left of Z in functions of many columns' own values adds up: of 200 columns it
    was taken for dependence in half of the null data sets. A single column is small enough for any fit.
    """
    return count <= max(1, n // _ROWS_EACH)


def beside_prediction(fit: NuisanceFit, location: NuisanceFit, columns: np.ndarray) -> NuisanceFit:
    """Return a fit that also removes cosines of what `location` predicts of some of the side's columns."""
    n, count = len(location.targets), int(columns.sum())
    orders = min(_HIGHEST_ORDER, n // (_ROWS_EACH * max(count, 1)))
    if orders == 0 or location.design is not None or location.r_squared < _EXPLAINED:
        return fit
    targets = location.targets[:, columns]
    predicted = targets - location.remove(location.targets)[:, columns]
    angles = rank_angles(predicted)
    functions = np.hstack([np.cos(order * angles) for order in range(1, orders + 1)])
    if isinstance(fit, AugmentedFit):
        return AugmentedFit(fit.plain, np.hstack([fit.columns, functions]))
    return AugmentedFit(fit, functions) if isinstance(fit, LinearFit) else fit
