"""Gradient-boosted trees as a classifier of two samples, made for many small fits on the same columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import MissingExtraError
from ..numeric.streams import generator
from ..parameters import choice, integer, real

__all__ = ["TreeBooster", "bin_columns", "depth_option", "library_option", "rate_option", "trees_option"]

_BINS = 63  # the histograms of 63 thresholds per column cost little, and hundreds of rows do not need more
_MOST_TREES = 10_000  # by hand: a fit of some minutes, of which a test makes hundreds
_MOST_LEVELS = 64  # a tree of this depth could tell more rows apart than any memory holds


def trees_option(default: int) -> Any:
    """Field for the number of boosted trees."""
    return integer(default, "Number of boosted trees.", most=_MOST_TREES)


def rate_option(default: float) -> Any:
    """Field for the size of a boosting step."""
    return real(default, "Size of a boosting step.", above=0.0, most=1.0)


def depth_option(default: int) -> Any:
    """Field for the depth of a tree."""
    return integer(default, "Depth of a tree.", most=_MOST_LEVELS)


def library_option() -> Any:
    """Field for the library that grows the trees."""
    return choice(
        "sklearn", "What grows the trees; the extra ``boost`` brings lightgbm.", "sklearn", "lightgbm"
    )


@dataclass(frozen=True)
class TreeBooster:
    """Settings of gradient-boosted trees; calling it with two samples fits them.

    A split sees a share of `max_features` of the columns; ``"lightgbm"`` also draws 80 % of the rows a tree.
    """

    n_trees: int
    learning_rate: float
    max_depth: int
    max_features: float = 1.0
    library: str = "sklearn"

    def __call__(
        self, ones: np.ndarray, zeros: np.ndarray, *, seed: int
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Fit, and return the function that gives each row's probability to be one of `ones`."""
        from sklearn import config_context

        rows = np.vstack([ones, zeros])
        labels = np.repeat([1, 0], [len(ones), len(zeros)])
        # The values were checked when they came in; checking them hundreds of times again costs a third.
        with config_context(assume_finite=True, skip_parameter_validation=True):
            model = self._model(seed).fit(rows, labels, sample_weight=_weights(len(rows), seed))

        def probability(points: np.ndarray) -> np.ndarray:
            with config_context(assume_finite=True, skip_parameter_validation=True):
                return model.predict_proba(points)[:, 1]

        return probability

    def require_library(self) -> None:
        """Raise `MissingExtraError` when the library is not installed."""
        if self.library == "lightgbm":
            try:
                import lightgbm  # noqa: F401
            except ImportError as error:
                raise MissingExtraError(
                    "library='lightgbm' needs lightgbm: pip install 'spectralcit[boost]'"
                ) from error

    def _model(self, seed: int):
        if self.library == "lightgbm":
            from lightgbm import LGBMClassifier

            return LGBMClassifier(
                n_estimators=self.n_trees,
                learning_rate=self.learning_rate,
                max_depth=self.max_depth,
                num_leaves=min(2**self.max_depth, 256),
                min_child_samples=4,
                subsample=0.8,
                subsample_freq=1,
                colsample_bytree=self.max_features,
                max_bin=_BINS,
                random_state=seed,
                deterministic=True,
                force_col_wise=True,
                n_jobs=1,
                verbose=-1,
            )
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(
            max_iter=self.n_trees,
            learning_rate=self.learning_rate,
            max_depth=self.max_depth,
            max_leaf_nodes=None,
            min_samples_leaf=4,  # xgboost's least child weight of 1, at a weight of 1/4 per row
            l2_regularization=1.0,  # its default as well
            max_features=self.max_features,
            max_bins=_BINS,
            early_stopping=False,
            random_state=seed,
        )


def _weights(n: int, seed: int) -> np.ndarray:
    """Random weights that differ from one by a thousandth at most.

    When the second sample is the first one with a column permuted, every single column is distributed alike
    in both, and no first split has any gain: the trees would stop at their root. The weights decide between
    splits that are all useless by themselves, and the next split sees the dependence. (Other libraries draw
    rows for each tree, with the same effect.)
    """
    return 1.0 + 1e-3 * generator(seed, "boosting").uniform(-1.0, 1.0, size=n)


def bin_columns(values: np.ndarray) -> np.ndarray:
    """Replace each column by the numbers of at most 63 bins with equally many rows.

    Trees do not care about monotone transformations, so only resolution is lost; columns that are binned once
    need not be binned again in each of hundreds of fits.
    """
    return np.column_stack([_bins(column) for column in values.T])


def _bins(column: np.ndarray) -> np.ndarray:
    levels, codes = np.unique(column, return_inverse=True)
    if len(levels) > _BINS:
        edges = np.unique(np.quantile(column, np.arange(1, _BINS) / _BINS))
        codes = np.searchsorted(edges, column, side="right")
    return codes.astype(np.float64)
