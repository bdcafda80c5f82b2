"""Linear smoothers in Z: least squares on few columns, ridge on many, closed-form leave-one-out errors.

The hat matrix is ``H = P P' + U diag(g) U'`` with orthonormal P (never shrunk) and U (shrunk by ``g = s /
(s + penalty)``). One eigendecomposition serves every target and every penalty. Nothing n × n is formed;
beyond a size, U is recomputed in chunks of rows instead of stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from .maps import FeatureMap

__all__ = ["PENALTIES", "Smoother", "SmootherFit", "clearly_better", "orthonormal_columns", "select"]

PENALTIES = 10.0 ** np.arange(-7.0, 1.01, 0.5)  # relative to the largest eigenvalue

_STORED_CELLS = 20_000_000  # U is kept in double precision when n × m is at most this (160 MB),
_SINGLE_CELLS = 400_000_000  # in single precision up to this (1.6 GB), and recomputed in chunks beyond
_CHUNK_CELLS = 4_000_000  # 32 MB at a time: a matrix product of full speed that fits beside all else
_LEVERAGE_CAP = 0.98  # a leave-one-out error is divided by at least 0.02: beyond, rounding is magnified
_MEAN_LEVERAGE_CAP = 0.7  # beyond it leave-one-out errors say little about an interpolating fit
_EIGENVALUE_FLOOR = 1e-9  # relative; below, directions are rounding errors of the Gram matrix
_CHEAP_SHARE = 0.03  # degrees of freedom up to this share of the rows are not worth saving


def orthonormal_columns(columns: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the span of the intercept and `columns`; collinear ones are dropped.

    Examples
    --------
    >>> basis = orthonormal_columns(np.array([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]]))
    >>> basis.shape, bool(np.allclose(basis.T @ basis, np.eye(2)))
    ((3, 2), True)
    """
    design = np.column_stack([np.ones(len(columns)), columns])
    q, r, _ = linalg.qr(design, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(r))
    return q[:, diagonal > 1e-8 * diagonal[0]]


