"""What every nuisance method hands back: residuals, and the means to remove Z from further columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ..inputs import RowDesign
from .designed import DesignedSmoother
from .selection import SmootherFit

__all__ = [
    "HIGH_LEVERAGE",
    "LinearFit",
    "Nuisance",
    "NuisanceFit",
    "nothing_removed",
    "share_of_variance",
]

HIGH_LEVERAGE = 0.9  # by hand: such a row's prediction is nine tenths its own value


class NuisanceFit(Protocol):
    """The result of explaining some columns by Z."""

    @property
    def targets(self) -> np.ndarray:
        """The columns that were explained."""
        ...

    @property
    def out_of_sample(self) -> np.ndarray:
        """Residuals of the targets, each row predicted without that row."""
        ...

    @property
    def studentised(self) -> np.ndarray:
        """Residuals of the targets, scaled so that unit noise has unit variance in every row."""
        ...

    @property
    def row_scale(self) -> np.ndarray:
        """Standard deviation that unit noise keeps in each row of `remove`'s result."""
        ...

    @property
    def r_squared(self) -> float:
        """Out-of-sample share of the targets' variance that Z explains; can be negative."""
        ...

    @property
    def degrees_of_freedom(self) -> float:
        """Effective number of parameters."""
        ...

    @property
    def optimism(self) -> float:
        """Factor, at least one, by which a fit chosen from the data makes variances look too small."""
        ...

    @property
    def high_leverage_share(self) -> float:
        """Share of rows that all but decide their own prediction."""
        ...

    @property
    def name(self) -> str:
        """What was fitted, in a few words."""
        ...

    @property
    def design(self) -> RowDesign | None:
        """How the rows belong together and count; ``None`` for independent rows that count alike."""
        ...

    def unit_noise(self, columns: np.ndarray, size: float) -> np.ndarray:
        """Return residuals in which unit noise has standard deviation `size`, in groups no covariance."""
        ...

    def remove(self, columns: np.ndarray) -> np.ndarray:
        """Return `columns` with what Z explains of them taken out, rows times the roots of their weights."""
        ...

    def adjoint(self, columns: np.ndarray) -> np.ndarray:
        """Apply the transpose of `remove` to weighted rows, as far as it is linear; the null needs it."""
        ...


class Nuisance(Protocol):
    """A way to explain columns by Z, already bound to Z."""

    def prediction_error(self, targets: np.ndarray) -> np.ndarray:
        """Return each target's out-of-sample error as a share of its variance, quickly."""
        ...

    def fit_location(self, targets: np.ndarray) -> NuisanceFit:
        """Explain the columns of one side of the test."""
        ...

    def fit_scale(self, targets: np.ndarray, location: NuisanceFit) -> NuisanceFit:
        """Explain the log squared residuals of `location`."""
        ...

    def fit_features(self, features: np.ndarray, location: NuisanceFit) -> NuisanceFit:
        """Explain features of the residuals of `location`, at least as flexibly as `location` was."""
        ...


def share_of_variance(residuals: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the mean square of each column of residuals as a share of its target's variance."""
    return np.square(residuals).mean(axis=0) / np.maximum(targets.var(axis=0), 1e-300)


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear smoother fitted to some targets."""

    chosen: SmootherFit  # smoother and penalty on all rows
    # Smoother and penalty on the rows that chose the kernel (the same object unless there are many rows)
    selection: SmootherFit
    targets: np.ndarray  # the columns that were explained
    # Computes how much worse a fit on half of the rows predicts, and the standard error of that; see
    # `spectralcit.nuisance.learning`
    gap: Callable[[], tuple[float, float]] | None = None

    @cached_property
    def out_of_sample(self) -> np.ndarray:
        """Leave-one-out residuals of the targets."""
        return self.chosen.smoother.leave_one_out(self.targets, self.chosen.penalty)

    @cached_property
    def studentised(self) -> np.ndarray:
        """In-sample residuals divided by `row_scale`, on the scale of the targets.

        Leave-one-out residuals vary more where Z is unusual, on both sides of a test alike, and functions of
        them would then be correlated through the leverage.
        """
        left = self.remove(self.targets) / self.row_scale[:, None]
        root = None if self.design is None else self.design.root
        return left if root is None else left / root[:, None]

    @cached_property
    def row_scale(self) -> np.ndarray:
        """Standard deviation that unit noise keeps in each residual."""
        return self.chosen.smoother.row_scale(self.chosen.penalty)

    @cached_property
    def r_squared(self) -> float:
        """One minus the leave-one-out error, as a share of the targets' variance, averaged over targets."""
        return float(np.mean(1.0 - share_of_variance(self.out_of_sample, self.targets)))

    @property
    def degrees_of_freedom(self) -> float:
        """Trace of the hat matrix."""
        return self.chosen.degrees_of_freedom

    @property
    def optimism(self) -> float:
        """``1 / (1 - share)``, the share being half the adaptively chosen degrees of freedom per row.

        The trace of the hat matrix counts a fit as if kernel, metric and penalty had been given; that they
        were chosen by leave-one-out error costs degrees of freedom too.
        """
        return 1.0 / (1.0 - 0.5 * self.chosen.adaptive_degrees_of_freedom / len(self.targets))

    @cached_property
    def high_leverage_share(self) -> float:
        """Share of rows whose diagonal entry of the hat matrix is above 0.9."""
        return float(np.mean(self.chosen.smoother.leverage(self.chosen.penalty) > HIGH_LEVERAGE))

    @property
    def name(self) -> str:
        """Name of the chosen smoother."""
        return self.chosen.smoother.name

    @property
    def design(self) -> RowDesign | None:
        """How the rows belong together and count; ``None`` for independent rows that count alike."""
        return self.chosen.smoother.design

    def unit_noise(self, columns: np.ndarray, size: float) -> np.ndarray:
        """Return residuals in which unit noise has standard deviation `size`, in groups no covariance."""
        smoother = self.chosen.smoother
        if isinstance(smoother, DesignedSmoother):
            return smoother.unit_noise(columns, self.chosen.penalty, size)
        return columns * (size / self.row_scale)[:, None]

    def remove(self, columns: np.ndarray) -> np.ndarray:
        """Return the residuals of `columns`."""
        return self.chosen.smoother.residuals(columns, self.chosen.penalty)

    def adjoint(self, columns: np.ndarray) -> np.ndarray:
        """Return the residuals of `columns`: a symmetric smoother is its own adjoint."""
        smoother = self.chosen.smoother
        if isinstance(smoother, DesignedSmoother):
            return smoother.off(columns, self.chosen.penalty)
        return self.remove(columns)


def nothing_removed(fit: NuisanceFit) -> bool:
    """Tell whether a linear fit takes out the mean only, because there is no Z."""
    return isinstance(fit, LinearFit) and fit.degrees_of_freedom <= 1.0
