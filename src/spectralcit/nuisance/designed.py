"""Linear smoothers of rows that belong together or do not count alike.

With weights all rows are multiplied by their roots, so that least squares are weighted ones and plain sums of
products of residuals are weighted sums. Rows of one group are left out together, by the closed form of
`spectralcit.numeric.grouped`: a fit that knew a row's neighbours in its group would follow the group's noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numeric.grouped import leave_groups_out, unit_noise_factors
from .smoother import LEVERAGE_CAP, Smoother

__all__ = ["DesignedSmoother", "make_smoother"]

# By hand: degrees of freedom of relaxed fits, and of those that are tried, per effective row, where weights
# differ.
_MOST_FREEDOM = 0.2
_MOST_SEARCHED = 0.5

_Factors = list[tuple[np.ndarray, np.ndarray, np.ndarray]]


class DesignedSmoother(Smoother):
    """A smoother with a `RowDesign`: `residuals` are weighted rows, leave-one-out errors are not."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._factors: dict[float, _Factors] = {}
        self._root = options["design"].root
        super().__init__(*args, **options)
        weights = options["design"].weights
        if weights is not None:  # few heavy rows leave most undecided
            self.effective_rows = float(weights.sum() ** 2 / np.square(weights).sum())
            self.most_freedom = _MOST_FREEDOM * self.effective_rows

    def _weighted(self, columns: np.ndarray, rows: slice = slice(None)) -> np.ndarray:
        return columns if self._root is None else columns * self._root[rows, None]

    def residuals(self, targets: np.ndarray, penalty: float) -> np.ndarray:
        """Return ``(I - H) targets``, rows times the roots of their weights."""
        return self.off(self._weighted(targets), penalty)

    def off(self, columns: np.ndarray, penalty: float) -> np.ndarray:
        """Return ``(I - H) columns`` of columns whose rows are weighted already."""
        return super().residuals(columns, penalty)

    def leave_one_out(self, targets: np.ndarray, penalty: float) -> np.ndarray:
        """Return the residual of each row from the fit without its group, on the scale of the targets."""
        shares = np.append(np.ones(self.fixed.shape[1]), self.shrinkage(penalty))
        left = self._left_out(self.residuals(targets, penalty), self._whole_basis(), shares)
        return left if self._root is None else left / self._root[:, None]

    def feature_coefficients(self, targets: np.ndarray, penalty: float) -> np.ndarray:
        """Return the coefficients of the penalised features in the weighted fit of `targets`."""
        return super().feature_coefficients(self._weighted(targets), penalty)

    def parts(self, targets: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted fit in two: weighted values in the span of the fixed columns, coefficients."""
        weights = np.zeros((0, targets.shape[1]))
        line = self.fixed.T @ self._weighted(targets)
        if self.feature_map is not None:
            weights = self.feature_coefficients(targets, penalty)
            line -= self._overlap @ weights
        return self.fixed @ line, weights

    def loss_path(self, targets: np.ndarray) -> list[tuple[float, np.ndarray]]:
        """Return the rows' squared error per penalty, their groups left out.

        They count by the roots of their weights: by the weights themselves a few heavy rows would decide.
        """
        scale = targets.var(axis=0)
        unit = self._weighted(targets / np.sqrt(np.where(scale > 0, scale, 1.0)))
        penalties = [float(p) for p in self.admissible_penalties()]
        if self._root is not None and self.eigenvalues.size:
            most = _MOST_SEARCHED * self.effective_rows
            penalties = [p for p in penalties if self.degrees_of_freedom(p) <= most] or penalties[-1:]
        basis = self._whole_basis()
        scores = basis.T @ unit
        left = []
        for penalty in penalties:
            shares = np.append(np.ones(self.fixed.shape[1]), self.shrinkage(penalty))
            left.append(self._left_out(unit - basis @ (shares[:, None] * scores), basis, shares))
        tempered = 1.0 if self._root is None else 1.0 / (self._root * (1.0 / self._root).mean())
        return [
            (p, np.square(errors).mean(axis=1) * tempered) for p, errors in zip(penalties, left, strict=True)
        ]

    def unshrunk_losses(self, targets: np.ndarray) -> np.ndarray:
        """Return the rows' squared error of least squares on the columns that are never shrunk."""
        if self.feature_map is None:
            return self.loss_path(targets)[0][1]
        return DesignedSmoother(self.fixed, name="linear", design=self.design).loss_path(targets)[0][1]

    def unit_noise(self, columns: np.ndarray, penalty: float, size: float) -> np.ndarray:
        """Return residuals scaled so that unit noise has ``size² I`` for covariance in every group (CR2).

        Their variance is multiplied by groups over groups less one: that the fit was chosen, and the other
        side fitted too, costs a group's worth.
        """
        assert self.design is not None
        if self.design.members is None:
            # As the jackknife has it (HC3): a heavy row all but decides its fit and hides its noise.
            return columns * (size / self.row_scale(penalty) ** 2)[:, None]
        out = columns.copy()
        for rows, vectors, factors in self._noise_factors(penalty, self.design.members):
            part = columns[rows]
            out[rows] += vectors @ (factors[:, :, None] * (vectors.transpose(0, 2, 1) @ part))
        count = len(self.design.members)
        return out * (size * np.sqrt(self.design.inflation * count / (count - 1)))

    def _noise_factors(self, penalty: float, members: list[np.ndarray]) -> _Factors:
        if penalty not in self._factors:
            kept = self.shrinkage(penalty)
            lost = np.append(np.ones(self.fixed.shape[1]), 2.0 * kept - kept**2)
            self._factors[penalty] = unit_noise_factors(self._whole_basis(), lost, members)
        return self._factors[penalty]

    def _left_out(self, residuals: np.ndarray, basis: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Return errors without each row's group, from the hat matrix ``basis diag(shares) basis'``."""
        assert self.design is not None
        if self.design.members is not None:
            return leave_groups_out(residuals, basis, shares, self.design.members)
        leverage = np.minimum(np.square(basis) @ shares, LEVERAGE_CAP)
        return residuals / (1.0 - leverage)[:, None]

    def _whole_basis(self) -> np.ndarray:
        return np.hstack([self.fixed, np.concatenate([basis for _, basis in self._basis()])])


def make_smoother(*args: Any, **options: Any) -> Smoother:
    """Return a plain smoother, or one that honours ``design=`` where there is one."""
    return (Smoother if options.get("design") is None else DesignedSmoother)(*args, **options)
