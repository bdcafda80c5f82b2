"""Smoothers of Z that a search chooses from: those known in advance, and the means to make more.

With few columns they come in two groups: those that are the same whatever invertible linear map Z went
through (least squares, kernels in uncorrelated coordinates), and those that go by Z's own columns.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..inputs import RowDesign
from .derived import (
    FRAME_FREE,
    AdditiveInDerived,
    DerivedColumns,
    are_correlated,
    principal_frame,
)
from .designed import make_smoother
from .grids import StripTables
from .maps import AdditiveCosines, FeatureMap, GaussianFeatures, LinearFeatures
from .smoother import Smoother
from .sums import SumOfMaps

__all__ = ["FEW_COLUMNS", "Candidates"]

_METRIC_FLOOR = 1e-4  # keeps every direction of Z faintly visible to the learned kernel
_N_LANDMARKS = 300  # by hand: the time of a kernel grows with their square
_N_LANDMARKS_SMOOTH = 200  # by hand: of wide kernels in few columns, which need fewer
FEW_COLUMNS = 20  # with more, least squares costs the smooth fit so much that anything may beat it


class Candidates:
    """Smoothers on some rows of Z."""

    def __init__(
        self,
        z: np.ndarray,
        continuous: np.ndarray,
        shift: np.ndarray,
        fixed: np.ndarray,
        n: int,
        *,
        least_squares: bool,
        seed: int,
        design: RowDesign | None = None,
    ) -> None:
        self._design = design  # of these rows
        self.z, self._continuous, self._shift = z, continuous, shift
        self._fixed, self._n, self._seed, self._least_squares = fixed, n, seed, least_squares
        self._frame = principal_frame(z, continuous) if least_squares else None
        self._frame_free = self._frame is not None and len(continuous) <= FRAME_FREE
        self._additive: AdditiveCosines | None = None
        self._strips: dict[int, StripTables] = {}  # of the continuous columns, by their parts
        self._narrow_kernels: dict[tuple[float, int, bool], list[Smoother]] = {}  # by width and landmarks
        self.common, self.own = self._base_smoothers()
        self.base = self.common + self.own

    def _base_smoothers(self) -> tuple[list[Smoother], list[Smoother]]:
        """Return the smoothers that are the same in every frame of Z, and those that are not.

        With many columns, and with one, they all count as the former.
        """
        common, own = [make_smoother(self._fixed, name="linear", design=self._design)], list[Smoother]()
        width = self.z.shape[1]
        if width == 0:
            return common, own
        for scale in self._scales():
            if self._frame is not None:
                common += self._gaussian_smoother(self._frame, scale, f"whitened gaussian({scale:g})")
            if self._frame is None or are_correlated(self.z, self._continuous):
                own += self._gaussian_smoother(np.eye(width), scale, f"gaussian({scale:g})")
        self._additive = AdditiveCosines.fit(self.z, self._continuous, self._n)
        if self._additive is not None and width > 1:
            own.append(self._smoother(self._additive, "additive"))
        if not self._least_squares:
            own.append(self._smoother(LinearFeatures(), "ridge"))
        return (common, own) if self._frame_free else ([*common, *own], [])

    def _scales(self) -> tuple[float, ...]:
        width = self.z.shape[1]
        if width <= 3:
            return (0.35, 1.0)
        return (0.5, 1.5) if width <= 20 else (1.0,)

    def _metric_factor(self, relevance: np.ndarray) -> np.ndarray:
        """Return a root of the metric; with correlated columns the floor is even in uncorrelated ones."""
        frame = np.eye(len(relevance)) if self._frame is None else self._frame
        back = frame if self._frame is None else linalg.pinv(frame, check_finite=False)
        values, vectors = linalg.eigh(back @ relevance @ back.T, check_finite=False)
        shares = np.maximum(values, 0.0) / max(values[-1], 1e-300)
        return frame @ (vectors * np.sqrt(shares + _METRIC_FLOOR))

    def _gaussian(
        self, factor: np.ndarray, scale: float, landmarks: int | None = None, rough: bool = False
    ) -> GaussianFeatures | None:
        if landmarks is None:
            smooth = scale >= 1.0 and self.z.shape[1] <= FEW_COLUMNS
            landmarks = _N_LANDMARKS_SMOOTH if smooth else _N_LANDMARKS
        # The same rows every time: a fit must not depend on what was fitted before.
        rng = np.random.default_rng(self._seed)
        return GaussianFeatures.fit(self.z, factor, scale, landmarks, rng, rough)

    def _gaussian_smoother(
        self, factor: np.ndarray, scale: float, name: str, landmarks: int | None = None, rough: bool = False
    ) -> list[Smoother]:
        gaussian = self._gaussian(factor, scale, landmarks, rough)
        return [] if gaussian is None else [self._smoother(gaussian, name)]

    def _smoother(self, feature_map: FeatureMap, name: str, features: np.ndarray | None = None) -> Smoother:
        return make_smoother(
            self._fixed, self.z, feature_map, name=name, features=features, design=self._design
        )

    def _additive_smoother(
        self, derived: DerivedColumns, columns: np.ndarray, used: np.ndarray, name: str
    ) -> list[Smoother]:
        cosines = AdditiveCosines.fit(columns, used, self._n)
        if cosines is None:
            return []
        additive = AdditiveInDerived.fit(derived, cosines, self.z)
        return [self._smoother(additive, name, additive.on_columns(self.z, columns))]

    def _sum(
        self, maps: tuple[FeatureMap, FeatureMap], parts: tuple[np.ndarray, np.ndarray], name: str
    ) -> Smoother:
        both = SumOfMaps.fit(*maps, parts)
        return self._smoother(both, name, both.join(parts))
