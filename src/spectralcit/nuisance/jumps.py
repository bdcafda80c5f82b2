"""Jumps: what smooth functions of Z leave behind and regression trees can see.

A kernel smooths over a threshold, and the rows next to it keep residuals of one sign on both sides of the
test: dependence that is not there. Trees find thresholds, but fitting them always would cost power where
there are none. So they are asked first: small trees must predict held-out rows better than the smooth fit
does, though that one knew all rows but one, or predict something of what it missed there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.tree import DecisionTreeRegressor

__all__ = ["LeafIndicators", "trees_win"]

MAX_COLUMNS = 20  # with more, least squares costs the smooth fit so much that anything may beat it
_MIN_ROWS = 200  # with fewer, a win is chance too often
_FOLDS = 4  # by hand: three quarters of the rows grow trees that are nearly those of all
_FEW_LEAVES = 16  # to decide; the features are leaves of larger trees
_LEAVES = 32  # by hand: five splits deep, thresholds in several columns
_MIN_LEAF_ROWS = 5  # a mean of fewer rows follows their noise
_ROUNDS = 6  # by hand: at the rate below the seventh tree would see a tenth of what the first saw
_RATE = 0.7  # share of each tree's prediction that the next tree does not see any more


def trees_win(z: np.ndarray, targets: np.ndarray, smooth_errors: np.ndarray) -> bool:
    """Tell whether small trees predict held-out targets better than a smooth fit does.

    Where the target is smooth they lose by several standard errors, so a win at all is telling. With
    `smooth_errors` for targets as well, they must predict something of these.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z, noise = rng.uniform(-1, 1, size=(400, 2)), rng.standard_normal((400, 1))
    >>> step = 2.0 * (z[:, :1] > 0.3)
    >>> trees_win(z, z[:, :1] + noise, noise), trees_win(z, step + noise, step - 0.7 + noise)
    (False, True)
    """
    n = len(z)
    if not 0 < z.shape[1] <= MAX_COLUMNS or n < _MIN_ROWS:
        return False
    # Fixed: the answer must not depend on the test's seed, nor change what else is drawn from it.
    fold = np.random.default_rng(n).permutation(n) % _FOLDS
    errors = targets.copy()
    for k in range(_FOLDS):
        tree = _tree(z[fold != k], targets[fold != k], _FEW_LEAVES)
        errors[fold == k] -= tree.predict(z[fold == k]).reshape(-1, targets.shape[1])
    scale = np.maximum(np.square(smooth_errors).mean(axis=0), 1e-300)
    return bool((np.square(errors) / scale).mean() < 1.0)


def _tree(z: np.ndarray, targets: np.ndarray, leaves: int) -> DecisionTreeRegressor:
    least = max(_MIN_LEAF_ROWS, len(z) // 200)
    return DecisionTreeRegressor(max_leaf_nodes=leaves, min_samples_leaf=least, random_state=0).fit(
        z, targets
    )


@dataclass(frozen=True, eq=False)
class LeafIndicators:
    """Indicators of the leaves of a few boosted trees, as features for a ridge regression."""

    trees: tuple[DecisionTreeRegressor, ...]  # fitted trees, each grown on what the earlier ones left

    @classmethod
    def fit(cls, z: np.ndarray, targets: np.ndarray) -> LeafIndicators:
        """Grow the trees."""
        trees = []
        left = targets.copy()
        for _ in range(_ROUNDS):
            tree = _tree(z, left, _LEAVES)
            left -= _RATE * tree.predict(z).reshape(left.shape)
            trees.append(tree)
        return cls(tuple(trees))

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return one 0/1 column per leaf."""
        parts = []
        for tree in self.trees:
            leaves = np.flatnonzero(tree.tree_.children_left == -1)
            parts.append((tree.apply(z)[:, None] == leaves).astype(float))
        return np.hstack(parts)

    def relevance(self, z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return zeros: steps have no gradient, and the metric is learned before trees are asked."""
        return np.zeros((z.shape[1],) * 2)
