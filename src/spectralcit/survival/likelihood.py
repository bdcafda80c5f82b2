"""Penalised likelihood of a hazard on a grid of intervals, maximised by Newton's method.

Within an interval a row with exposure E (of the marginal baseline) has a Poisson number of events with mean
``E exp(a_j + log risk)``. The intercepts a_j are profiled out, so this is the partial likelihood up to the
shape of the baseline within an interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..numeric.grouped import sums_by_group

__all__ = ["PenalisedLikelihood", "Space"]

_NEWTON_STEPS = 25  # a few are enough from the fit with the next larger penalty
_CONVERGED = 1e-4  # of the log likelihood: far below what a degree of freedom is worth
_LARGEST_STEP = 3.0  # in log risk: beyond it the quadratic approximation is worth nothing
_FREE = 1e-6  # instead of no penalty, so that collinear columns do no harm


@dataclass(frozen=True, eq=False)
class Space:
    """Functions of Z, functions of time, and the relative penalty of each product."""

    functions: np.ndarray  # (n, m)
    penalties: np.ndarray  # (m, k), zero for what is not shrunk
    over_time: np.ndarray  # (intervals, k), the first column constant
    name: str

    def on(self, rows: np.ndarray) -> Space:
        """Return the space on some rows."""
        return Space(self.functions[rows], self.penalties, self.over_time, self.name)


class PenalisedLikelihood:
    """Events and exposures of shape (n, intervals), and the current coefficients of a space's functions."""

    def __init__(self, space: Space, events: np.ndarray, exposure: np.ndarray) -> None:
        self._space, self._events, self._exposure = space, events, exposure
        self._coefficients = np.zeros(space.penalties.shape)
        self._update(self._coefficients)

    @property
    def log_risk(self) -> np.ndarray:
        """Logarithm of the relative risk, shape (n, intervals)."""
        return self._log_risk

    def maximise(self, penalty: float) -> None:
        """Move to the maximum of the penalised likelihood."""
        weights = self._weights(penalty)
        value = self._objective(weights)
        for _ in range(_NEWTON_STEPS):
            gradient = self._space.functions.T @ (self._events - self._expected) @ self._space.over_time
            gradient = (gradient - weights * self._coefficients).ravel()
            step = linalg.solve(self._hessian() + np.diag(weights.ravel()), gradient, assume_a="pos")
            step = step.reshape(weights.shape)
            moved = self._space.functions @ step @ self._space.over_time.T
            size = min(1.0, _LARGEST_STEP / max(float(np.abs(moved).max()), 1e-300))
            start, before = self._coefficients, value
            while True:
                self._update(start + size * step)
                value = self._objective(weights)
                if value >= before or size < 1e-4:
                    break
                size /= 2.0
            if value - before < _CONVERGED:
                break

    def criterion(self, penalty: float, clusters: np.ndarray | None = None) -> float:
        """Return twice the degrees of freedom minus twice the log likelihood: Akaike's criterion.

        Where rows of one of the `clusters` are not independent, what a parameter gains by chance is the
        variance of its score over its information, which is one for independent rows (Takeuchi's criterion).
        """
        spent = self.degrees_of_freedom(penalty)
        if clusters is not None:
            sums = sums_by_group(self._scores(), clusters)
            information = self._hessian() + np.diag(self._weights(penalty).ravel())
            spent = float(np.trace(linalg.solve(information, sums.T @ sums, assume_a="pos")))
        return 2.0 * (spent - self._log_likelihood())

    def degrees_of_freedom(self, penalty: float) -> float:
        """Return the effective number of parameters, the intervals' intercepts included."""
        information = self._hessian()
        shrunk = linalg.solve(
            information + np.diag(self._weights(penalty).ravel()), information, assume_a="pos"
        )
        return float(np.trace(shrunk)) + self._events.shape[1]

    def leverage(self, penalty: float) -> np.ndarray:
        """Return each cell's share in its own fit, shape (n, intervals)."""
        m, k = self._space.penalties.shape
        inverse = linalg.inv(self._hessian() + np.diag(self._weights(penalty).ravel())).reshape(m, k, m, k)
        leverage = np.empty_like(self._expected)
        for j, over_time in enumerate(self._space.over_time):
            mean = self._expected[:, j]
            centred = self._space.functions - mean @ self._space.functions / mean.sum()
            variance = np.einsum("akbl,k,l->ab", inverse, over_time, over_time)
            spread = np.einsum("ia,ia->i", centred @ variance, centred)
            leverage[:, j] = mean * (1.0 / mean.sum() + spread)
        return leverage

    def _scores(self) -> np.ndarray:
        """Return the score of each row for all coefficients, the intercepts profiled out."""
        left, functions = self._events - self._expected, self._space.functions
        means = self._expected.T @ functions / self._expected.sum(axis=0)[:, None]
        own = np.einsum("ia,ij,jk->iak", functions, left, self._space.over_time, optimize=True)
        shared = np.einsum("ja,ij,jk->iak", means, left, self._space.over_time, optimize=True)
        return (own - shared).reshape(len(left), -1)

    def _weights(self, penalty: float) -> np.ndarray:
        return np.maximum(penalty * self._space.penalties, _FREE)

    def _update(self, coefficients: np.ndarray) -> None:
        self._coefficients = coefficients
        smooth = self._space.functions @ coefficients @ self._space.over_time.T
        smooth -= smooth.max(axis=0)
        expected = self._exposure * np.exp(smooth)
        scale = self._events.sum(axis=0) / expected.sum(axis=0)
        self._log_risk, self._expected = smooth + np.log(scale), expected * scale

    def _log_likelihood(self) -> float:
        # The expected numbers add up to those of the events, whatever the coefficients.
        return float((self._events * self._log_risk).sum())

    def _objective(self, weights: np.ndarray) -> float:
        return self._log_likelihood() - 0.5 * float((weights * self._coefficients**2).sum())

    def _hessian(self) -> np.ndarray:
        """Return the information about all coefficients, the intercepts profiled out."""
        m, k = self._space.penalties.shape
        information = np.zeros((m, k, m, k))
        for j, over_time in enumerate(self._space.over_time):
            mean = self._expected[:, j]
            rows = mean > 0
            functions = self._space.functions[rows]
            weighted = functions * mean[rows, None]
            total = weighted.sum(axis=0)
            spread = functions.T @ weighted - np.outer(total, total) / mean.sum()
            information += np.einsum("ab,k,l->akbl", spread, over_time, over_time)
        return information.reshape(m * k, m * k)
