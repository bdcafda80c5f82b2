"""Cells of nearby rows: nesting, balance, ties, discrete columns; permutations within them."""

import itertools

import numpy as np
import pytest

from spectralcit.numeric.cells import nested_cells, share_within, shuffle_within, split_cells


def test_cells_are_nested_balanced_and_keep_ties_together():
    rng = np.random.default_rng(5)
    z = rng.normal(size=(203, 2))
    z[:40] = z[0]
    coarse, fine = nested_cells(z, np.array([False, False]), (30, 4))
    counts = np.bincount(fine)
    assert counts.min() >= 4
    assert np.bincount(coarse).min() >= 30
    assert len(set(fine[:40])) == 1
    assert len(set(zip(coarse, fine, strict=True))) == fine.max() + 1
    assert counts[np.arange(len(counts)) != fine[0]].max() < 8
    assert share_within(z, fine) < share_within(z, coarse) < 0.5


def test_share_within_is_the_share_of_variance_not_explained_by_the_cells():
    values = np.array([[0.0], [2.0], [10.0], [12.0]])
    assert share_within(values, np.array([0, 0, 1, 1])) == pytest.approx(1.0 / 26.0)


def test_discrete_columns_are_strata_and_continuous_ones_are_cut_within():
    rng = np.random.default_rng(6)
    group, number = rng.integers(0, 3, 120), rng.normal(size=120)
    z = np.column_stack([group, number]).astype(float)
    _, fine = nested_cells(z, np.array([True, False]), (20, 5))
    for cell in np.unique(fine):
        assert len(set(group[fine == cell])) == 1
    assert fine.max() > 10


def test_a_cell_that_cannot_be_cut_stays():
    assert split_cells(np.ones((9, 1)), np.zeros(9, dtype=int), 2).tolist() == [0] * 9


def test_shuffling_stays_within_cells():
    rng = np.random.default_rng(0)
    rows, strata = np.arange(50), rng.integers(0, 4, 50)
    moved = shuffle_within(strata, rng)
    assert (strata[moved] == strata).all()
    assert sorted(moved) == list(rows)
    assert (moved != rows).any()


def test_shuffle_reaches_every_order_equally_often_and_no_other():
    cells = np.array([0, 1, 0, 1, 0])
    rng = np.random.default_rng(0)
    drawn = [tuple(shuffle_within(cells, rng)) for _ in range(2400)]
    within = [p for p in itertools.permutations(range(5)) if (cells[list(p)] == cells).all()]
    counts = {order: drawn.count(order) for order in within}
    assert len(counts) == 12
    assert sum(counts.values()) == 2400
    assert max(abs(count - 200) for count in counts.values()) < 5 * np.sqrt(200)
