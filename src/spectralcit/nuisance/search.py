"""The search for a smoother that explains some columns by Z, all choices by closed-form leave-one-out error.

Simple smoothers come first. Each further step is taken only where a cheap look at the data calls for it:
columns derived from Z, a learned metric, narrower kernels, leaves of trees, grids of two columns, steps.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import linalg

from ..numeric.linear import effective_dimensions, orthonormal_columns
from .candidates import FEW_COLUMNS
from .derived import AdditiveInDerived, DerivedColumns, derive
from .grids import find_grid
from .jumps import LeafIndicators, orders_of, winning_leaves
from .maps import AdditiveCosines, FeatureMap
from .narrowing import ROUNDING, NarrowKernels
from .selection import SmootherFit, better, clearly_better, clearly_less, select, unless_beaten
from .smoother import Smoother
from .steps import Steps, find_steps
from .sums import SumOfMaps

__all__ = ["Search"]

_METRIC_ROUNDS = 4  # by hand: each learns from the fit before; waves along one of many columns need them all
_WORTH_A_ROUND = 0.02  # by hand: share of the error by which it has to fall for the third and fourth
_FEW_DIMENSIONS = 3.0  # as many relevant ones as rows can fill: then kernels may be narrow
_NARROW_METRIC = (0.2,)  # by hand: of the median distance in such a metric
_NARROW_ROUNDS = 3  # by hand: each learns the metric from the fit before
_MAX_METRIC_TARGETS = 6  # by hand: each takes time; of more, leading components of their fits
_STEP_WEIGHT = 10.0  # by hand: steps are few and clear, so a penalty should hardly shrink them
_BEYOND_STEPS = 1.65  # by hand: standard errors by which steps must be better
_BEYOND_DOUBT = 3.0  # by hand: standard errors by which Z's own columns win without further comparison


class Search(NarrowKernels):
    """Candidates on some rows of Z, and the choice among them."""

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

    def best(self, targets: np.ndarray, earlier: Smoother | None = None) -> SmootherFit:
        """Choose among the smoothers known in advance and an earlier one."""
        common = [s for s in self.common if s is not earlier]
        chosen = select([earlier, *common] if earlier is not None else common, targets)
        return unless_beaten(chosen, [s for s in self.own if s is not earlier], targets)

    def location(self, targets: np.ndarray) -> SmootherFit:
        """Choose a smoother for the columns of one side."""
        derived = self._derive(targets)
        smooth = self._narrowed(self._smooth(targets, derived), targets)
        chosen = self._on_grid(self._allow_jumps(smooth, targets, derived), targets)
        chosen = self._allow_steps(chosen, smooth, targets)
        if chosen is smooth:  # these mimic edges well enough for trees to be turned away
            chosen = self._allow_kinks(self._in_narrow_metric(chosen, targets), targets)
        return self._densified(chosen, targets)

    def _smooth(self, targets: np.ndarray, derived: DerivedColumns | None) -> SmootherFit:
        """Choose a smooth fit; what goes by Z's own columns, if they are few, has to be clearly better."""
        chosen = select(self.common, targets)
        if not self._frame_free:
            return self._or_straight(self._in_derived(chosen, derived, targets), targets)
        directions = None if derived is None else derived.only_directions()
        if directions is not None:
            chosen = better(
                chosen,
                self._additive_smoother(directions, *self._new_columns(directions), "derived"),
                targets,
            )
        own = select(self.own, targets) if self.own else chosen
        own = self._in_derived(own, derived, targets)
        if clearly_less(own.row_losses, chosen.row_losses, _BEYOND_DOUBT):
            return self._or_straight(own, targets)
        chosen = self._or_straight(chosen, targets)
        if clearly_less(own.row_losses, chosen.row_losses):
            own = self._or_straight(own, targets)
            return own if own.loss < chosen.loss else chosen
        return chosen

    def _or_straight(self, chosen: SmootherFit, targets: np.ndarray) -> SmootherFit:
        """Return least squares unless it is clearly beaten; then learn the metric."""
        # What is not clearly better than a straight line costs degrees of freedom for nothing.
        if clearly_better(chosen, self.base[0], targets):
            return self._learn_metric(chosen, targets)
        return select(self.base[:1] if self._least_squares else self.base, targets)

    def scale(self, targets: np.ndarray, earlier: Smoother) -> SmootherFit:
        """Choose a smoother for log squared residuals; `earlier` is that of the location."""
        derived = self._derive(targets)
        chosen = self._in_derived(self.best(targets, earlier), derived, targets)
        chosen = self._allow_jumps(self._narrowed(chosen, targets), targets, derived)
        return self._on_grid(chosen, targets)

    def _derive(self, targets: np.ndarray) -> DerivedColumns | None:
        if not self._least_squares:
            return None
        left = self._missed(self.base[0], targets, 0.0)
        return derive(self.z, self._frame, self._continuous, self._shift, targets, left)

    def _in_derived(
        self, chosen: SmootherFit, derived: DerivedColumns | None, targets: np.ndarray
    ) -> SmootherFit:
        """Let additive models of the derived columns, alone and beside those of Z, compete."""
        if derived is None:
            return chosen
        columns, new = self._new_columns(derived)
        best = better(chosen, self._additive_smoother(derived, columns, new, "derived"), targets)
        if best is chosen and self.z.shape[1] > FEW_COLUMNS:
            return chosen
        both = np.append(self._continuous, new)
        return better(best, self._additive_smoother(derived, columns, both, "additive + derived"), targets)

    def _new_columns(self, derived: DerivedColumns) -> tuple[np.ndarray, np.ndarray]:
        columns = derived(self.z)
        return columns, np.arange(self.z.shape[1], columns.shape[1])

    def _learn_metric(self, chosen: SmootherFit, targets: np.ndarray) -> SmootherFit:
        """Let Gaussian kernels measure distance along the directions in which the current fit varies."""
        if self.z.shape[1] < 2:
            return chosen
        for round_ in range(1, _METRIC_ROUNDS + 1):
            candidates = self._metric_candidates(
                chosen, targets, self._relevance(chosen, targets), self._scales(), f"learned metric {round_}"
            )
            challenger = select(candidates, targets)
            if challenger.loss >= chosen.loss:
                return chosen
            gain, chosen = 1.0 - challenger.loss / chosen.loss, challenger
            if round_ > 1 and gain < _WORTH_A_ROUND:
                return chosen
        return chosen

    def _in_narrow_metric(self, chosen: SmootherFit, targets: np.ndarray) -> SmootherFit:
        """Let narrow kernels compete in a metric in which few directions matter."""
        if chosen.smoother.feature_map is None or self.z.shape[1] < 2:
            return chosen
        for _ in range(_NARROW_ROUNDS):
            relevance = self._relevance(chosen, targets)
            if effective_dimensions(relevance) > _FEW_DIMENSIONS:
                return chosen
            narrow = self._metric_candidates(chosen, targets, relevance, _NARROW_METRIC, "narrow metric")
            best = better(chosen, narrow, targets)
            if best is chosen:
                return chosen
            chosen = best
        return chosen

    def _on_grid(self, chosen: SmootherFit, targets: np.ndarray) -> SmootherFit:
        """Let the cells of a grid of two columns compete, alone and beside an additive model."""
        if not 2 <= len(self._continuous) <= FEW_COLUMNS or chosen.loss < ROUNDING:
            return chosen
        left = self.base[0].residuals(targets, 0.0)
        share = float((left.var(axis=0) / np.maximum(targets.var(axis=0), 1e-300)).mean())
        grid = find_grid(
            self.z, self._continuous, left, min(1.0, chosen.loss / max(share, 1e-300)), self._strips
        )
        if grid is None:
            return chosen
        challengers = [self._smoother(grid, "grid")]
        if self._additive is not None:
            parts = (self._additive(self.z), grid(self.z))
            challengers.append(self._sum((self._additive, grid), parts, "additive + grid"))
        return unless_beaten(chosen, challengers, targets)

    def _allow_jumps(
        self, chosen: SmootherFit, targets: np.ndarray, derived: DerivedColumns | None
    ) -> SmootherFit:
        """Add leaves of trees to the features where trees see what the smooth fit misses."""
        # Trees would be grown on rounding errors, or on rows that a few heavy ones outweigh.
        if chosen.loss < ROUNDING or (self._design is not None and self._design.weights is not None):
            return chosen
        missed = chosen.smoother.leave_one_out(targets, chosen.best_penalty)
        columns = self.z if derived is None else derived(self.z)
        # Thresholds may be all there is, or stand on top of something smooth. Of many columns a straight line
        # is not asked about again: that would cost every test its time.
        straight = self.z.shape[1] > FEW_COLUMNS and chosen.smoother.feature_map is None
        for source in (missed,) if straight else (targets, missed):
            leaves = winning_leaves(columns, source, missed, self.base[0].codes, self._orders)
            if leaves:
                indicators = LeafIndicators.fit(self.z, source, leaves, derived)
                return self._with_leaves(chosen, indicators, targets)
        return chosen

    def _allow_steps(self, chosen: SmootherFit, smooth: SmootherFit, targets: np.ndarray) -> SmootherFit:
        """Let steps across Z compete, alone and beside the smooth fit, where there is more than a line."""
        if smooth.smoother.feature_map is None or chosen.loss < ROUNDING or self._design is not None:
            return chosen
        centred = targets - targets.mean(axis=0)
        target = centred @ linalg.eigh(centred.T @ centred, check_finite=False)[1][:, -1]
        steps = find_steps(self.z, self._frame, target, chosen.loss * float(target @ target) / 2.0)
        if steps is None:
            return chosen
        parts = (smooth.smoother.feature_map(self.z), steps(self.z))
        beside = SumOfMaps.fit(smooth.smoother.feature_map, steps, parts).favouring_second(_STEP_WEIGHT)
        challengers = [
            self._smoother(steps, "steps"),
            self._smoother(beside, f"{smooth.smoother.name} + steps", beside.join(parts)),
        ]
        best = select(challengers, targets)
        # Leaving a row out does not undo that steps and leaves were learned from it, too.
        with_steps, without = (
            fit.row_losses * (1.0 + 2.0 * _numbers_learned(fit.smoother.feature_map) / len(self.z))
            for fit in (best, chosen)
        )
        return best if clearly_less(with_steps, without, _BEYOND_STEPS) else chosen

    @cached_property
    def _orders(self) -> np.ndarray | None:
        """The order of the rows by each of many columns of Z: sorted once, for all that it explains."""
        return orders_of(self.z)

    def _with_leaves(self, chosen: SmootherFit, leaves: LeafIndicators, targets: np.ndarray) -> SmootherFit:
        smooth = chosen.smoother.feature_map
        name = f"{chosen.smoother.name} + jumps"
        if smooth is None:
            return better(chosen, [self._smoother(leaves, name)], targets)
        parts = (smooth(self.z), leaves(self.z))
        return better(chosen, [self._sum((smooth, leaves), parts, name)], targets)

    def _metric_candidates(
        self,
        chosen: SmootherFit,
        targets: np.ndarray,
        relevance: np.ndarray,
        scales: tuple[float, ...],
        name: str,
    ) -> list[Smoother]:
        """Return Gaussian smoothers in the metric that `relevance` gives.

        If an additive model is in use, the same model with its columns weighed by their relevance joins them,
        alone and below the Gaussians.
        """
        factor = self._metric_factor(relevance)
        candidates = [self.base[0]]
        additive = self._companion(chosen, relevance, targets)
        if additive is not None:
            below = additive(self.z)
            candidates.append(self._smoother(additive, name.replace("learned metric", "additive"), below))
        for scale in scales:
            gaussian = self._gaussian(factor, scale)
            if gaussian is None:
                continue
            features = gaussian(self.z)
            candidates.append(self._smoother(gaussian, f"{name}({scale:g})", features))
            if additive is not None:
                parts = (below, features)
                candidates.append(self._sum((additive, gaussian), parts, f"additive + {name}({scale:g})"))
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


def _numbers_learned(feature_map: FeatureMap | None) -> int:
    """Return how many places of steps and leaves were learned, beside coefficients."""
    if isinstance(feature_map, SumOfMaps):
        return _numbers_learned(feature_map.first) + _numbers_learned(feature_map.second)
    return feature_map.n_numbers if isinstance(feature_map, LeafIndicators | Steps) else 0
