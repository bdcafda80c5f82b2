"""Nearest neighbours: searches, counts in subspaces, and resampling of rows among neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

__all__ = [
    "NeighbourCounts",
    "SubspaceCounts",
    "local_draw",
    "local_permutation",
    "nearest_in",
    "nearest_others",
    "neighbourhoods",
    "sup_distances",
]

_JITTER = 1e-9  # of the scale; by hand: breaks ties between equal rows at random, and orders nothing else
_DENSE_ROWS = 2500  # by hand: up to here four n x n matrices (200 MB) are quicker than trees
_TREE_COLUMNS = 15  # by hand: beyond, a k-d tree visits nearly all rows, and matrix products are quicker


def nearest_others(points: np.ndarray, k: int) -> np.ndarray:
    """Indices of the `k` rows nearest to each row in Euclidean distance, without the row itself."""
    found = nearest_in(points, points, k + 1)
    own = found == np.arange(len(points))[:, None]
    own[~own.any(axis=1), -1] = True  # a row hidden among its duplicates: drop the farthest instead
    return found[~own].reshape(len(points), k)


def nearest_in(points: np.ndarray, queries: np.ndarray, k: int) -> np.ndarray:
    """Indices of the `k` rows of `points` nearest to each row of `queries`, nearest first."""
    if points.shape[1] <= _TREE_COLUMNS:
        found = cKDTree(points).query(queries, k=k)[1]
        return found.reshape(len(queries), k)
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(points)
    return search.kneighbors(queries, return_distance=False)


def neighbourhoods(points: np.ndarray, size: int, rng: np.random.Generator, *, sup: bool) -> np.ndarray:
    """For each row the `size` rows nearest to it, itself included and first; ties broken at random.

    Columns should have comparable scale; `sup` is the largest coordinate difference instead of the Euclidean
    distance.
    """
    n = len(points)
    if size == 1:
        return np.arange(n)[:, None]
    scale = np.ptp(points, axis=0).max() or 1.0
    apart = points + _JITTER * scale * rng.standard_normal(points.shape)
    if not sup:
        return np.column_stack([np.arange(n), nearest_others(apart, size - 1)])
    if n <= _DENSE_ROWS:
        distances = sup_distances(apart)
        np.fill_diagonal(distances, -1.0)
        near = np.argpartition(distances, size - 1, axis=1)[:, :size]
        order = np.argsort(np.take_along_axis(distances, near, axis=1), axis=1)
        return np.take_along_axis(near, order, axis=1)
    return cKDTree(apart).query(apart, k=size, p=np.inf)[1]


def local_permutation(neighbours: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """For each row one of its neighbours, each used once as far as possible.

    Rows choose in random order, each the first of its shuffled neighbours that nobody has chosen yet, or the
    first of all when every one is taken (Runge 2018, algorithm 1).
    """
    n = len(neighbours)
    shuffled = rng.permuted(neighbours, axis=1).tolist()
    used = [False] * n
    chosen = [0] * n
    for i in rng.permutation(n).tolist():
        options = shuffled[i]
        pick = next((j for j in options if not used[j]), options[0])
        used[pick] = True
        chosen[i] = pick
    return np.array(chosen)


def local_draw(neighbours: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """For each row one of its neighbours, drawn independently of the other rows."""
    n, k = neighbours.shape
    return neighbours[np.arange(n), rng.integers(k, size=n)]


def sup_distances(values: np.ndarray) -> np.ndarray:
    """Largest coordinate difference between every two rows, an (n, n) array."""
    largest = np.abs(np.subtract.outer(values[:, 0], values[:, 0]))
    for column in values.T[1:]:
        np.maximum(largest, np.abs(np.subtract.outer(column, column)), out=largest)
    return largest


class SubspaceCounts(NamedTuple):
    """Rows within the radius, the row itself included: in (x, y, z), in (x, z), in (y, z) and in z."""

    xyz: np.ndarray
    xz: np.ndarray
    yz: np.ndarray
    z: np.ndarray


class NeighbourCounts:
    """Neighbour counts in subspaces for fixed ``y`` and ``z``; called with many different ``x``.

    The radius of a row is its sup-norm distance to its `k`-th nearest other row in (x, y, z). Everything that
    does not depend on ``x`` is computed once. Small samples use distance matrices, large ones trees; the
    counts are the same. `closed` counts rows at exactly the radius too, else only nearer ones.
    """

    def __init__(self, y: np.ndarray, z: np.ndarray | None, k: int, *, closed: bool) -> None:
        self._k = k
        self._closed = closed
        self._n = len(y)
        self._z = z
        self._yz = y if z is None else np.hstack([y, z])
        self._dense = self._n <= _DENSE_ROWS
        # Half of all the work: ten thousand draws of x share these.
        if self._dense:
            self._far_z = None if z is None else sup_distances(z)
            self._far_yz = sup_distances(self._yz)
        else:
            self._tree_z = None if z is None else cKDTree(z)
            self._tree_yz = cKDTree(self._yz)

    def __call__(self, x: np.ndarray) -> SubspaceCounts:
        return self._by_matrices(x) if self._dense else self._by_trees(x)

    def _by_matrices(self, x: np.ndarray) -> SubspaceCounts:
        far_xz = sup_distances(x)
        if self._far_z is not None:
            np.maximum(far_xz, self._far_z, out=far_xz)
        far = np.maximum(far_xz, self._far_yz)
        radius = np.partition(far, self._k, axis=1)[:, self._k, None]  # place 0 holds the row itself
        within = np.less_equal if self._closed else np.less

        def count(distances: np.ndarray) -> np.ndarray:
            return np.count_nonzero(within(distances, radius), axis=1)

        z = np.full(self._n, self._n) if self._far_z is None else count(self._far_z)
        return SubspaceCounts(count(far), count(far_xz), count(self._far_yz), z)

    def _by_trees(self, x: np.ndarray) -> SubspaceCounts:
        xz = x if self._z is None else np.hstack([x, self._z])
        xyz = np.hstack([x, self._yz])
        tree_xyz = cKDTree(xyz)
        radius = tree_xyz.query(xyz, k=[self._k + 1], p=np.inf)[0][:, 0]
        if not self._closed:
            # Trees count rows at most `radius` away; the next smaller number leaves out those at the radius.
            radius = np.nextafter(radius, -np.inf)

        def count(tree: cKDTree, points: np.ndarray) -> np.ndarray:
            found = tree.query_ball_point(points, r=np.maximum(radius, 0.0), p=np.inf, return_length=True)
            return np.where(radius < 0.0, 0, found)

        z = np.full(self._n, self._n) if self._z is None else count(self._tree_z, self._z)
        return SubspaceCounts(count(tree_xyz, xyz), count(cKDTree(xz), xz), count(self._tree_yz, self._yz), z)