class Smoother:
    """A family of linear smoothers that differ in the penalty."""

    def __init__(
        self,
        fixed: np.ndarray,
        z: np.ndarray | None = None,
        feature_map: FeatureMap | None = None,
        *,
        name: str,
        features: np.ndarray | None = None,
    ) -> None:
        self.fixed = fixed
        self.z = z
        self.feature_map = feature_map
        self.name = name
        self.n = len(fixed)
        self._fixed_leverage = np.einsum("ij,ij->i", fixed, fixed)
        self._stored: np.ndarray | None = None
        if feature_map is None or z is None:
            self.eigenvalues = np.zeros(0)
            self._stored = np.zeros((self.n, 0))
            self._step = max(1, self.n)
        else:
            self._decompose(z, feature_map, features)

    def _decompose(self, z: np.ndarray, feature_map: FeatureMap, whole: np.ndarray | None) -> None:
        width = feature_map(z[:1]).shape[1]
        self._step = max(1, min(self.n, _CHUNK_CELLS // max(width, 1)))
        if whole is None and self.n * width <= _STORED_CELLS:
            whole = feature_map(z)
        gram = np.zeros((width, width))
        overlap = np.zeros((self.fixed.shape[1], width))
        for rows in self._chunks():
            part = feature_map(z[rows]) if whole is None else whole[rows]
            gram += part.T @ part
            overlap += self.fixed[rows].T @ part
        gram -= overlap.T @ overlap
        values, vectors = linalg.eigh(gram, check_finite=False)
        keep = values > _EIGENVALUE_FLOOR * max(values[-1], 1e-300)
        self.eigenvalues = values[keep]
        self._to_basis = vectors[:, keep] / np.sqrt(values[keep])
        self._overlap = overlap
        if whole is not None:
            self._stored = (whole - self.fixed @ overlap) @ self._to_basis
        elif self.n * self.eigenvalues.size <= _SINGLE_CELLS:
            single = np.empty((self.n, self.eigenvalues.size), dtype=np.float32)
            for rows, basis in self._basis():
                single[rows] = basis
            self._stored = single

    def _chunks(self) -> Iterator[slice]:
        for start in range(0, self.n, self._step):
            yield slice(start, min(start + self._step, self.n))

    def _basis(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield row slices with the matching rows of U."""
        if self._stored is not None:
            for rows in self._chunks():
                yield rows, self._stored[rows].astype(np.float64, copy=False)
            return
        assert self.feature_map is not None
        assert self.z is not None
        for rows in self._chunks():
            part = self.feature_map(self.z[rows]) - self.fixed[rows] @ self._overlap
            yield rows, part @ self._to_basis

    def shrinkage(self, penalty: float) -> np.ndarray:
        """Return g, the factor kept of each penalised direction."""
        if self.eigenvalues.size == 0:
            return self.eigenvalues
        return self.eigenvalues / (self.eigenvalues + penalty * self.eigenvalues[-1])

    def degrees_of_freedom(self, penalty: float) -> float:
        """Return the trace of the hat matrix."""
        return float(self.fixed.shape[1] + self.shrinkage(penalty).sum())

    def leverage(self, penalty: float) -> np.ndarray:
        """Return the diagonal of the hat matrix."""
        kept = self.shrinkage(penalty)
        leverage = self._fixed_leverage.copy()
        for rows, basis in self._basis():
            leverage[rows] += np.square(basis) @ kept
        return leverage

    def row_scale(self, penalty: float) -> np.ndarray:
        """Return the standard deviation that unit noise keeps in each residual: ``sqrt(diag((I - H)²))``."""
        kept = self.shrinkage(penalty)
        variance = 1.0 - self._fixed_leverage
        for rows, basis in self._basis():
            variance[rows] -= np.square(basis) @ (2.0 * kept - kept**2)
        return np.sqrt(np.maximum(variance, 1.0 - _LEVERAGE_CAP))

    def _fixed_residuals(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals on the fixed columns, and the targets' coordinates in U."""
        left = targets - self.fixed @ (self.fixed.T @ targets)
        scores = np.zeros((self.eigenvalues.size, targets.shape[1]))
        for rows, basis in self._basis():
            scores += basis.T @ left[rows]
        return left, scores

    def residuals(self, targets: np.ndarray, penalty: float) -> np.ndarray:
        """Return ``(I - H) targets``."""
        left, scores = self._fixed_residuals(targets)
        shrunk = self.shrinkage(penalty)[:, None] * scores
        for rows, basis in self._basis():
            left[rows] -= basis @ shrunk
        return left

    def leave_one_out(self, targets: np.ndarray, penalty: float) -> np.ndarray:
        """Return the residual of each row from the fit without that row."""
        leverage = np.minimum(self.leverage(penalty), _LEVERAGE_CAP)
        return self.residuals(targets, penalty) / (1.0 - leverage)[:, None]

    def feature_coefficients(self, targets: np.ndarray, penalty: float) -> np.ndarray:
        """Return the coefficients of the penalised features in the fit of `targets`."""
        _, scores = self._fixed_residuals(targets)
        return self._to_basis @ (self.shrinkage(penalty)[:, None] * scores)

    def parts(self, targets: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the fit in two: values in the span of the fixed columns, coefficients of the features."""
        if self.feature_map is None:
            return self.fixed @ (self.fixed.T @ targets), np.zeros((0, targets.shape[1]))
        weights = self.feature_coefficients(targets, penalty)
        return self.fixed @ (self.fixed.T @ targets - self._overlap @ weights), weights

    def loss_path(self, targets: np.ndarray) -> list[tuple[float, np.ndarray]]:
        """Return the rows' leave-one-out squared error per penalty, averaged over unit-variance targets."""
        scale = targets.var(axis=0)
        unit = targets / np.sqrt(np.where(scale > 0, scale, 1.0))
        left, scores = self._fixed_residuals(unit)
        if self.eigenvalues.size == 0:
            leverage = np.minimum(self._fixed_leverage, _LEVERAGE_CAP)
            return [(0.0, np.square(left / (1.0 - leverage)[:, None]).mean(axis=1))]
        limit = max(_MEAN_LEVERAGE_CAP, self.fixed.shape[1] / self.n + 0.15)
        admissible = [p for p in PENALTIES if self.degrees_of_freedom(p) / self.n <= limit]
        if not admissible:
            return []
        kept = np.column_stack([self.shrinkage(p) for p in admissible])
        n_targets = unit.shape[1]
        # One matrix product for all penalties: side by side, the fits of each.
        shrunk = (kept[:, :, None] * scores[:, None, :]).reshape(len(kept), -1)
        losses = np.empty((self.n, len(admissible)))
        for rows, basis in self._basis():
            leverage = self._fixed_leverage[rows, None] + np.square(basis) @ kept
            fitted = (basis @ shrunk).reshape(-1, len(admissible), n_targets)
            error = left[rows, None, :] - fitted
            losses[rows] = np.einsum("npt,npt->np", error, error) / n_targets
            losses[rows] /= np.square(1.0 - np.minimum(leverage, _LEVERAGE_CAP))
        return [(p, losses[:, k]) for k, p in enumerate(admissible)]


@dataclass(frozen=True, eq=False)
class SmootherFit:
    """A smoother with its chosen penalty."""

    smoother: Smoother  # the family
    # The penalty in use: the smallest that is not clearly worse than the best or costs few degrees of
    # freedom, because what a ridge shrinks away stays in the residuals of X and of Y alike and would look
    # like dependence
    penalty: float
    best_penalty: float  # the penalty with the least leave-one-out error
    loss: float  # that error as a share of the targets' variance (one minus the out-of-sample R²)

    @property
    def degrees_of_freedom(self) -> float:
        """Trace of the hat matrix."""
        return self.smoother.degrees_of_freedom(self.penalty)

    @property
    def adaptive_degrees_of_freedom(self) -> float:
        """The part of them whose functions were chosen by looking at the targets."""
        return float(self.smoother.shrinkage(self.penalty).sum())


def select(smoothers: list[Smoother], targets: np.ndarray) -> SmootherFit:
    """Choose smoother and penalty by leave-one-out error, then relax the penalty.

    It is relaxed within one standard error of the best, or as far as degrees of freedom are cheap.
    """
    best: tuple[float, Smoother, list[tuple[float, np.ndarray]], int] | None = None
    for smoother in smoothers:
        path = smoother.loss_path(targets)
        for index, (_, loss) in enumerate(path):
            if best is None or loss.mean() < best[0]:
                best = (float(loss.mean()), smoother, path, index)
    assert best is not None, (
        "every list of candidates holds the least-squares smoother, whose path is never empty"
    )
    best_loss, smoother, path, index = best
    for penalty, loss in path[: index + 1]:
        excess = loss - path[index][1]
        cheap = smoother.degrees_of_freedom(penalty) <= _CHEAP_SHARE * len(excess)
        if cheap or excess.mean() <= excess.std() / np.sqrt(len(excess)):
            return SmootherFit(smoother, penalty, path[index][0], best_loss)
    return SmootherFit(smoother, path[index][0], path[index][0], best_loss)


def clearly_better(chosen: SmootherFit, least_squares: Smoother, targets: np.ndarray) -> bool:
    """Tell whether the chosen fit beats least squares by more than a standard error."""
    if chosen.smoother.feature_map is None:
        return False
    losses = dict(chosen.smoother.loss_path(targets))
    gain = least_squares.loss_path(targets)[0][1] - losses[chosen.best_penalty]
    return bool(gain.mean() > gain.std() / np.sqrt(len(gain)))
