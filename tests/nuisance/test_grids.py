"""Grids find the edges of tables of two columns, to the row, and nothing where there are none."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit import SpectralCIT
from spectralcit.inputs import Block
from spectralcit.nuisance import KernelRidge
from spectralcit.nuisance.grids import GridCells, find_grid, on_more_rows
from spectralcit.nuisance.maps import LinearFeatures
from spectralcit.nuisance.sums import SumOfMaps


def board(z, frequency=2.5):
    return np.sign(np.sin(frequency * z[:, :2]).prod(axis=1))


def test_cuts_of_a_checkerboard_lie_between_the_rows_that_they_part():
    rng = np.random.default_rng(1)
    z = rng.standard_normal((2500, 3))
    grid = find_grid(z, np.arange(3), (board(z) + 0.3 * rng.standard_normal(2500))[:, None], 0.5)
    assert grid is not None
    assert grid.columns == (0, 1)
    cells = grid(z)
    assert np.array_equal(cells.sum(axis=1), np.ones(2500))
    colours = cells.T @ board(z) / np.maximum(cells.sum(axis=0), 1.0)
    wrong = np.sign(cells @ colours) != board(z)
    assert wrong.mean() < 0.004  # a tenth of the rows are within .05 of an edge


def test_no_grid_in_noise_nor_in_a_sum_of_functions():
    rng = np.random.default_rng(2)
    z, e = rng.standard_normal((1000, 4)), rng.standard_normal((1000, 1))
    assert find_grid(z, np.arange(4), e, 1.0) is None
    assert find_grid(z, np.arange(4), np.sin(2 * z[:, :1]) + np.abs(z[:, 1:2]) + e, 0.8) is None


def test_moved_cuts_divide_rows_that_did_not_find_them():
    rng = np.random.default_rng(3)
    z = rng.standard_normal((3000, 2))
    truth = np.sign((z[:, 0] - 0.2) * (z[:, 1] + 0.4))[:, None]
    rough = GridCells((0, 1), (np.array([0.25]), np.array([-0.43])))
    cuts = rough.on(z, truth).cuts
    assert [((z[:, j] > cuts[j][0]) != (z[:, j] > value)).sum() for j, value in enumerate((0.2, -0.4))] == [
        0,
        0,
    ]
    both = SumOfMaps.fit(LinearFeatures(), rough, (z, rough(z)))
    assert np.array_equal(on_more_rows(both, z, truth).second.cuts[0], cuts[0])
    assert on_more_rows(None, z, truth) is None


def test_all_rows_show_cells_of_the_tails_that_some_did_not():
    rng = np.random.default_rng(4)
    z = rng.uniform(-1.0, 1.0, (6000, 2))
    colour = np.sign(z[:, 0] * z[:, 1]) * np.where(z[:, 0] > 0.997, -1.0, 1.0)
    left = (colour + 0.4 * rng.standard_normal(6000))[:, None]
    found = GridCells((0, 1), (np.array([0.0]), np.array([0.0]))).on(z, left)
    beyond = z[:, 0] > 0.997
    assert 3 <= beyond.sum() <= 30
    assert (np.abs(found.cuts[0] - 0.997) < 0.001).any()


def test_fields_narrower_than_the_strips_are_found():
    rng = np.random.default_rng(5)
    z = rng.uniform(0.0, 1.0, (1500, 2))
    colour = np.sign(np.sin(11 * np.pi * z).prod(axis=1))
    left = (colour + 0.3 * rng.standard_normal(1500))[:, None]
    grid = find_grid(z, np.arange(2), left, 1.0)
    assert grid is not None
    assert np.corrcoef(left[:, 0] - left[:, 0].mean(), _cell_means(grid, z, left))[0, 1] > 0.85


def _cell_means(grid, z, left):
    cells = grid.cells(z)
    return (np.bincount(cells, left[:, 0]) / np.maximum(np.bincount(cells), 1))[cells]


@pytest.mark.parametrize("moment", ["mean", "variance"])
def test_the_default_does_not_reject_a_checkerboard(moment):
    rejected = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        z = rng.standard_normal((2500, 2))
        noise = 0.4 * rng.standard_normal((2, 2500))
        x, y = noise + board(z, 2.0) if moment == "mean" else noise * np.exp(0.8 * board(z, 2.0))
        rejected += SpectralCIT(random_state=0).test(x, y, z).pvalue <= 0.05
    assert rejected <= 1


def test_a_search_on_some_rows_is_moved_to_all():
    rng = np.random.default_rng(4)
    z = rng.standard_normal((6000, 2))
    target = (board(z, 2.0) + 0.3 * rng.standard_normal(6000))[:, None]
    block = Block(z, ("a", "b"), ("continuous",) * 2, (0, 1))
    fit = KernelRidge(block, 6000, rng, max_selection_rows=2000).fit_location(target)
    assert "grid" in fit.name
    assert np.square(fit.remove(board(z, 2.0)[:, None])).mean() < 0.005
