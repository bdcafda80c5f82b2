"""Neighbour searches and counts against double loops; resampling that stays among neighbours."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from spectralcit.numeric import neighbours
from spectralcit.numeric.neighbours import (
    NeighbourCounts,
    local_draw,
    local_permutation,
    nearest_in,
    nearest_others,
    neighbourhoods,
    sup_distances,
)


def plain_counts(x, y, z, k, closed):
    """Counts by loops over rows, from the definition."""
    blocks = {"xyz": [x, y, z], "xz": [x, z], "yz": [y, z], "z": [z]}
    spaces = {
        name: np.hstack([b for b in parts if b is not None]) for name, parts in blocks.items() if name != "z"
    }
    n, found = len(x), {name: [] for name in blocks}
    for i in range(n):
        distance = {name: [np.abs(s[i] - s[j]).max() for j in range(n)] for name, s in spaces.items()}
        distance["z"] = [0.0] * n if z is None else [np.abs(z[i] - z[j]).max() for j in range(n)]
        radius = sorted(d for j, d in enumerate(distance["xyz"]) if j != i)[k - 1]
        for name, values in distance.items():
            inside = [d <= radius if closed else d < radius for d in values]
            found[name].append(n if name == "z" and z is None else sum(inside))
    return found


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("d_z", [0, 1, 3])
@pytest.mark.parametrize("dense_rows", [0, 1000])
def test_counts_equal_the_definition(monkeypatch, closed, d_z, dense_rows):
    monkeypatch.setattr(neighbours, "_DENSE_ROWS", dense_rows)  # trees, or matrices
    rng = np.random.default_rng(d_z)
    # Few distinct values, so that ties at the radius, and radii of zero, do occur.
    x, y = rng.integers(0, 4, (2, 40, 1)).astype(float)
    z = rng.integers(0, 3, (40, d_z)).astype(float) if d_z else None
    for k in (1, 5, 39):
        found = NeighbourCounts(y, z, k, closed=closed)(x)
        for name, values in plain_counts(x, y, z, k, closed).items():
            np.testing.assert_array_equal(getattr(found, name), values)


@given(st.integers(0, 10_000), st.integers(1, 8))
@settings(max_examples=20, deadline=None)
def test_matrices_and_trees_count_alike_on_real_numbers(seed, k):
    rng = np.random.default_rng(seed)
    x, y, z = rng.normal(size=(30, 2)), rng.normal(size=(30, 1)), rng.normal(size=(30, 2))
    dense = NeighbourCounts(y, z, k, closed=False)
    trees = NeighbourCounts(y, z, k, closed=False)
    trees._dense = False
    trees._tree_z, trees._tree_yz = neighbours.cKDTree(z), neighbours.cKDTree(np.hstack([y, z]))
    for left, right in zip(dense(x), trees(x), strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("columns", [2, 30])  # a tree, and brute force
def test_nearest_rows_equal_a_full_sort(columns):
    rng = np.random.default_rng(3)
    points, queries = rng.normal(size=(60, columns)), rng.normal(size=(10, columns))
    distances = ((queries[:, None] - points[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(nearest_in(points, queries, 4), np.argsort(distances, axis=1)[:, :4])
    own = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(own, np.inf)
    found = nearest_others(points, 3)
    np.testing.assert_array_equal(np.sort(found), np.sort(np.argsort(own, axis=1)[:, :3]))


@pytest.mark.parametrize("sup", [False, True])
@pytest.mark.parametrize("dense_rows", [0, 1000])
def test_neighbourhoods_hold_the_row_first_and_the_nearest_rows(monkeypatch, sup, dense_rows):
    monkeypatch.setattr(neighbours, "_DENSE_ROWS", dense_rows)
    rng = np.random.default_rng(4)
    points = rng.normal(size=(50, 3))
    order = 0 if not sup else np.inf
    distances = np.linalg.norm(points[:, None] - points[None], axis=2, ord=np.inf if order else None)
    found = neighbourhoods(points, 6, rng, sup=sup)
    np.testing.assert_array_equal(found[:, 0], np.arange(50))
    np.testing.assert_array_equal(np.sort(found), np.sort(np.argsort(distances, axis=1)[:, :6]))


def test_neighbourhoods_among_equal_rows_are_drawn_at_random():
    points = np.zeros((30, 1))
    points[:15] = 1.0
    first, second = (neighbourhoods(points, 4, np.random.default_rng(s), sup=True) for s in (0, 1))
    assert (points[first][:, :, 0] == points).all()  # equal rows only
    assert (first != second).any()


@pytest.mark.parametrize("draw", [local_permutation, local_draw])
def test_rows_come_from_their_neighbourhood(draw):
    rng = np.random.default_rng(2)
    neighbours = neighbourhoods(rng.normal(size=(200, 1)), 6, rng, sup=True)
    order = draw(neighbours, rng)
    assert all(order[i] in neighbours[i] for i in range(200))
    assert (order != np.arange(200)).mean() > 0.6


def test_local_permutation_uses_more_rows_than_independent_draws():
    rng = np.random.default_rng(5)
    neighbours = neighbourhoods(rng.normal(size=(300, 1)), 5, rng, sup=True)
    permuted, drawn = (
        np.mean([len(set(f(neighbours, rng))) for _ in range(5)]) for f in (local_permutation, local_draw)
    )
    assert permuted > 270  # nearly all rows once
    assert drawn < 220  # 1 - 1/e of them


def test_local_permutation_is_uniform_where_neighbourhoods_are_groups():
    # Within a group of equal z the permutation is an ordinary one, and the test exact: all 6 orders alike.
    group = np.tile(np.arange(3), (3, 1))
    rng = np.random.default_rng(6)
    orders = [tuple(local_permutation(group, rng)) for _ in range(3000)]
    frequencies = [orders.count(p) for p in itertools.permutations(range(3))]
    assert sum(frequencies) == 3000  # nothing but permutations
    assert stats.chisquare(frequencies).pvalue > 1e-3


def test_sup_distance_is_the_largest_difference():
    values = np.random.default_rng(7).normal(size=(20, 4))
    np.testing.assert_array_equal(sup_distances(values), np.abs(values[:, None] - values[None]).max(axis=2))
