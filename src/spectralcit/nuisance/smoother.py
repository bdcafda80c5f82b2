"""Linear smoothers in Z: least squares on few columns, ridge on many, closed-form leave-one-out errors.

The hat matrix is ``H = P P' + U diag(g) U'`` with orthonormal P (never shrunk) and U (shrunk by ``g = s /
(s + penalty)``). One eigendecomposition serves every target and every penalty; large U are not stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
from scipy import linalg

from ..inputs import RowDesign
from .maps import FeatureMap
from .sums import feature_combinations, feature_products

__all__ = ["LEVERAGE_CAP", "PENALTIES", "Smoother"]

PENALTIES = 10.0 ** np.arange(-7.0, 1.01, 0.5)  # relative to the largest eigenvalue

_STORED_CELLS = 20_000_000  # U is kept in double precision when n × m is at most this (160 MB),
_SINGLE_CELLS = 400_000_000  # in single precision up to this (1.6 GB), and recomputed in chunks beyond
_CHUNK_CELLS = 4_000_000  # 32 MB at a time: a matrix product of full speed that fits beside all else
_KEPT_CELLS = 2_000_000  # leverages are kept for the next targets when there are at most this many
LEVERAGE_CAP = 0.98  # a leave-one-out error is divided by at least 0.02: beyond, rounding is magnified
_MEAN_LEVERAGE_CAP = 0.7  # beyond it leave-one-out errors say little about an interpolating fit
_EIGENVALUE_FLOOR = 1e-9  # relative; below, directions are rounding errors of the Gram matrix


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
        design: RowDesign | None = None,
    ) -> None:
        self.design = design
        self.fixed = fixed
        self.z = z
        self.feature_map = feature_map
        self.name = name
        self.n = len(fixed)
        # How many rows of equal weight say as much, and how far a penalty may be relaxed
        self.effective_rows, self.most_freedom = float(self.n), np.inf
        self._fixed_leverage = np.einsum("ij,ij->i", fixed, fixed)
        self._leverages: np.ndarray | None = None
        self.paths: dict[bytes, list[tuple[float, np.ndarray]]] = {}  # of the last targets, by their content
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
        kept = whole is None and self.n * width <= _STORED_CELLS
        if kept:
            whole = np.empty((self.n, width))
            for rows in self._chunks():
                whole[rows] = feature_map(z[rows])
        gram = np.zeros((width, width))
        overlap = np.zeros((self.fixed.shape[1], width))
        for rows in self._chunks():
            part = self._weighted(feature_map(z[rows]) if whole is None else whole[rows], rows)
            gram += part.T @ part
            overlap += self.fixed[rows].T @ part
        gram -= overlap.T @ overlap
        values, vectors = linalg.eigh(gram, check_finite=False, driver="evd")
        keep = values > _EIGENVALUE_FLOOR * max(values[-1], 1e-300)
        self.eigenvalues = values[keep]
        self._to_basis = vectors[:, keep] / np.sqrt(values[keep])
        self._overlap = overlap
        shape = (self.n, self.eigenvalues.size)
        if whole is not None:
            # In place where the features are ours: of a long table each copy takes 160 MB.
            stored = whole if kept and keep.all() else np.empty(shape)
            for rows in self._chunks():
                stored[rows] = self._in_basis(whole[rows], rows)
            self._stored = stored
        elif self.n * self.eigenvalues.size <= _SINGLE_CELLS:
            single = np.empty(shape, dtype=np.float32)
            for rows, basis in self._basis():
                single[rows] = basis
            self._stored = single

    def _in_basis(self, features: np.ndarray, rows: slice) -> np.ndarray:
        """Return rows of U from the features of these rows."""
        return (self._weighted(features, rows) - self.fixed[rows] @ self._overlap) @ self._to_basis

    def forget_single(self) -> None:
        """Drop features that are kept in single precision; they are recomputed in chunks when needed."""
        if self._stored is not None and self._stored.dtype == np.float32:
            self._stored = None

    def _weighted(self, columns: np.ndarray, rows: slice = slice(None)) -> np.ndarray:
        """Multiply rows by the roots of their weights; here all count alike."""
        return columns

    def _chunks(self) -> Iterator[slice]:
        for start in range(0, self.n, self._step):
            yield slice(start, min(start + self._step, self.n))

    def _basis(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield row slices with the matching rows of U."""
        if self._stored is not None:
            for rows in self._chunks():
                yield rows, self._stored[rows].astype(np.float64, copy=False)
            return
        feature_map, z = self._source
        for rows in self._chunks():
            yield rows, self._in_basis(feature_map(z[rows]), rows)

    @property
    def _source(self) -> tuple[FeatureMap, np.ndarray]:
        return cast(FeatureMap, self.feature_map), cast(np.ndarray, self.z)  # or else all is stored

    def _coordinates(self, left: np.ndarray) -> np.ndarray:
        """Return ``U' left`` of columns of which nothing is in the span of the fixed ones."""
        if self._stored is not None:
            products = np.zeros((self.eigenvalues.size, left.shape[1]))
            for rows, basis in self._basis():
                products += basis.T @ left[rows]
            return products
        # U itself costs a product of the features with a square matrix; few columns do not need it.
        feature_map, z = self._source
        products = np.zeros((len(self._to_basis), left.shape[1]))
        for rows in self._chunks():
            products += feature_products(feature_map, z[rows], self._weighted(left[rows], rows))
        return self._to_basis.T @ products

    def _combinations(self, coefficients: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield row slices with the matching rows of ``U coefficients``; likewise."""
        if self._stored is not None:
            for rows, basis in self._basis():
                yield rows, basis @ coefficients
            return
        feature_map, z = self._source
        weights = self._to_basis @ coefficients
        line = self._overlap @ weights
        for rows in self._chunks():
            fitted = self._weighted(feature_combinations(feature_map, z[rows], weights), rows)
            yield rows, fitted - self.fixed[rows] @ line

    @property
    def codes(self) -> np.ndarray | None:
        """The group of each row; ``None`` when rows are independent."""
        return None if self.design is None else self.design.clusters

    @property
    def is_rough(self) -> bool:
        """Whether functions of the features need not be smooth anywhere."""
        return getattr(self.feature_map, "rough", False) and not getattr(self.feature_map, "kinked", False)

    def shrinkage(self, penalty: float) -> np.ndarray:
        """Return g, the factor kept of each penalised direction."""
        return self.shrinkages(np.array([penalty]))[:, 0]

    def shrinkages(self, penalties: np.ndarray) -> np.ndarray:
        """Return g under each of several penalties, one column each."""
        if self.eigenvalues.size == 0:
            return np.zeros((0, len(penalties)))
        values = self.eigenvalues[:, None]
        return values / (values + penalties * values[-1])

    def degrees_of_freedom(self, penalty: float) -> float:
        """Return the trace of the hat matrix."""
        return float(self.fixed.shape[1] + self.shrinkage(penalty).sum())

    def expected_remainder(self, penalty: float, best: float) -> float:
        """Return what the fit is expected to leave of the function, in standard errors of a product of noise.

        As a ridge regression is a posterior mean, the penalty with the least error tells how large the
        function is along each direction: `eigenvalues` / `best`, in units of the noise. The squares of what
        `penalty` shrinks away add up over X and Y alike; products of noise have the standard error
        ``sqrt(n)``.
        """
        if self.eigenvalues.size == 0:
            return 0.0
        size = self.eigenvalues / (best * self.eigenvalues[-1])
        return float((np.square(1.0 - self.shrinkage(penalty)) * size).sum() / np.sqrt(self.n))

    def _squares(self, weights: np.ndarray) -> np.ndarray:
        """Return ``U² weights``; if U is too large to store, the mean of its rows in each."""
        # One of so many rows has thousandths of a degree of freedom; U would cost as much as the fit.
        if self.n * self.eigenvalues.size > _SINGLE_CELLS:
            return np.broadcast_to(weights.sum(axis=0) / self.n, (self.n, weights.shape[1]))
        return np.concatenate([np.square(basis) @ weights for _, basis in self._basis()])

    def leverage(self, penalty: float) -> np.ndarray:
        """Return the diagonal of the hat matrix."""
        return self._fixed_leverage + self._squares(self.shrinkage(penalty)[:, None])[:, 0]

    def _leverage_path(self, kept: np.ndarray) -> np.ndarray:
        """Return the diagonals of the hat matrices that keep these shares; the same for all targets."""
        if self._leverages is None:
            leverages = self._fixed_leverage[:, None] + self._squares(kept)
            if leverages.size > _KEPT_CELLS:
                return leverages
            self._leverages = leverages
        return self._leverages

    def row_scale(self, penalty: float) -> np.ndarray:
        """Return the standard deviation that unit noise keeps in each residual: ``sqrt(diag((I - H)²))``."""
        kept = self.shrinkage(penalty)[:, None]
        variance = 1.0 - self._fixed_leverage - self._squares(2.0 * kept - kept**2)[:, 0]
        return np.sqrt(np.maximum(variance, 1.0 - LEVERAGE_CAP))

    def _fixed_residuals(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals on the fixed columns, and the targets' coordinates in U."""
        left = targets - self.fixed @ (self.fixed.T @ targets)
        return left, self._coordinates(left)

    def residuals(self, targets: np.ndarray, penalty: float) -> np.ndarray:
        """Return ``(I - H) targets``."""
        return self._removed(targets, self.shrinkage(penalty)[:, None])

    def residuals_each(self, targets: np.ndarray, penalties: np.ndarray) -> np.ndarray:
        """Return the residuals of the targets, each under a penalty of its own."""
        return self._removed(targets, self.shrinkages(penalties))

    def _removed(self, targets: np.ndarray, kept: np.ndarray) -> np.ndarray:
        left, scores = self._fixed_residuals(targets)
        for rows, fitted in self._combinations(kept * scores):
            left[rows] -= fitted
        return left

    def leave_one_out(self, targets: np.ndarray, penalty: float) -> np.ndarray:
        """Return the residual of each row from the fit without that row."""
        leverage = np.minimum(self.leverage(penalty), LEVERAGE_CAP)
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

    def unshrunk_losses(self, targets: np.ndarray) -> np.ndarray:
        """Return the rows' leave-one-out squared error when all that can be shrunk is left out."""
        left = targets - self.fixed @ (self.fixed.T @ targets)
        left /= (1.0 - np.minimum(self._fixed_leverage, LEVERAGE_CAP))[:, None]
        scale = targets.var(axis=0)
        return (np.square(left) / np.where(scale > 0, scale, 1.0)).mean(axis=1)

    def admissible_penalties(self) -> np.ndarray:
        """Return the penalties whose fits do not interpolate; zero where nothing can be shrunk."""
        if self.eigenvalues.size == 0:
            return np.zeros(1)
        limit = max(_MEAN_LEVERAGE_CAP, self.fixed.shape[1] / self.n + 0.15)
        return PENALTIES[(self.fixed.shape[1] + self.shrinkages(PENALTIES).sum(axis=0)) / self.n <= limit]

    def gcv_errors(self, targets: np.ndarray, penalties: np.ndarray) -> np.ndarray:
        """Return each target's generalised cross-validation error, shape (penalties, targets).

        It needs the targets' coordinates only, not the residuals of every row as leave-one-out errors do.
        """
        left, scores = self._fixed_residuals(targets)
        kept = self.shrinkages(penalties)
        squares = np.square(left).sum(axis=0) - (2.0 * kept - kept**2).T @ np.square(scores)
        free = 1.0 - (self.fixed.shape[1] + kept.sum(axis=0)) / self.n
        return np.maximum(squares, 0.0) / self.n / np.square(free)[:, None]

    def loss_path(self, targets: np.ndarray) -> list[tuple[float, np.ndarray]]:
        """Return the rows' leave-one-out squared error per penalty, averaged over unit-variance targets."""
        scale = targets.var(axis=0)
        unit = targets / np.sqrt(np.where(scale > 0, scale, 1.0))
        left, scores = self._fixed_residuals(unit)
        if self.eigenvalues.size == 0:
            leverage = np.minimum(self._fixed_leverage, LEVERAGE_CAP)
            return [(0.0, np.square(left / (1.0 - leverage)[:, None]).mean(axis=1))]
        admissible = self.admissible_penalties()
        if not len(admissible):
            return []
        kept = self.shrinkages(admissible)
        n_targets = unit.shape[1]
        # One matrix product for all penalties: side by side, the fits of each.
        shrunk = (kept[:, :, None] * scores[:, None, :]).reshape(len(kept), -1)
        losses = np.empty((self.n, len(admissible)))
        for rows, fitted in self._combinations(shrunk):
            error = left[rows, None, :] - fitted.reshape(-1, len(admissible), n_targets)
            losses[rows] = np.einsum("npt,npt->np", error, error) / n_targets
        losses /= np.square(1.0 - np.minimum(self._leverage_path(kept), LEVERAGE_CAP))
        return [(p, losses[:, k]) for k, p in enumerate(admissible)]
