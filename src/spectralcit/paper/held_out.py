"""Whether learned features behave on rows that they were not learned from; where not, p-values mislead.

Features are whitened on the training part. A direction in which they hardly vary there (``w`` has more
features than a few columns of Z have functions) is blown up by that, and a test row a little outside may then
be many standard deviations away: ``C_WW`` is no identity, ``C_UW C_WV`` is no projection, and a single row
makes a statistic of any size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..numeric.whiten import FloatArray, covariance
from .statistic import StatisticName, row_shares

__all__ = ["HeldOut", "held_out"]

# By hand, from 34 true nulls of 300 rows with the printed settings. Of the 14 with p above .05, one was above
# this; of the 17 with p below .001, all but one were, or were above the other bound.
_TOO_WIDE = 2.0
_FEW = 0.05  # share of the test rows that count as few: 3 of 60
_TOO_MUCH = 0.7  # of the statistic from few rows; of normal features with d = 2, n = 60 it is .51 once in 200


@dataclass(frozen=True)
class HeldOut:
    """How features that are white on the training part look on the `n` rows of the test part."""

    n: int
    spread: Mapping[str, float]  # largest variance in any direction over what sampling alone allows
    n_few: int
    share_of_few: float  # of the statistic before pruning, as `row_shares` has it, from the `n_few` largest

    def warnings(self, condition: Mapping[str, float]) -> tuple[str, ...]:
        """What to know before believing the p-value; `condition` numbers are those before whitening."""
        found = [
            f"the learned features {name}, white on the training rows (condition number "
            f"{condition[name]:.0e} before that), vary {spread:.3g} times more on the {self.n} test rows "
            "than chance allows: they do not carry over, and the chi-square null may be far off; give more "
            "rows or a smaller output_dim, or use 'spectral'"
            for name, spread in self.spread.items()
            if spread > _TOO_WIDE
        ]
        if self.share_of_few > _TOO_MUCH:
            found.append(
                f"{self.n_few} of {self.n} test rows make up {self.share_of_few:.0%} of the statistic: the "
                "chi-square null, for which many rows must have a say, may be far off; give more rows or a "
                "smaller output_dim, or use 'spectral'"
            )
        return tuple(found)


def held_out(features: Mapping[str, FloatArray], kind: StatisticName) -> HeldOut:
    """Look at whitened features ``u``, ``v`` and possibly ``w`` of the test part."""
    n = len(features["u"])
    shares = np.sort(row_shares(features["u"], features["v"], features.get("w"), kind=kind))
    n_few = math.ceil(_FEW * n)
    spread = {name: _spread(each) for name, each in features.items()}
    return HeldOut(n, spread, n_few, float(shares[-n_few:].sum()))


def _spread(features: FloatArray) -> float:
    n, k = features.shape
    # Marchenko and Pastur: where the largest eigenvalue of the covariance of white noise is.
    return float(np.linalg.eigvalsh(covariance(features))[-1]) / (1.0 + math.sqrt(k / n)) ** 2
