"""Jumps: what smooth functions of Z leave behind and regression trees can see.

A kernel smooths over a threshold, and the rows next to it keep residuals of one sign on both sides of the
test: dependence that is not there. Trees find thresholds, but fitting them always would cost power where
there are none. So they are asked first: small trees must predict held-out rows better than the smooth fit
does, though that one knew all rows but one, or predict something of what it missed there.

Of more than thirty columns trees get those with the clearest thresholds, judged by cumulative sums in the
rows that they may see.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor

from ..inputs.split import folds_of

__all__ = ["LeafIndicators", "orders_of", "winning_leaves"]

_MAX_COLUMNS = 30  # by hand: the time of a tree grows with its columns, and so does what it finds by chance
_MIN_ROWS = 80  # by hand: with fewer, a win is chance too often
_FOLDS = 4  # by hand: three quarters of the rows grow trees that are nearly those of all
_LEAVES = (8, 16, 64)  # few for single thresholds, many for what shows only after several splits
_MANY_COLUMNS = 6  # with more, trees of many leaves find nothing that those of fewer do not
_MIN_LEAF_ROWS = 5  # a mean of fewer rows follows their noise
_ROUNDS = 6  # by hand: at the rate below the seventh tree would see a tenth of what the first saw
_RATE = 0.7  # share of each tree's prediction that the next tree does not see any more
_CHANCE = 0.1  # that a cumulative sum of noise calls for trees
_SPLITS = 10  # about as many independent places has a column for its threshold


def orders_of(z: np.ndarray) -> np.ndarray | None:
    """Return the order of the rows by each column; ``None`` of so few columns that trees get them all."""
    return np.argsort(z, axis=0, kind="stable") if z.shape[1] > _MAX_COLUMNS else None


def winning_leaves(
    z: np.ndarray,
    targets: np.ndarray,
    smooth_errors: np.ndarray,
    codes: np.ndarray | None = None,
    known_orders: np.ndarray | None = None,
) -> int:
    """Return how many leaves a tree needs to predict held-out targets better than a smooth fit; 0 for never.

    Where the target is smooth trees lose by several standard errors, so a win at all is telling. With
    `smooth_errors` for targets as well, they must predict something of these. Rows of one of the groups
    `codes` are held out together; `known_orders` are those of the first columns, which then need no sorting.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z, noise = rng.uniform(-1, 1, size=(400, 2)), rng.standard_normal((400, 1))
    >>> step = 2.0 * (z[:, :1] > 0.3)
    >>> winning_leaves(z, z[:, :1] + noise, noise), winning_leaves(z, step + noise, step - 0.7 + noise)
    (0, 8)
    """
    n, width = z.shape
    if width == 0 or n < _MIN_ROWS:
        return 0
    if known_orders is None:
        orders = orders_of(z)
    else:
        orders = np.hstack([known_orders, np.argsort(z[:, known_orders.shape[1] :], axis=0, kind="stable")])
    if orders is not None:
        bound = stats.norm.isf(_CHANCE / (2 * _SPLITS * width * targets.shape[1]))
        if _thresholds(orders, targets).max() < bound:
            return 0
    # Fixed: the answer must not depend on the test's seed, nor change what else is drawn from it.
    fold = folds_of(n, _FOLDS, np.random.default_rng(n), codes)
    scale = np.maximum(np.square(smooth_errors).mean(axis=0), 1e-300)
    sizes = list(_LEAVES if width <= _MANY_COLUMNS else _LEAVES[:2])
    losses = np.zeros(len(sizes))
    for k in range(_FOLDS):
        seen = fold != k
        columns = _columns(orders, targets * seen[:, None], width)
        tree = _tree(z[np.ix_(seen, columns)], targets[seen], max(sizes))
        predictions = _pruned_predictions(tree, z[np.ix_(~seen, columns)], sizes)
        losses += [(np.square(targets[~seen] - p) / scale).mean(axis=1).sum() / n for p in predictions]
        if losses.min() >= 1.0:  # further folds only add
            return 0
    return sizes[int(np.argmin(losses))]


def _thresholds(orders: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return, per column, the largest standardised difference between targets below and above a value."""
    n = len(targets)
    centred = (targets - targets.mean(axis=0)) / np.maximum(targets.std(axis=0), 1e-300)
    trim = max(_MIN_LEAF_ROWS, n // 20)
    below = np.arange(1, n + 1)[trim:-trim]
    spread = np.sqrt(below * (n - below) / n)[:, None]
    sums = [np.cumsum(column[orders], axis=0)[trim:-trim] / spread for column in centred.T]
    return np.max([np.abs(s).max(axis=0) for s in sums], axis=0)


def _columns(orders: np.ndarray | None, targets: np.ndarray, width: int) -> np.ndarray:
    if orders is None:
        return np.arange(width)
    return np.sort(np.argsort(-_thresholds(orders, targets))[:_MAX_COLUMNS])


def _tree(z: np.ndarray, targets: np.ndarray, leaves: int) -> DecisionTreeRegressor:
    least = max(_MIN_LEAF_ROWS, len(z) // 200)
    tree = DecisionTreeRegressor(max_leaf_nodes=leaves, min_samples_leaf=least, random_state=0)
    with config_context(skip_parameter_validation=True):  # it takes longer than growing a small tree
        return tree.fit(_for_trees(z), np.ascontiguousarray(targets), check_input=False)


def _for_trees(z: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(z, dtype=np.float32)


def _pruned_predictions(tree: DecisionTreeRegressor, z: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    """Return what the tree would predict with fewer leaves.

    It was grown best split first, its nodes numbered as they came, so the tree with L leaves consists of the
    first 2 L - 1 nodes.
    """
    grown = tree.tree_
    parent = np.zeros(grown.node_count, dtype=int)
    inner = np.flatnonzero(grown.children_left != -1)
    parent[grown.children_left[inner]] = inner
    parent[grown.children_right[inner]] = inner
    reached = grown.apply(_for_trees(z))
    predictions = []
    for leaves in sizes:
        within = np.arange(grown.node_count)
        for node in range(2 * leaves - 1, grown.node_count):
            within[node] = within[parent[node]]
        predictions.append(grown.value[within[reached], :, 0])
    return predictions


@dataclass(frozen=True, eq=False)
class LeafIndicators:
    """Indicators of the leaves of a few boosted trees, as features for a ridge regression."""

    trees: tuple[DecisionTreeRegressor, ...]  # fitted trees, each grown on what the earlier ones left
    # Turns rows of Z into the columns that trees choose from; ``None`` for Z itself
    derived: Callable[[np.ndarray], np.ndarray] | None
    columns: np.ndarray  # which of these the trees have

    @classmethod
    def fit(
        cls,
        z: np.ndarray,
        targets: np.ndarray,
        leaves: int = _LEAVES[0],
        derived: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> LeafIndicators:
        """Grow trees of that many leaves: more than are needed would follow the noise."""
        z = z if derived is None else derived(z)
        orders = np.argsort(z, axis=0, kind="stable") if z.shape[1] > _MAX_COLUMNS else None
        columns = _columns(orders, targets, z.shape[1])
        trees = []
        left = targets.copy()
        for _ in range(_ROUNDS):
            tree = _tree(z[:, columns], left, leaves)
            left -= _RATE * tree.tree_.predict(_for_trees(z[:, columns])).reshape(left.shape)
            trees.append(tree)
        return cls(tuple(trees), derived, columns)

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return one 0/1 column per leaf."""
        z = _for_trees((z if self.derived is None else self.derived(z))[:, self.columns])
        parts = []
        for tree in self.trees:
            leaves = np.flatnonzero(tree.tree_.children_left == -1)
            parts.append((tree.tree_.apply(z)[:, None] == leaves).astype(float))
        return np.hstack(parts)

    @property
    def n_numbers(self) -> int:
        """How many numbers were learned for the leaves: a column and a threshold for each split."""
        return sum(2 * (tree.tree_.n_leaves - 1) for tree in self.trees)

    def relevance(self, z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return zeros: steps have no gradient, and the metric is learned before trees are asked."""
        return np.zeros((z.shape[1],) * 2)
