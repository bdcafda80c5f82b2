"""P-values from permutations or other draws of the statistic under the null hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ParameterError

__all__ = ["permutation_pvalue", "sequential_permutation_pvalue"]

_TIE = 1e-12  # relative difference below which two values of the statistic differ by rounding only; by hand


def permutation_pvalue(observed: float, draws: Any) -> float:
    """Return (1 + number of draws at least as large as `observed`) / (1 + number of draws).

    Counting the observed value among its draws makes the p-value valid at every level: it is the rank of one
    of exchangeable values. Draws that differ from the observed value by rounding only count as ties.

    References
    ----------
    B. Phipson and G. K. Smyth. Permutation p-values should never be zero. Statistical Applications in
    Genetics and Molecular Biology, 2010.
    """
    draws = np.asarray(draws, dtype=np.float64).ravel()
    if draws.size == 0:
        raise ParameterError("a permutation p-value needs at least one draw")
    if not (np.isfinite(observed) and np.isfinite(draws).all()):
        raise ParameterError("the statistic and its draws must be finite")
    return (1 + int(_at_least(draws, observed).sum())) / (1 + draws.size)


def sequential_permutation_pvalue(
    observed: float,
    draw: Callable[[int], Any],
    *,
    max_draws: int = 999,
    stop_after: int = 20,
    batch: int = 50,
) -> tuple[float, int]:
    """Draw until the p-value is clearly not small, or `max_draws` is reached.

    Besag and Clifford's rule: stop at the draw that is the `stop_after`-th one at least as large as the
    observed statistic. The p-value is then ``stop_after / draws so far``; without a stop it is the ordinary
    permutation p-value. It is valid at every level. ``draw(k)`` returns k further values of the statistic
    under the null; `batch` of them are asked for at a time, which does not change the p-value. The second
    number returned is that of the draws that count.

    References
    ----------
    J. Besag and P. Clifford. Sequential Monte Carlo p-values. Biometrika, 1991.
    """
    if max_draws < 1 or stop_after < 1 or batch < 1:
        raise ParameterError("max_draws, stop_after and batch must be at least 1")
    used = exceeding = 0
    while used < max_draws:
        values = np.asarray(draw(min(batch, max_draws - used)), dtype=np.float64).ravel()
        if values.size == 0 or not np.isfinite(values).all():
            raise ParameterError("draw(k) must return finite values, at least one")
        large = np.cumsum(_at_least(values, observed)) + exceeding
        if large[-1] >= stop_after:
            used += int(np.searchsorted(large, stop_after)) + 1
            return stop_after / used, used
        exceeding, used = int(large[-1]), used + values.size
    return (1 + exceeding) / (1 + used), used


def _at_least(draws: np.ndarray, observed: float) -> np.ndarray:
    return draws >= observed - _TIE * abs(observed)
