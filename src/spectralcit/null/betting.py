"""Wealth of bets against a null hypothesis: an e-value at any time, whenever one looks.

A bet on numbers of mean zero multiplies its wealth by ``1 + stake * number`` row after row. As long as stakes
are fixed before the row is seen and the product stays positive, wealth has mean one at any time, and it ever
exceeds ``1 / level`` with probability at most `level` (Ville's inequality). Several bets share the capital.
"""

from __future__ import annotations

import numpy as np
from scipy import special

__all__ = ["LARGEST_LOSS", "Wealth", "kelly_stakes"]

# By hand: stakes are shrunk as by so many rows in which nothing was found. As long as few rows speak, that is
# worth more than what a strong effect loses by it.
_PRIOR_ROWS = 100
LARGEST_LOSS = 0.95  # of the wealth in one row: a bet must be able to go on


class Wealth:
    """Capital spread over several bets that are never moved from one to the other.

    Examples
    --------
    >>> wealth = Wealth(np.array([0.5, 0.5]))
    >>> wealth.multiply(np.array([[1.0, -0.5], [0.5, 0.0]]))
    >>> wealth.total, wealth.largest  # 0.5 * 2 * 1.5 + 0.5 * 0.5
    (1.75, 1.75)
    """

    def __init__(self, shares: np.ndarray) -> None:
        self._log_shares = np.log(shares / shares.sum())
        self._log_wealth = np.zeros(len(shares))
        self._log_largest = 0.0

    def multiply(self, gains: np.ndarray) -> None:
        """Let each bet, a column, gain or lose in each row a share of its wealth above minus one."""
        self._log_wealth = self._log_wealth + np.log1p(gains).sum(axis=0)
        self._log_largest = max(self._log_largest, self._log_total)

    @property
    def _log_total(self) -> float:
        return float(special.logsumexp(self._log_shares + self._log_wealth))

    @property
    def total(self) -> float:
        """Wealth now, which began at one."""
        return _exponential(self._log_total)

    @property
    def largest(self) -> float:
        """The largest wealth there ever was when somebody looked."""
        return _exponential(self._log_largest)


def _exponential(logarithm: float) -> float:
    return float(np.exp(np.clip(logarithm, -700.0, 700.0)))  # beyond, float64 has no numbers


def kelly_stakes(past: np.ndarray, search: float) -> np.ndarray:
    """Return the stakes on several numbers that would have let wealth grow fastest in the past, shrunk.

    To second order these are ``S^-1 m`` with the means m and second moments S of the rows of `past` and of a
    hundred rows without dependence. Where many columns, or a search among them, would make ``n m' S^-1 m``
    as large as `search` by chance, that share is taken off (James and Stein).
    """
    moments = past.T @ past / len(past)
    mean = past.mean(axis=0)
    disbelief = _PRIOR_ROWS / len(past) * np.diag(moments) + 1e-12
    stakes = np.linalg.solve(moments + np.diag(disbelief), mean)
    evidence = len(past) * float(mean @ stakes)
    return stakes * max(0.0, 1.0 - search / max(evidence, 1e-300))
