"""Trees are used where Z acts through thresholds, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit import SpectralCIT
from spectralcit.inputs import Block
from spectralcit.nuisance import KernelRidge
from spectralcit.nuisance.jumps import LeafIndicators, orders_of, winning_leaves

SMOOTH = {
    "linear": lambda z: z[:, 0] + z[:, 1],
    "sine": lambda z: np.sin(2 * z[:, 0]),
    "product": lambda z: z[:, 0] * z[:, 1],
    "noise": lambda z: 0 * z[:, 0],
}
STEPS = {
    "one threshold": lambda z: 2.0 * (z[:, 0] > 0.3),
    "two thresholds": lambda z: 2.0 * ((z[:, 0] > 0) & (z[:, 1] > 0)),
    "thresholds on a trend": lambda z: z.sum(axis=1) + 1.5 * (z[:, 0] > 0) + 1.5 * (z[:, 1] > 0.5),
    "staircase": lambda z: np.floor(2 * z[:, 0]) % 2 * 2.0,
}


def fitted(function, seed):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((600, 3))
    target = function(z) + 0.4 * rng.standard_normal(600)
    block = Block(z, ("a", "b", "c"), ("continuous",) * 3, (0, 1, 2))
    return KernelRidge(block, 600, rng).fit_location(target[:, None])


@pytest.mark.parametrize("function", SMOOTH.values(), ids=SMOOTH)
def test_a_smooth_function_needs_no_trees(function):
    assert not any("jumps" in fitted(function, seed).name for seed in range(4))


@pytest.mark.parametrize("function", STEPS.values(), ids=STEPS)
def test_thresholds_are_removed(function):
    fit = fitted(function, 0)
    assert "jumps" in fit.name
    noise_share = 0.16 / (0.16 + np.var(function(np.random.default_rng(1).standard_normal((10_000, 3)))))
    assert 1.0 - fit.r_squared < 1.6 * noise_share


def test_every_row_is_in_one_leaf_of_every_tree():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((200, 2))
    leaves = LeafIndicators.fit(z, (z[:, :1] > 0) + 0.1 * rng.standard_normal((200, 1)))
    np.testing.assert_array_equal(leaves(z).sum(axis=1), len(leaves.trees))


@pytest.mark.parametrize("threshold", [0, 39, 41], ids=["first", "last sorted", "new column"])
def test_orders_that_are_known_change_nothing(threshold):
    rng = np.random.default_rng(threshold)
    z = rng.standard_normal((400, 42))
    missed = 1.2 * (z[:, [threshold]] > 0.2) + rng.standard_normal((400, 1))
    found = winning_leaves(z, missed, missed)
    assert found == winning_leaves(z, missed, missed, known_orders=orders_of(z[:, :40])) > 0


def test_confounding_by_thresholds_is_not_taken_for_dependence():
    rejections = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        z = rng.uniform(-2, 2, size=600)
        steps = np.floor(2 * z) % 2
        x, y = (steps + 0.3 * rng.standard_normal(600) for _ in range(2))
        rejections += SpectralCIT(random_state=seed).test(x, y, z).reject()
    assert rejections <= 4  # without trees: all twelve
