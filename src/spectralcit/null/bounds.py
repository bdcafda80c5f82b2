"""Keep p-values inside (0, 1]."""

from __future__ import annotations

import math
import sys

from ..errors import ParameterError

__all__ = ["SMALLEST_PVALUE", "as_pvalue"]

# What a tail probability that underflows becomes: no finite sample has probability zero.
SMALLEST_PVALUE = sys.float_info.min


def as_pvalue(value: float) -> float:
    """A tail probability, up to rounding, as a p-value in (0, 1]; NaN is an error of the caller."""
    value = float(value)
    if math.isnan(value):
        raise ParameterError("a p-value came out as NaN: the statistic or its null is not finite")
    return min(max(value, SMALLEST_PVALUE), 1.0)
