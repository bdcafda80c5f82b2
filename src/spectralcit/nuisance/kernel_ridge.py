"""Removing what Z explains by multi-kernel ridge regression that learns which directions of Z matter.

The candidates are least squares, an additive model, Gaussian kernels of two widths, and Gaussian kernels
whose metric is learned from the fits themselves (average gradient outer product, as in recursive feature
machines). Z's linear part is never shrunk while the number of rows allows it. Choices use one side of the
test (X and Z, or Y and Z) only, so under the null hypothesis the two sides' residuals stay independent
given Z.

References
----------
Radhakrishnan, Beaglehole, Pandit, Belkin (2024). Mechanism for feature learning in neural networks and
backpropagation-free machine learning models. Science 383.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg

from ..inputs import Block
from ..numeric.standardize import standardized
from .fits import LinearFit, NuisanceFit
from .jumps import LeafIndicators, trees_win
from .maps import AdditiveCosines, FeatureMap, GaussianFeatures, LinearFeatures, SumOfMaps
from .smoother import Smoother, SmootherFit, clearly_better, orthonormal_columns, select

__all__ = ["MAX_LINEAR_SHARE", "KernelRidge"]

MAX_LINEAR_SHARE = 0.5  # of the rows: a Z with more columns than this is wide

_N_LANDMARKS = 300  # by hand: an eigendecomposition of this size takes some 10 ms
_METRIC_ROUNDS = 2  # by hand
_METRIC_FLOOR = 1e-4  # keeps every direction of Z faintly visible to the learned kernel
_ROUNDING = 1e-12  # a share of the variance this small is no miss of the fit
_MAX_TARGETS = 12  # selection looks at this many random combinations of the targets at most
_MAX_METRIC_TARGETS = 6  # by hand: leading fitted combinations; gradients of each cost a matrix product
_MAX_FEATURES = 40  # likewise for features of the residuals


class KernelRidge:
    """Kernel ridge regression on Z, prepared once and fitted to any targets.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal((300, 2))
    >>> target = np.sin(2 * z[:, :1]) + 0.1 * rng.standard_normal((300, 1))
    >>> block = Block(z, ("a", "b"), ("continuous",) * 2, (0, 1))
    >>> fit = KernelRidge(block, 300, rng).fit_location(target)
    >>> bool(fit.r_squared > 0.9)
    True
    """

    def __init__(
        self,
        z: Block | None,
        n: int,
        rng: np.random.Generator,
        *,
        extra: np.ndarray | None = None,
        max_selection_rows: int = 4000,
        max_linear_share: float = MAX_LINEAR_SHARE,
    ) -> None:
        self._rng = rng
        self._z = np.zeros((n, 0)) if z is None else standardized(z.values)
        columns = self._z if extra is None else np.hstack([self._z, standardized(extra)])
        self.least_squares = columns.shape[1] < max_linear_share * n
        self._fixed = orthonormal_columns(columns if self.least_squares else np.zeros((n, 0)))
        if not self.least_squares:
            self._z = columns
        self._rows = np.arange(n)
        if n > max_selection_rows:
            self._rows = np.sort(rng.choice(n, max_selection_rows, replace=False))
        self._selection_z = self._z[self._rows]
        self._selection_fixed = self._fixed
        if n > max_selection_rows:
            self._selection_fixed = orthonormal_columns(
                columns[self._rows] if self.least_squares else np.zeros((len(self._rows), 0))
            )
        self._additive: AdditiveCosines | None = None
        self._full: dict[int, Smoother] = {}
        self.base = self._base_smoothers(z)

    def _base_smoothers(self, z: Block | None) -> list[Smoother]:
        smoothers = [Smoother(self._selection_fixed, name="linear")]
        if z is None:
            return smoothers
        width = self._selection_z.shape[1]
        for scale in self._scales():
            gaussian = self._gaussian(np.eye(width), scale)
            if gaussian is not None:
                smoothers.append(self._smoother(gaussian, f"gaussian({scale:g})"))
        continuous = np.array([j for j, kind in enumerate(z.kinds) if kind == "continuous"], dtype=int)
        self._additive = AdditiveCosines.fit(self._selection_z, continuous, len(self._z))
        if self._additive is not None and width > 1:
            smoothers.append(self._smoother(self._additive, "additive"))
        if not self.least_squares:
            smoothers.append(self._smoother(LinearFeatures(), "ridge"))
        return smoothers

    def _scales(self) -> tuple[float, ...]:
        width = self._selection_z.shape[1]
        if width <= 3:
            return (0.35, 1.0)
        return (0.5, 1.5) if width <= 20 else (1.0,)

    def _gaussian(self, factor: np.ndarray, scale: float) -> GaussianFeatures | None:
        return GaussianFeatures.fit(self._selection_z, factor, scale, _N_LANDMARKS, self._rng)

    def _smoother(self, feature_map: FeatureMap, name: str, features: np.ndarray | None = None) -> Smoother:
        return Smoother(self._selection_fixed, self._selection_z, feature_map, name=name, features=features)

    def prediction_error(self, targets: np.ndarray) -> np.ndarray:
        """Return each target's out-of-sample error as a share of its variance, without a learned metric."""
        selection = targets[self._rows]
        chosen = select(self.base, _few_columns(selection, _MAX_TARGETS, self._rng))
        error = np.square(chosen.smoother.leave_one_out(selection, chosen.best_penalty)).mean(axis=0)
        return error / np.maximum(selection.var(axis=0), 1e-300)

    def fit_location(self, targets: np.ndarray) -> LinearFit:
        """Explain the columns of one side, learning on the way which directions of Z matter to them."""
        sketch = _few_columns(targets, _MAX_TARGETS, self._rng)
        selection = sketch[self._rows]
        chosen = self._learn_metric(select(self.base, selection), selection)
        return self._bind(self._allow_jumps(chosen, selection), targets, sketch)

    def fit_scale(self, targets: np.ndarray, location: NuisanceFit) -> LinearFit:
        """Explain log squared residuals with the least error: a scale that follows noise would add noise."""
        sketch = _few_columns(targets, _MAX_TARGETS, self._rng)
        fit = self._bind(self._select_near(location, sketch), targets, sketch)
        return replace(fit, chosen=replace(fit.chosen, penalty=fit.chosen.best_penalty))

    def fit_features(self, features: np.ndarray, location: NuisanceFit) -> LinearFit:
        """Explain features of the residuals, at least as flexibly as the location fit did."""
        sketch = _few_columns(features, _MAX_FEATURES, self._rng)
        chosen = self._select_near(location, sketch)
        earlier = _linear(location)
        if chosen.degrees_of_freedom < earlier.selection.degrees_of_freedom:
            return replace(earlier, targets=features)
        return self._bind(chosen, features, sketch)

    def _select_near(self, location: NuisanceFit, targets: np.ndarray) -> SmootherFit:
        earlier = _linear(location).selection.smoother
        return select([earlier, *(s for s in self.base if s is not earlier)], targets[self._rows])

    def _bind(self, chosen: SmootherFit, targets: np.ndarray, sketch: np.ndarray) -> LinearFit:
        if len(self._rows) == len(targets):
            return LinearFit(chosen, chosen, targets)
        return LinearFit(select([self._on_all_rows(chosen.smoother)], sketch), chosen, targets)

    def _on_all_rows(self, smoother: Smoother) -> Smoother:
        key = id(smoother)
        if key not in self._full:
            self._full[key] = Smoother(self._fixed, self._z, smoother.feature_map, name=smoother.name)
        return self._full[key]

    def _learn_metric(self, chosen: SmootherFit, targets: np.ndarray) -> SmootherFit:
        """Let Gaussian kernels measure distance along the directions in which the current fit varies.

        Where nothing beats least squares clearly there is no such direction to be seen, and it stays.
        """
        if self._selection_z.shape[1] < 2 or not clearly_better(chosen, self.base[0], targets):
            return chosen
        for round_ in range(1, _METRIC_ROUNDS + 1):
            challenger = select(self._metric_candidates(chosen, targets, round_), targets)
            if challenger.loss >= chosen.loss:
                return chosen
            chosen = challenger
        return chosen

    def _allow_jumps(self, chosen: SmootherFit, targets: np.ndarray) -> SmootherFit:
        """Add leaves of trees to the features where trees see what the smooth fit misses."""
        if chosen.loss < _ROUNDING:  # trees would be grown on rounding errors
            return chosen
        missed = chosen.smoother.leave_one_out(targets, chosen.best_penalty)
        # Thresholds may be all there is, or stand on top of something smooth.
        for source in (targets, missed):
            if trees_win(self._selection_z, source, missed):
                return self._with_leaves(chosen, LeafIndicators.fit(self._selection_z, source), targets)
        return chosen

    def _with_leaves(self, chosen: SmootherFit, leaves: LeafIndicators, targets: np.ndarray) -> SmootherFit:
        smooth = chosen.smoother.feature_map
        name = f"{chosen.smoother.name} + jumps"
        if smooth is None:
            return select([chosen.smoother, self._smoother(leaves, name)], targets)
        parts = (smooth(self._selection_z), leaves(self._selection_z))
        both = SumOfMaps.fit(smooth, leaves, parts)
        return select([chosen.smoother, self._smoother(both, name, both.join(parts))], targets)

    def _metric_candidates(self, chosen: SmootherFit, targets: np.ndarray, round_: int) -> list[Smoother]:
        """Return Gaussian smoothers in the learned metric.

        If an additive model is in use, the same model with its columns weighed by their relevance joins them,
        alone and below the Gaussians.
        """
        relevance = self._relevance(chosen, targets)
        factor = _metric_factor(relevance)
        candidates = [self.base[0]]
        additive = None
        if isinstance(chosen.smoother.feature_map, AdditiveCosines | SumOfMaps):
            assert self._additive is not None
            noise = chosen.loss * float(targets.var(axis=0).sum())
            additive = self._additive.reweighted(relevance, noise, len(self._z))
            additive_features = additive(self._selection_z)
            candidates.append(self._smoother(additive, f"additive {round_}", additive_features))
        for scale in self._scales():
            gaussian = self._gaussian(factor, scale)
            if gaussian is None:
                continue
            features = gaussian(self._selection_z)
            candidates.append(self._smoother(gaussian, f"learned metric {round_}({scale:g})", features))
            if additive is not None:
                parts = (additive_features, features)
                both = SumOfMaps.fit(additive, gaussian, parts)
                name = f"additive + learned metric {round_}({scale:g})"
                candidates.append(self._smoother(both, name, both.join(parts)))
        return candidates

    def _relevance(self, chosen: SmootherFit, targets: np.ndarray) -> np.ndarray:
        smoother, penalty = chosen.smoother, chosen.best_penalty
        if targets.shape[1] > _MAX_METRIC_TARGETS:
            fitted = targets - smoother.residuals(targets, penalty)
            left, values, _ = linalg.svd(
                fitted - fitted.mean(axis=0), full_matrices=False, check_finite=False
            )
            targets = left[:, :_MAX_METRIC_TARGETS] * values[:_MAX_METRIC_TARGETS]
        assert smoother.feature_map is not None
        return smoother.feature_map.relevance(
            self._selection_z, smoother.feature_coefficients(targets, penalty)
        )


def _metric_factor(relevance: np.ndarray) -> np.ndarray:
    values, vectors = linalg.eigh(relevance, check_finite=False)
    shares = np.maximum(values, 0.0) / max(values[-1], 1e-300)
    return vectors * np.sqrt(shares + _METRIC_FLOOR)


def _linear(fit: NuisanceFit) -> LinearFit:
    if not isinstance(fit, LinearFit):
        raise TypeError(f"expected a fit made by KernelRidge, got {type(fit).__name__}")
    return fit


def _few_columns(targets: np.ndarray, limit: int, rng: np.random.Generator) -> np.ndarray:
    """Return at most `limit` random combinations; they keep the mean error of any linear smoother."""
    if targets.shape[1] <= limit:
        return targets
    unit = standardized(targets)
    return unit @ rng.standard_normal((targets.shape[1], limit)) / np.sqrt(limit)
