"""What is left of one side of the test: residuals, features with Z removed, and how both were made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..nuisance import NuisanceFit
from ..numeric.linear import independent_columns
from .ridge_pairs import Components, leading_components
from .variances import rare_columns

__all__ = ["SideFeatures", "SideResiduals", "null_rows"]


@dataclass(frozen=True, eq=False)
class SideResiduals:
    """Residuals of the columns of X (or of Y) given Z."""

    values: np.ndarray  # residuals divided by their conditional scale, shape (n, p), without clipping
    location: NuisanceFit  # the fit of the conditional means
    # Which columns were replaced by normal scores first, because Z explains those better
    normal_scored: np.ndarray
    rescaled: np.ndarray  # which columns were divided by a conditional scale
    smooth: np.ndarray  # which columns are continuous, without a value that is taken often


@dataclass(frozen=True, eq=False)
class SideFeatures:
    """Features of one side with Z removed."""

    # Winsorised residuals, one column per column of the side (leading components if n and p are large)
    linear: np.ndarray
    # Rank cosines of order two and up, and joint cosines when the side has several columns; their leading
    # components when there are many
    nonlinear: np.ndarray
    names: tuple[str, ...]  # names of the linear and then of the nonlinear columns, and of the curved ones
    fit: NuisanceFit  # the fit that removed Z; its adjoint and row scales calibrate the null distribution
    residuals: SideResiduals  # where the features came from
    # Rank cosines of the columns themselves, not of their residuals; without columns where there are none.
    # More of Z stays in them, so they are paired with features of residuals only.
    direct: np.ndarray
    direct_fit: (
        NuisanceFit  # the fit that removed Z, and functions of what it predicts, from `direct` and `fine`
    )
    curved: np.ndarray  # the rank cosines one by one, columns in the order of `curved_names`
    curved_names: tuple[str, ...]
    # Cosines of high orders of a single continuous column and of its residual; otherwise without columns
    fine: np.ndarray
    # Whether the columns are the levels of one category: every function of it is linear in them
    one_category: bool = False

    @property
    def root(self) -> np.ndarray | float:
        """Roots of the weights, by which rows of all features are multiplied; one when they count alike."""
        design = self.fit.design
        return 1.0 if design is None or design.root is None else design.root[:, None]

    @property
    def discrete(self) -> np.ndarray:
        """Which linear columns are residuals of columns that are not continuous; components are of none."""
        smooth = self.residuals.smooth
        return ~smooth if len(smooth) == self.linear.shape[1] else np.zeros(self.linear.shape[1], dtype=bool)

    @cached_property
    def rare(self) -> np.ndarray:
        """Which linear columns are of events, levels or counts that few rows have."""
        return self.discrete & rare_columns(self.linear)

    @property
    def together(self) -> np.ndarray:
        """Linear and nonlinear columns side by side."""
        return np.hstack([self.linear, self.nonlinear])

    @cached_property
    def removal(self) -> np.ndarray:
        """What removes Z as a matrix, one row and column per row: kept, for one side may meet many others."""
        return self.fit.remove(np.eye(len(self.linear)))

    @cached_property
    def _components(self) -> dict[int, Components]:
        return {}

    def components(self, most: int) -> Components:
        """Return leading components of the linear features: kept, for several searches ask for them."""
        if most not in self._components:
            self._components[most] = leading_components(self.linear, most)
        return self._components[most]

    @property
    def allowance(self) -> float:
        """Factor by which the fit's being chosen from the data makes variances look too small.

        A choice that has to suit many columns cannot follow the noise of any one of them. The power is by
        measurement: with the first one sums of squares of five and of twenty columns were 1 to 2 % below
        their null mean, a third of its spread.
        """
        return self.fit.optimism**self._share_of_choice

    @property
    def direct_allowance(self) -> float:
        """The same for `direct` and `fine`."""
        return self.direct_fit.optimism**self._share_of_choice

    @cached_property
    def _share_of_choice(self) -> float:
        """How much of a choice follows the noise of one column; copies of a column count as one."""
        return max(1.0, independent_columns(self.linear)) ** -2.0  # of nothing but zeros there are none


def null_rows(
    left: np.ndarray, right: np.ndarray, left_fit: NuisanceFit, allowance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows whose products, under the null, behave like independent ones: noise of X and partners."""
    return left_fit.unit_noise(left, np.sqrt(allowance)), left_fit.adjoint(right)
