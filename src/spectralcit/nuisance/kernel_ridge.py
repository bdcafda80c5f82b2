"""Removing what Z explains by multi-kernel ridge regression that learns which directions of Z matter.

The candidates (`spectralcit.nuisance.search`) are least squares, an additive model of Z's columns and of
columns derived from them, Gaussian kernels of a few widths, those whose metric is learned from the fits
themselves (average gradient outer product, as in recursive feature machines), grids, and leaves of trees.
Least squares stays unless it is clearly beaten. Z's linear part is never shrunk while the number of rows
allows it. Choices use one side of the test (X and Z, or Y and Z) only, so under the null hypothesis the two
sides' residuals stay independent given Z.

References
----------
Radhakrishnan, Beaglehole, Pandit, Belkin (2024). Mechanism for feature learning in neural networks and
backpropagation-free machine learning models. Science 383.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import numpy as np

from ..inputs import Block, RowDesign
from ..numeric.linear import orthonormal_columns
from ..numeric.standardize import standardized
from .designed import make_smoother
from .fits import LinearFit, NuisanceFit
from .grids import on_more_rows
from .learning import learning_gap
from .many import ManyFits, choose_each
from .search import Search
from .selection import SmootherFit, clearly_better, select
from .smoother import Smoother

__all__ = ["MAX_LINEAR_SHARE", "KernelRidge"]

MAX_LINEAR_SHARE = 0.5  # of the rows: a Z with more columns than this is wide

_MAX_TARGETS = 12  # selection looks at this many random combinations of the targets at most
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
        design: RowDesign | None = None,
    ) -> None:
        self._design = design
        self._seed = int(rng.integers(2**32))
        self._z = np.zeros((n, 0)) if z is None else standardized(z.values)
        columns = self._z if extra is None else np.hstack([self._z, standardized(extra)])
        self.least_squares = columns.shape[1] < max_linear_share * n
        if not self.least_squares:
            self._z = columns
        self._rows = np.arange(n)
        if n > max_selection_rows:
            self._rows = np.sort(rng.choice(n, max_selection_rows, replace=False))
        self._fixed = self._never_shrunk(columns, design)
        selected = design if design is None or len(self._rows) == n else design.subset(self._rows)
        self._full: dict[Smoother, Smoother] = {}
        kinds = () if z is None else z.kinds
        self.search = Search(
            self._z[self._rows],
            np.array([j for j, kind in enumerate(kinds) if kind == "continuous"], dtype=int),
            np.zeros(0) if z is None else _shift(z.values),
            self._fixed if len(self._rows) == n else self._never_shrunk(columns[self._rows], selected),
            n,
            least_squares=self.least_squares,
            seed=self._seed,
            design=selected,
        )

    def _never_shrunk(self, columns: np.ndarray, design: RowDesign | None) -> np.ndarray:
        root = None if design is None else design.root
        return orthonormal_columns(columns if self.least_squares else np.zeros((len(columns), 0)), root)

    def prediction_error(self, targets: np.ndarray) -> np.ndarray:
        """Return each target's out-of-sample error as a share of its variance, without a learned metric."""
        selection = targets[self._rows]
        chosen = self.search.best(self._few_columns(selection, _MAX_TARGETS))
        error = np.square(chosen.smoother.leave_one_out(selection, chosen.best_penalty)).mean(axis=0)
        return error / np.maximum(selection.var(axis=0), 1e-300)

    def fit_location(self, targets: np.ndarray) -> LinearFit:
        """Explain the columns of one side, learning on the way which directions of Z matter to them."""
        sketch = self._few_columns(targets, _MAX_TARGETS)
        selection = sketch[self._rows]
        chosen = self.search.location(selection)
        fit = self._bind(chosen, targets, sketch)
        if self._design is not None:  # the diagnosis halves single rows
            return fit
        # Asked once for all questions that share this side.
        return replace(fit, gap=cache(partial(learning_gap, self.search, chosen, selection)))

    def fit_scale(self, targets: np.ndarray, location: NuisanceFit) -> LinearFit:
        """Explain log squared residuals with the least error: a scale that follows noise would add noise."""
        sketch = self._few_columns(targets, _MAX_TARGETS)
        earlier = _linear(location).selection.smoother
        fit = self._bind(self.search.scale(sketch[self._rows], earlier), targets, sketch)
        return replace(fit, chosen=replace(fit.chosen, penalty=fit.chosen.best_penalty))

    def fit_features(self, features: np.ndarray, location: NuisanceFit) -> LinearFit:
        """Explain features of the residuals, at least as flexibly as the location fit did."""
        sketch = self._few_columns(features, _MAX_FEATURES)
        earlier = _linear(location)
        chosen = self.search.best(sketch[self._rows], earlier.selection.smoother)
        less_flexible = chosen.degrees_of_freedom < earlier.selection.degrees_of_freedom
        if less_flexible or not clearly_better(chosen, self.search.base[0], sketch[self._rows]):
            return replace(earlier, targets=features)
        return self._bind(chosen, features, sketch)

    def fit_each(self, targets: np.ndarray) -> ManyFits:
        """Explain each of many columns by itself, by the smoothers that need no look at the columns."""
        choices = choose_each(self.search.base, targets[self._rows])
        if len(self._rows) == len(targets):
            return choices
        left = targets[:, :0]
        return choices.on(lambda smoother: self._on_all_rows(smoother, left))

    def _bind(self, chosen: SmootherFit, targets: np.ndarray, sketch: np.ndarray) -> LinearFit:
        if len(self._rows) == len(targets):
            return LinearFit(chosen, chosen, targets)
        return LinearFit(select([self._on_all_rows(chosen.smoother, sketch)], sketch), chosen, targets)

    def _on_all_rows(self, smoother: Smoother, targets: np.ndarray) -> Smoother:
        if smoother not in self._full:
            # At most one other keeps its features: at a million rows each takes a gigabyte. Those learned for
            # one variable live as long as its side does: a screen learns some for every column.
            for earlier in list(self._full)[:-1]:
                self._full[earlier].forget_single()
                if earlier not in self.search.base:
                    del self._full[earlier]
            left = targets - self._fixed @ (self._fixed.T @ targets)
            feature_map = on_more_rows(smoother.feature_map, self._z, left)
            self._full[smoother] = make_smoother(
                self._fixed, self._z, feature_map, name=smoother.name, design=self._design
            )
        return self._full[smoother]

    def _few_columns(self, targets: np.ndarray, limit: int) -> np.ndarray:
        """Return at most `limit` random combinations; they keep the mean error of any linear smoother."""
        if targets.shape[1] <= limit:
            return targets
        mixing = np.random.default_rng(self._seed).standard_normal((targets.shape[1], limit))
        return standardized(targets) @ mixing / np.sqrt(limit)


def _shift(values: np.ndarray) -> np.ndarray:
    """Return what standardising subtracts, in units of what it divides by."""
    spread = values.std(axis=0)
    return np.where(spread > 0, values.mean(axis=0) / np.where(spread > 0, spread, 1.0), 0.0)


def _linear(fit: NuisanceFit) -> LinearFit:
    if not isinstance(fit, LinearFit):
        raise TypeError(f"expected a fit made by KernelRidge, got {type(fit).__name__}")
    return fit
