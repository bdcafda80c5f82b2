"""Keep p-values inside (0, 1]."""

from __future__ import annotations

import math
import sys

from ..errors import ParameterError

__all__ = ["SMALLEST_PVALUE", "as_pvalue"]

SMALLEST_PVALUE = sys.float_info.min
"""What a tail probability that underflows becomes: no finite sample has probability zero."""


def as_pvalue(value: float) -> float:
    """Return `value` as a p-value in (0, 1].

    Parameters
    ----------
    value
        A tail probability, up to rounding. NaN is an error of the caller, not a p-value.

    Examples
    --------
    >>> as_pvalue(1.0000000000000002), as_pvalue(0.0) > 0
    (1.0, True)
    """
    value = float(value)
    if math.isnan(value):
        raise ParameterError("a p-value came out as NaN: the statistic or its null is not finite")
    return min(max(value, SMALLEST_PVALUE), 1.0)
