"""A nuisance that removes some given columns besides what it removes anyway.

With M = I - H the residuals of a symmetric smoother and P further columns that are never shrunk, least
squares of both together leaves ``M - M P (P' M P)^-1 P' M``: a correction of low rank, so that no kernel has
to be decomposed again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from ..inputs import RowDesign
from .fits import HIGH_LEVERAGE, LinearFit, Nuisance, NuisanceFit, share_of_variance
from .smoother import LEVERAGE_CAP

__all__ = ["Augmented", "AugmentedFit"]

_EXPLAINED = 1e-6  # of a column's square: if the smoother leaves less, it removes the column already


class Augmented:
    """Remove `columns` besides what `nuisance`, whose fits are linear and symmetric, removes.

    Examples
    --------
    >>> from spectralcit.inputs import Block
    >>> from spectralcit.nuisance import KernelRidge
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal((300, 1))
    >>> wave = np.cos(400 * z)
    >>> plain = KernelRidge(Block(z, ("z",), ("continuous",), (0,)), 300, rng)
    >>> target = z + wave + 0.1 * rng.standard_normal((300, 1))
    >>> fits = plain.fit_location(target), Augmented(plain, wave).fit_location(target)
    >>> [bool(fit.r_squared > 0.98) for fit in fits]
    [False, True]
    """

    def __init__(self, nuisance: Nuisance, columns: np.ndarray) -> None:
        self._nuisance = nuisance
        self._columns = columns

    def prediction_error(self, targets: np.ndarray) -> np.ndarray:
        """Return the error without the columns: it only serves to compare scales of a target."""
        return self._nuisance.prediction_error(targets)

    def fit_location(self, targets: np.ndarray) -> NuisanceFit:
        """Explain the columns of one side of the test."""
        return self.augmented(self._nuisance.fit_location(targets))

    def fit_scale(self, targets: np.ndarray, location: NuisanceFit) -> NuisanceFit:
        """Explain the log squared residuals of `location`."""
        return self.augmented(self._nuisance.fit_scale(targets, _plain(location)))

    def fit_features(self, features: np.ndarray, location: NuisanceFit) -> NuisanceFit:
        """Explain features of the residuals of `location`."""
        return self.augmented(self._nuisance.fit_features(features, _plain(location)))

    def augmented(self, fit: NuisanceFit) -> NuisanceFit:
        """Return a linear fit with the columns beside its own."""
        return AugmentedFit(fit, self._columns) if isinstance(fit, LinearFit) else fit


def _plain(fit: NuisanceFit) -> NuisanceFit:
    return fit.plain if isinstance(fit, AugmentedFit) else fit


@dataclass(frozen=True, eq=False)
class AugmentedFit:
    """A linear fit with further columns beside its own."""

    plain: LinearFit  # the fit without them
    columns: np.ndarray  # the further columns, shape (n, k)

    @property
    def targets(self) -> np.ndarray:
        """The columns that were explained."""
        return self.plain.targets

    @property
    def gap(self) -> Callable[[], tuple[float, float]] | None:
        """That of the plain fit: the further columns are few."""
        return self.plain.gap

    @property
    def design(self) -> RowDesign | None:
        """None: further columns are for rows that are independent and count alike."""
        return None

    @cached_property
    def _roots(self) -> np.ndarray:
        """Return R with ``(M P) (P' M P)^-1 (M P)' = R R'``: what is taken from the plain residuals."""
        basis = linalg.qr(self.columns, mode="economic", check_finite=False)[0]
        left = self.plain.remove(basis)
        values, vectors = linalg.eigh(basis.T @ left, check_finite=False)
        kept = values > _EXPLAINED
        return left @ (vectors[:, kept] / np.sqrt(values[kept]))

    def remove(self, columns: np.ndarray) -> np.ndarray:
        """Return the residuals of `columns`."""
        # P' M P = V diag V' makes R' c = diag^-1/2 V' P' M c, and M P (P' M P)^-1 P' M c = R R' c.
        return self.plain.remove(columns) - self._roots @ (self._roots.T @ columns)

    def unit_noise(self, columns: np.ndarray, size: float) -> np.ndarray:
        """Return residuals in which unit noise has standard deviation `size`."""
        return columns * (size / self.row_scale)[:, None]

    def adjoint(self, columns: np.ndarray) -> np.ndarray:
        """Return the residuals of `columns`: a symmetric smoother is its own adjoint."""
        return self.remove(columns)

    @cached_property
    def _leverage(self) -> np.ndarray:
        chosen = self.plain.chosen
        return chosen.smoother.leverage(chosen.penalty) + np.square(self._roots).sum(axis=1)

    @cached_property
    def out_of_sample(self) -> np.ndarray:
        """Leave-one-out residuals of the targets."""
        return self.remove(self.targets) / (1.0 - np.minimum(self._leverage, LEVERAGE_CAP))[:, None]

    @cached_property
    def studentised(self) -> np.ndarray:
        """In-sample residuals divided by `row_scale`."""
        return self.remove(self.targets) / self.row_scale[:, None]

    @cached_property
    def row_scale(self) -> np.ndarray:
        """Standard deviation that unit noise keeps in each residual: ``sqrt(diag((M - R R')²))``."""
        roots = self._roots
        variance = np.square(self.plain.row_scale)
        variance -= 2.0 * np.einsum("ij,ij->i", self.plain.remove(roots), roots)
        variance += np.einsum("ij,jk,ik->i", roots, roots.T @ roots, roots, optimize=True)
        return np.sqrt(np.maximum(variance, 1.0 - LEVERAGE_CAP))

    @cached_property
    def r_squared(self) -> float:
        """One minus the leave-one-out error, as a share of the targets' variance, averaged over targets."""
        return float(np.mean(1.0 - share_of_variance(self.out_of_sample, self.targets)))

    @property
    def degrees_of_freedom(self) -> float:
        """Trace of the hat matrix."""
        return float(self.plain.degrees_of_freedom + np.square(self._roots).sum())

    @property
    def optimism(self) -> float:
        """That of the plain fit."""
        return self.plain.optimism

    @cached_property
    def high_leverage_share(self) -> float:
        """Share of rows that all but decide their own prediction."""
        return float(np.mean(self._leverage > HIGH_LEVERAGE))

    @property
    def name(self) -> str:
        """Name of the chosen smoother."""
        return f"{self.plain.name} + phases"
