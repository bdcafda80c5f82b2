"""Products of residual features whose mean given the past is zero under the null hypothesis, and bounded.

Everything that a feature needs (scores, regressions on Z, scales, bounds) is learned from earlier rows, so on
new rows X's and Y's features are fixed functions; under the null hypothesis their residuals are uncorrelated
given Z up to the product of the errors of two regressions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from ..inputs import Block, CIData
from ..nuisance.smooth_ridge import SmoothRidge
from ..numeric.standardize import Standardizer

__all__ = ["Products"]

_LANDMARKS = 100  # by hand: of the kernel regressions, which are fitted again with every batch
_CLIP = 1.8  # standard deviations: a smaller bound allows larger stakes, a larger one keeps more of the tails
_MAX_COLUMNS = 6  # by hand: of each side; of more, leading components
_ORDERS = (2, 3)  # of rank cosines, for curved dependence
_MAX_WEIGHTS = 6  # by hand: columns of Z that slopes may change with
_WITH_WEIGHTS = 2  # by hand: linear features of each side that are multiplied by them


@dataclass(frozen=True, eq=False)
class _Scores:
    """Normal scores of continuous columns by their ranks among earlier rows; other columns standardised."""

    scaling: Standardizer
    sorted: dict[int, np.ndarray]

    @classmethod
    def fit(cls, block: Block) -> _Scores:
        continuous = [j for j, kind in enumerate(block.kinds) if kind == "continuous"]
        return cls(Standardizer.fit(block.values), {j: np.sort(block.values[:, j]) for j in continuous})

    def __call__(self, values: np.ndarray) -> np.ndarray:
        scores = self.scaling.transform(values)
        for j, earlier in self.sorted.items():
            scores[:, j] = special.ndtri(_share_below(values[:, j], earlier))
        return scores


def _share_below(values: np.ndarray, earlier: np.ndarray) -> np.ndarray:
    """Return the share of sorted earlier values below each value, between 0 and 1 and never at either end."""
    below, upto = (np.searchsorted(earlier, values, side=side) for side in ("left", "right"))
    return (0.5 * (below + upto) + 0.5) / (len(earlier) + 1.0)


@dataclass(frozen=True, eq=False)
class _Regression:
    """Predictions from Z within the range of those for earlier rows; the mean when there is no Z."""

    model: SmoothRidge | None
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def fit(cls, z: np.ndarray | None, targets: np.ndarray) -> _Regression:
        if z is None:
            mean = targets.mean(axis=0)
            return cls(None, mean, mean)
        model = SmoothRidge(n_landmarks=_LANDMARKS).fit(z, targets)
        predicted = model.predict(z)
        return cls(model, predicted.min(axis=0), predicted.max(axis=0))

    def __call__(self, z: np.ndarray | None, n: int) -> np.ndarray:
        if self.model is None or z is None:
            return np.tile(self.low, (n, 1))
        return np.clip(self.model.predict(z), self.low, self.high)


@dataclass(frozen=True, eq=False)
class _Side:
    """Residual features of X, or of Y: linear ones first, then rank cosines."""

    scores: _Scores
    mixing: np.ndarray  # from columns to leading components
    location: _Regression
    spread: np.ndarray
    ranked: dict[int, np.ndarray]  # sorted earlier residuals of components whose ranks have cosines
    removal: _Regression
    bounds: np.ndarray

    @classmethod
    def fit(cls, block: Block, z: np.ndarray | None) -> _Side:
        scores = _Scores.fit(block)
        columns = scores(block.values)
        mixing = np.eye(columns.shape[1])
        if columns.shape[1] > _MAX_COLUMNS:
            mixing = np.linalg.svd(columns, full_matrices=False)[2][:_MAX_COLUMNS].T
        smooth = range(mixing.shape[1]) if columns.shape[1] > _MAX_COLUMNS else scores.sorted
        targets = columns @ mixing
        location = _Regression.fit(z, targets)
        left = targets - location(z, len(targets))
        spread = np.maximum(left.std(axis=0), 1e-12)
        ranked = {j: np.sort(left[:, j]) for j in smooth}
        features = _features(left, spread, ranked)
        removal = _Regression.fit(z, features)
        largest = np.full(features.shape[1], np.sqrt(2.0))
        largest[: len(spread)] = _CLIP
        bounds = largest + np.maximum(np.abs(removal.low), np.abs(removal.high))
        return cls(scores, mixing, location, spread, ranked, removal, bounds)

    @property
    def n_linear(self) -> int:
        return len(self.spread)

    def __call__(self, values: np.ndarray, z: np.ndarray | None) -> np.ndarray:
        left = self.scores(values) @ self.mixing - self.location(z, len(values))
        return _features(left, self.spread, self.ranked) - self.removal(z, len(values))


def _features(left: np.ndarray, spread: np.ndarray, ranked: dict[int, np.ndarray]) -> np.ndarray:
    linear = np.clip(left / spread, -_CLIP, _CLIP)
    angles = [np.pi * _share_below(left[:, j], earlier) for j, earlier in ranked.items()]
    curved = [np.sqrt(2.0) * np.cos(order * angle) for angle in angles for order in _ORDERS]
    return np.column_stack([linear, *curved])


@dataclass(frozen=True, eq=False)
class Products:
    """Products of features of X, of Y and of Z, linear × linear first; learned from earlier rows."""

    x: _Side
    y: _Side
    weights: _Scores | None
    pairs: np.ndarray  # (3, products): feature of X, feature of Y, function of Z (0 for the constant)
    n_linear: int  # how many of them are linear × linear

    @classmethod
    def fit(cls, past: CIData) -> Products:
        """Learn from `past`."""
        z = None if past.z is None else past.z.values
        x, y = _Side.fit(past.x, z), _Side.fit(past.y, z)
        pairs = [(a, b, 0) for a in range(x.n_linear) for b in range(y.n_linear)]
        n_linear = len(pairs)
        pairs += [
            (a, b, 0) for a in range(len(x.bounds)) for b in range(len(y.bounds)) if (a, b, 0) not in pairs
        ]
        weights = None if past.z is None else _Scores.fit(past.z)
        n_weights = 0 if past.z is None else min(past.z.n_columns, _MAX_WEIGHTS)
        few = [range(min(side.n_linear, _WITH_WEIGHTS)) for side in (x, y)]
        pairs += [(a, b, 1 + m) for a in few[0] for b in few[1] for m in range(n_weights)]
        return cls(x, y, weights, np.array(pairs).T, n_linear)

    @property
    def bounds(self) -> np.ndarray:
        """How large each product can be."""
        a, b, m = self.pairs
        return self.x.bounds[a] * self.y.bounds[b] * np.where(m > 0, _CLIP, 1.0)

    def __call__(self, data: CIData) -> np.ndarray:
        """Return the products of these rows."""
        z = None if data.z is None else data.z.values
        functions = np.ones((data.n, 1))
        if self.weights is not None and z is not None:
            functions = np.hstack([functions, np.clip(self.weights(z)[:, :_MAX_WEIGHTS], -_CLIP, _CLIP)])
        a, b, m = self.pairs
        return self.x(data.x.values, z)[:, a] * self.y(data.y.values, z)[:, b] * functions[:, m]
