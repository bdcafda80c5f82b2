"""Gradient-boosted trees as a classifier of two samples, made for many small fits on the same columns."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import MissingExtraError, ParameterError

__all__ = ["TreeBooster", "bin_columns"]

_STREAM = zlib.crc32(b"boosting")
_BINS = 63  # the histograms of 63 thresholds per column cost little, and hundreds of rows do not need more


@dataclass(frozen=True)
class TreeBooster:
    """Settings of gradient-boosted trees; calling it with two samples fits them.

    Parameters
    ----------
    n_trees, learning_rate, max_depth
        Number of trees, size of a step, and depth of a tree.
    max_features
        Share of the columns that each split may use.
    library
        ``"sklearn"``, or ``"lightgbm"`` from the extra ``boost``, which also draws 80 % of the rows per tree.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probability = TreeBooster(50, 0.1, 3)(rng.normal(2, 1, (200, 1)), rng.normal(-2, 1, (200, 1)), seed=0)
    >>> probability(np.array([[3.0], [-3.0]])).round()
    array([1., 0.])
    """

    n_trees: int
    learning_rate: float
    max_depth: int
    max_features: float = 1.0
    library: str = "sklearn"

    def __call__(
        self, ones: np.ndarray, zeros: np.ndarray, *, seed: int
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Fit, and return the function that gives each row's probability to be one of `ones`.

        Parameters
        ----------
        ones, zeros
            Rows of the two samples.
        seed
            Fixes the columns offered to each split, and the weights of the rows.
        """
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

    def check(self) -> None:
        """Raise `ParameterError` or `MissingExtraError` for settings that cannot work."""
        if self.n_trees < 1 or self.max_depth < 1:
            raise ParameterError("n_trees and max_depth must be at least 1")
        if not 0.0 < self.learning_rate <= 1.0:
            raise ParameterError(f"learning_rate must be in (0, 1], got {self.learning_rate!r}")
        if self.library not in ("sklearn", "lightgbm"):
            raise ParameterError(f"library must be 'sklearn' or 'lightgbm', got {self.library!r}")
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
    return 1.0 + 1e-3 * np.random.default_rng([_STREAM, seed]).uniform(-1.0, 1.0, size=n)


def bin_columns(values: np.ndarray) -> np.ndarray:
    """Replace each column by the numbers of at most 63 bins with equally many rows.

    Trees do not care about monotone transformations, so only resolution is lost; columns that are binned once
    need not be binned again in each of hundreds of fits.

    Parameters
    ----------
    values
        Array of shape (n, p).

    Examples
    --------
    >>> bin_columns(np.array([[5.0], [-1.0], [100.0], [5.0]])).ravel()
    array([1., 0., 2., 1.])
    """
    return np.column_stack([_bins(column) for column in values.T])


def _bins(column: np.ndarray) -> np.ndarray:
    levels, codes = np.unique(column, return_inverse=True)
    if len(levels) > _BINS:
        edges = np.unique(np.quantile(column, np.arange(1, _BINS) / _BINS))
        codes = np.searchsorted(edges, column, side="right")
    return codes.astype(np.float64)
