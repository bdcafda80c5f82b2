"""The search for a smoother that explains some columns by Z, all choices by closed-form leave-one-out error.

Simple smoothers come first. Each further step is taken only where a cheap look at the data calls for it:
columns derived from Z, a learned metric, narrower kernels, leaves of trees.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.spatial import cKDTree

from .derived import AdditiveInDerived, DerivedColumns, derive, principal_frame
from .jumps import LeafIndicators, winning_leaves
from .maps import AdditiveCosines, FeatureMap, GaussianFeatures, LinearFeatures, SumOfMaps
from .smoother import Smoother, SmootherFit, clearly_better, orthonormal_columns, select

__all__ = ["Search"]

_N_LANDMARKS = 300  # by hand: the time of a kernel grows with their square
_N_LANDMARKS_SMOOTH = 200  # by hand: of wide kernels in few columns, which need fewer
_METRIC_ROUNDS = 2  # by hand: the second learns from a fit that already used a learned metric
_METRIC_FLOOR = 1e-4  # keeps every direction of Z faintly visible to the learned kernel
_MAX_METRIC_TARGETS = 6  # by hand: each takes time; of more, leading components of their fits
_ROUNDING = 1e-12  # a share of the variance this small is no miss of the fit
_NARROW_SCALES = (0.2, 0.1, 0.04, 0.015)  # by hand: of the median distance, tried in turn while they help
_NARROW_LANDMARKS = {1: 300, 2: 700, 3: 700}  # by columns; with more, no rows fill narrow neighbourhoods
_AGREEMENT = 2.0  # by hand: standard errors by which misses of neighbours agree if kernels are too wide
_FEW_COLUMNS = 20  # with more, least squares costs the smooth fit so much that anything may beat it


class Search:
    """Candidates on some rows of Z, and the choice among them."""

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
    ) -> None:
        self.z, self._continuous, self._shift = z, continuous, shift
        self._fixed, self._n, self._seed, self._least_squares = fixed, n, seed, least_squares
        self._frame = principal_frame(z, continuous) if least_squares else None
        self._additive: AdditiveCosines | None = None
        self.base = self._base_smoothers()

    def on_rows(self, rows: np.ndarray) -> Search:
        """Return a search on some of the rows, Z's linear part fixed if it is here."""
        z = self.z[rows]
        return Search(
            z,
            self._continuous,
            self._shift,
            orthonormal_columns(z if self._least_squares else z[:, :0]),
            len(rows),
            least_squares=self._least_squares,
            seed=self._seed,
        )

    def _base_smoothers(self) -> list[Smoother]:
        smoothers = [Smoother(self._fixed, name="linear")]
        width = self.z.shape[1]
        if width == 0:
            return smoothers
        for scale in self._scales():
            smoothers += self._gaussian_smoother(np.eye(width), scale, f"gaussian({scale:g})")
            if self._frame is not None:
                smoothers += self._gaussian_smoother(self._frame, scale, f"whitened gaussian({scale:g})")
        self._additive = AdditiveCosines.fit(self.z, self._continuous, self._n)
        if self._additive is not None and width > 1:
            smoothers.append(self._smoother(self._additive, "additive"))
        if not self._least_squares:
            smoothers.append(self._smoother(LinearFeatures(), "ridge"))
        return smoothers

    def _scales(self) -> tuple[float, ...]:
        width = self.z.shape[1]
        if width <= 3:
            return (0.35, 1.0)
        return (0.5, 1.5) if width <= 20 else (1.0,)

    def _gaussian(
        self, factor: np.ndarray, scale: float, landmarks: int | None = None
    ) -> GaussianFeatures | None:
        if landmarks is None:
            smooth = scale >= 1.0 and self.z.shape[1] <= _FEW_COLUMNS
            landmarks = _N_LANDMARKS_SMOOTH if smooth else _N_LANDMARKS
        # The same rows every time: a fit must not depend on what was fitted before.
        return GaussianFeatures.fit(self.z, factor, scale, landmarks, np.random.default_rng(self._seed))

    def _gaussian_smoother(
        self, factor: np.ndarray, scale: float, name: str, landmarks: int | None = None
    ) -> list[Smoother]:
        gaussian = self._gaussian(factor, scale, landmarks)
        return [] if gaussian is None else [self._smoother(gaussian, name)]

    def _smoother(self, feature_map: FeatureMap, name: str, features: np.ndarray | None = None) -> Smoother:
        return Smoother(self._fixed, self.z, feature_map, name=name, features=features)

    def location(self, targets: np.ndarray) -> SmootherFit:
        """Choose a smoother for the columns of one side."""
        chosen = select(self.base, targets)
        derived = self._derive(targets)
        if derived is not None:
            chosen = self._in_derived(chosen, derived, targets)
        # What is not clearly better than a straight line costs degrees of freedom for nothing.
        if not clearly_better(chosen, self.base[0], targets):
            chosen = select(self.base[:1] if self._least_squares else self.base, targets)
        else:
            chosen = self._learn_metric(chosen, targets)
        return self._allow_jumps(self._narrowed(chosen, targets), targets, derived)

    def scale(self, targets: np.ndarray, earlier: Smoother) -> SmootherFit:
        """Choose a smoother for log squared residuals; `earlier` is that of the location."""
        chosen = select([earlier, *(s for s in self.base if s is not earlier)], targets)
        derived = self._derive(targets)
        if derived is not None:
            chosen = self._in_derived(chosen, derived, targets)
        return self._allow_jumps(self._narrowed(chosen, targets), targets, derived)

    def _derive(self, targets: np.ndarray) -> DerivedColumns | None:
        if not self._least_squares:
            return None
        left = self.base[0].leave_one_out(targets, 0.0)
        return derive(self.z, self._frame, self._continuous, self._shift, targets, left)

    def _in_derived(self, chosen: SmootherFit, derived: DerivedColumns, targets: np.ndarray) -> SmootherFit:
        """Let additive models of the derived columns, alone and beside those of Z, compete."""
        columns = derived(self.z)
        new = np.arange(self.z.shape[1], columns.shape[1])
        alone = self._additive_smoother(derived, columns, new, "derived")
        better = _better(chosen, alone, targets)
        if better is chosen and self.z.shape[1] > _FEW_COLUMNS:
            return chosen
        both = np.append(self._continuous, new)
        return _better(better, self._additive_smoother(derived, columns, both, "additive + derived"), targets)

    def _additive_smoother(
        self, derived: DerivedColumns, columns: np.ndarray, used: np.ndarray, name: str
    ) -> list[Smoother]:
        cosines = AdditiveCosines.fit(columns, used, self._n)
        if cosines is None:
            return []
        return [self._smoother(AdditiveInDerived(derived, cosines), name, cosines(columns))]

    def _learn_metric(self, chosen: SmootherFit, targets: np.ndarray) -> SmootherFit:
        """Let Gaussian kernels measure distance along the directions in which the current fit varies."""
        if self.z.shape[1] < 2:
            return chosen
        for round_ in range(1, _METRIC_ROUNDS + 1):
            challenger = select(self._metric_candidates(chosen, targets, round_), targets)
            if challenger.loss >= chosen.loss:
                return chosen
            chosen = challenger
        return chosen

    def _narrowed(self, chosen: SmootherFit, targets: np.ndarray) -> SmootherFit:
        """Try narrower kernels where what the fit misses is alike in neighbouring rows."""
        landmarks = _NARROW_LANDMARKS.get(self.z.shape[1])
        if landmarks is None or chosen.loss < _ROUNDING:
            return chosen
        factor = np.eye(self.z.shape[1]) if self._frame is None else self._frame
        missed = chosen.smoother.leave_one_out(targets, chosen.best_penalty)
        if _agreement(self.z @ factor, missed) < _AGREEMENT:
            return chosen
        for scale in _NARROW_SCALES:
            narrower = self._gaussian_smoother(factor, scale, f"gaussian({scale:g})", landmarks)
            challenger = _better(chosen, narrower, targets)
            if challenger is chosen:
                break
            chosen = challenger
        return chosen

    def _allow_jumps(
        self, chosen: SmootherFit, targets: np.ndarray, derived: DerivedColumns | None
    ) -> SmootherFit:
        """Add leaves of trees to the features where trees see what the smooth fit misses."""
        if chosen.loss < _ROUNDING:  # trees would be grown on rounding errors
            return chosen
        missed = chosen.smoother.leave_one_out(targets, chosen.best_penalty)
        columns = self.z if derived is None else derived(self.z)
        # Thresholds may be all there is, or stand on top of something smooth.
        for source in (targets, missed) if self.z.shape[1] <= _FEW_COLUMNS else (missed,):
            leaves = winning_leaves(columns, source, missed)
            if leaves:
                indicators = LeafIndicators.fit(self.z, source, leaves, derived)
                return self._with_leaves(chosen, indicators, targets)
        return chosen

    def _with_leaves(self, chosen: SmootherFit, leaves: LeafIndicators, targets: np.ndarray) -> SmootherFit:
        smooth = chosen.smoother.feature_map
        name = f"{chosen.smoother.name} + jumps"
        if smooth is None:
            return _better(chosen, [self._smoother(leaves, name)], targets)
        parts = (smooth(self.z), leaves(self.z))
        return _better(chosen, [self._sum((smooth, leaves), parts, name)], targets)

    def _sum(
        self, maps: tuple[FeatureMap, FeatureMap], parts: tuple[np.ndarray, np.ndarray], name: str
    ) -> Smoother:
        both = SumOfMaps.fit(*maps, parts)
        return self._smoother(both, name, both.join(parts))

    def _metric_candidates(self, chosen: SmootherFit, targets: np.ndarray, round_: int) -> list[Smoother]:
        """Return Gaussian smoothers in the learned metric.

        If an additive model is in use, the same model with its columns weighed by their relevance joins them,
        alone and below the Gaussians.
        """
        relevance = self._relevance(chosen, targets)
        factor = self._metric_factor(relevance)
        candidates = [self.base[0]]
        additive = self._companion(chosen, relevance, targets)
        if additive is not None:
            below = additive(self.z)
            candidates.append(self._smoother(additive, f"additive {round_}", below))
        for scale in self._scales():
            gaussian = self._gaussian(factor, scale)
            if gaussian is None:
                continue
            features = gaussian(self.z)
            candidates.append(self._smoother(gaussian, f"learned metric {round_}({scale:g})", features))
            if additive is not None:
                name = f"additive + learned metric {round_}({scale:g})"
                candidates.append(self._sum((additive, gaussian), (below, features), name))
        return candidates

    def _companion(
        self, chosen: SmootherFit, relevance: np.ndarray, targets: np.ndarray
    ) -> FeatureMap | None:
        """Return the additive model to go below the Gaussians, if one is in use."""
        used = chosen.smoother.feature_map
        used = used.first if isinstance(used, SumOfMaps) else used
        if isinstance(used, AdditiveInDerived):
            return used
        if not isinstance(used, AdditiveCosines) or self._additive is None:
            return None
        noise = chosen.loss * float(targets.var(axis=0).sum())
        return self._additive.reweighted(relevance, noise, self._n)

    def _relevance(self, chosen: SmootherFit, targets: np.ndarray) -> np.ndarray:
        smoother, penalty = chosen.smoother, chosen.best_penalty
        if targets.shape[1] > _MAX_METRIC_TARGETS:
            fitted = targets - smoother.residuals(targets, penalty)
            left, values, _ = linalg.svd(
                fitted - fitted.mean(axis=0), full_matrices=False, check_finite=False
            )
            targets = left[:, :_MAX_METRIC_TARGETS] * values[:_MAX_METRIC_TARGETS]
        assert smoother.feature_map is not None
        return smoother.feature_map.relevance(self.z, smoother.feature_coefficients(targets, penalty))

    def _metric_factor(self, relevance: np.ndarray) -> np.ndarray:
        """Return a root of the metric; with correlated columns the floor is even in uncorrelated ones."""
        frame = np.eye(len(relevance)) if self._frame is None else self._frame
        back = frame if self._frame is None else linalg.pinv(frame, check_finite=False)
        values, vectors = linalg.eigh(back @ relevance @ back.T, check_finite=False)
        shares = np.maximum(values, 0.0) / max(values[-1], 1e-300)
        return frame @ (vectors * np.sqrt(shares + _METRIC_FLOOR))


def _better(chosen: SmootherFit, challengers: list[Smoother], targets: np.ndarray) -> SmootherFit:
    """Return the fit with the least leave-one-out error."""
    if not challengers:
        return chosen
    challenger = select(challengers, targets) if any(s.loss_path(targets) for s in challengers) else chosen
    return challenger if challenger.loss < chosen.loss else chosen


def _agreement(z: np.ndarray, missed: np.ndarray) -> float:
    """Return by how many standard errors misses agree with those of the nearest row, twins left out."""
    distance, neighbour = cKDTree(z).query(z, k=2)
    apart = distance[:, 1] > 0
    scaled = (missed - missed.mean(axis=0)) / np.maximum(missed.std(axis=0), 1e-300)
    products = (scaled * scaled[neighbour[:, 1]]).mean(axis=1)[apart]
    if apart.mean() < 0.5:
        return 0.0
    return float(products.sum() / max(np.sqrt(np.square(products).sum()), 1e-300))
