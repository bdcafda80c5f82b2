"""The data sets of the attack: with the truth about Z subtracted, nothing is left under the null."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from spectralcit.benchmark.suite import load_suite
from spectralcit.datasets import get_dataset
from spectralcit.errors import ParameterError

SUITES = Path(__file__).parents[2] / "benchmarks" / "suites"
ROWS = 20_000
NOTHING = 5 / np.sqrt(ROWS)  # five standard errors of a correlation
ADDITIVE = [
    ("attack-thresholds", {}),
    ("attack-thresholds", {"joined": "and", "steps": 3}),
    ("attack-mixed-columns", {}),
    ("attack-near-copies", {"pairs": 2}),
    ("attack-xor", {"order": 3}),
    ("attack-xor", {"shown": "mixed"}),
    ("attack-ball", {}),
    ("attack-checkerboard", {}),
    ("attack-ratio", {"least": 0.5}),
    ("attack-field", {"d_z": 1}),
    ("attack-field", {"d_z": 3, "waves": "matern"}),
    ("attack-index", {"g": "sine"}),
    ("attack-index", {"g": "cosine"}),
    ("attack-index", {"g": "square"}),
    ("attack-index", {"g": "sign"}),
    ("attack-bilinear", {}),
    ("attack-interactions", {}),
]
PATTERNS = [("attack-xor", {"moment": "variance"}), ("attack-checkerboard", {"moment": "variance"})]
ROUNDED = [
    ("attack-rounded", {"how": how, "resolution": r}) for how in ("nearest", "floor") for r in (0.5, 2)
]


def with_truth(name, params, dependent, seed=1):
    """A sample, and the confounder of the same draw."""
    dataset = get_dataset(name, **params)
    x, y, z = dataset.draw(ROWS, seed, dependent)
    same, index = dataset.confounder(ROWS, np.random.default_rng(seed))
    np.testing.assert_array_equal(z, same)
    return dataset, x, y, index


def moments(left_x, left_y, index):
    """Correlations that vanish when what is left is independent given Z; the first is the linear one."""
    flat = np.tanh(index)  # a ratio's own tails would drown everything
    pairs = [(left_x, left_y), (left_x**2, left_y**2), (left_x * flat, left_y), (left_x**2, left_y)]
    return [abs(np.corrcoef(a, b)[0, 1]) for a, b in pairs]


def lattice_mean(dataset, index):
    """E(X | Z) of a rounded normal variable: a sum over the lattice."""
    exact, spread = index / dataset.resolution, dataset.noise / dataset.resolution
    points = np.arange(np.floor(exact.min()) - 5, np.ceil(exact.max()) + 6)
    low = points - (0.5 if dataset.how == "nearest" else 0.0)
    below = stats.norm.cdf((low[:, None] - exact) / spread)
    chance = np.diff(np.vstack([below, np.ones_like(exact)]), axis=0)
    return dataset.resolution * points @ chance


@pytest.mark.parametrize(("name", "params"), ADDITIVE + PATTERNS + ROUNDED)
def test_nothing_is_left_of_a_null_when_the_truth_is_subtracted(name, params):
    for dependent in (False, True):
        dataset, x, y, index = with_truth(name, params, dependent)
        if name == "attack-rounded":
            mean = lattice_mean(dataset, index)
            left_x, left_y = x - mean, y - mean
            assert abs(left_x.mean()) < NOTHING  # the oracle is the mean
        elif params.get("moment") == "variance":
            left_x, left_y = x / np.exp(dataset.height * index), y / np.exp(dataset.height * index)
        else:
            left_x, left_y = x - index, y - index
            assert left_x.std() == pytest.approx(dataset.noise, rel=0.03)
        found = moments(left_x, left_y, index)
        if dependent:
            assert found[0] > 0.05
        elif name == "attack-rounded":  # spread and shape of what is left depend on Z: the first and third
            assert max(found[0], found[2]) < NOTHING
        else:
            assert max(found) < NOTHING


@pytest.mark.parametrize(("name", "params"), [*ADDITIVE, ("attack-rounded", {}), ("attack-duplicated", {})])
def test_both_sides_follow_z(name, params):
    x, y, _ = get_dataset(name, **params).draw(ROWS, 2, dependent=False)
    assert stats.spearmanr(x, y).statistic > 0.1


@pytest.mark.parametrize(("how", "step"), [("nearest", 1.0), ("floor", 1.0), ("heaped", 0.1)])
def test_rounded_values_are_on_the_lattice(how, step):
    x, _, _ = get_dataset("attack-rounded", how=how, resolution=0.5).draw(2000, 0, dependent=False)
    points = x / (0.5 * step)
    np.testing.assert_allclose(points, np.round(points), atol=1e-9)
    whole = np.mean(np.isclose(x / 0.5, np.round(x / 0.5)))
    assert whole == 1.0 if how != "heaped" else 0.5 < whole < 0.6  # and a tenth of the other half by chance


def test_duplicated_rows():
    x, y, z = get_dataset("attack-duplicated", copies=3).draw(31, 0, dependent=False)
    values, counts = np.unique(np.column_stack([x, y, z]), axis=0, return_counts=True)
    assert sorted(counts) == [1, *[3] * 10]
    assert len(values) == 11
    x, y, z = get_dataset("attack-duplicated").draw(2 * ROWS, 0, dependent=False)
    truth = np.sin(2 * z[:, 0]) + z[:, 1]
    assert abs(np.corrcoef(x - truth, y - truth)[0, 1]) < NOTHING


def test_mixing_can_be_undone_and_near_copies_differ_by_the_gap():
    dataset = get_dataset("attack-mixed-columns", d_z=5)
    _, _, z = dataset.draw(500, 3, dependent=False)
    assert np.linalg.matrix_rank(z) == 5
    assert np.abs(np.corrcoef(z.T) - np.eye(5)).max() > 0.3
    _, _, z = get_dataset("attack-near-copies", pairs=2, gap=0.001).draw(5000, 3, dependent=False)
    np.testing.assert_allclose((z[:, 2:] - z[:, :2]).std(axis=0), 0.001, rtol=0.05)


@pytest.mark.parametrize("length", [0.02, 0.1])
def test_a_field_forgets_itself_over_its_length(length):
    dataset = get_dataset("attack-field", d_z=1, length=length)
    products = []
    for seed in range(40):
        z, field = dataset.confounder(4000, np.random.default_rng(seed))
        order = np.argsort(z[:, 0])
        later = np.interp(z[order, 0] + length, z[order, 0], field[order])
        inside = z[order, 0] < 1 - length
        products.append(np.mean(field[order][inside] * later[inside]))
    assert np.mean(products) == pytest.approx(np.exp(-0.5), abs=0.15)  # the Gaussian kernel at one length


@pytest.mark.parametrize(
    ("params", "slope"),
    [
        ({}, lambda z: np.cos(2.5 * z[:, 0])),
        ({"slope": "product", "d_z": 20}, lambda z: z[:, 0]),
        ({"slope": "product", "factors": 2, "d_z": 3}, lambda z: z[:, 0] * z[:, 1]),
    ],
)
def test_slopes_average_out(params, slope):
    for dependent in (False, True):
        x, y, z = get_dataset("attack-slope", **params).draw(ROWS, 4, dependent)
        left_x, left_y = x - z[:, 0], y - z[:, 0]
        assert abs(np.corrcoef(left_x, left_y)[0, 1]) < NOTHING + 0.02  # E cos(2.5 z) is .04, not 0
        with_slope = abs(np.corrcoef(left_x * slope(z), left_y)[0, 1])
        assert with_slope > 0.15 if dependent else with_slope < NOTHING


def test_the_fast_sine_is_all_that_links_the_sides():
    for dependent in (False, True):
        x, y, z = get_dataset("attack-sine").draw(ROWS, 5, dependent)
        left_x, left_y = x - z[:, 0], y - z[:, 0]
        fast = abs(np.corrcoef(np.sin(8 * left_x), left_y)[0, 1])
        assert abs(np.corrcoef(left_x, left_y)[0, 1]) < NOTHING
        assert fast > 0.5 if dependent else fast < NOTHING


def test_every_cell_of_the_suites_draws():
    for name in ("attack", "attack_rivals"):
        for cell in load_suite(SUITES / f"{name}.toml").cells:
            sample = get_dataset(cell.dataset, **cell.dataset_params).draw(30, 0, cell.dependent)
            assert all(block is not None and np.isfinite(block).all() for block in sample), cell.label


def test_the_suite_has_its_parts():
    cells = load_suite(SUITES / "attack.toml").cells
    parts = {
        part: [c for c in cells if c.label.startswith(part)] for part in ("learned/", "beyond/", "vector/")
    }
    assert sum(map(len, parts.values())) >= 40
    assert not any(cell.dependent for group in parts.values() for cell in group)
    assert {cell.test for cell in cells} == {"default"}
    rest = [cell for cell in cells if not cell.label.startswith(tuple(parts))]
    assert all(cell.label.startswith("power/") and cell.dependent for cell in rest)


def test_values_that_make_no_sense():
    with pytest.raises(ParameterError, match="resolution must be"):
        get_dataset("attack-rounded", resolution=0.0)
    with pytest.raises(ParameterError, match="'heaped'"):
        get_dataset("attack-rounded", how="heap")
    with pytest.raises(IndexError):
        get_dataset("attack-xor", d_z=2, order=3).draw(10, 0, dependent=False)


def test_levels_are_independent_given_z_unless_they_are_made_alike():
    shares = {}
    for dependent in (False, True):
        x, y, _ = get_dataset("attack-levels", slope=0.0).draw(ROWS, 3, dependent)
        assert (x.sum(axis=1) == 1).all()
        assert (y.sum(axis=1) == 1).all()
        assert x[:, 0].mean() == pytest.approx(0.9, abs=0.02)
        shares[dependent] = np.mean((x[:, 1:] * y[:, 1:]).sum(axis=1))
    assert shares[False] == pytest.approx(5 * 0.02**2, abs=5 * np.sqrt(0.002 / ROWS))
    assert shares[True] > 0.005


def test_levels_follow_z():
    x, _, z = get_dataset("attack-levels", common=0.2, slope=2.0).draw(ROWS, 4, False)
    high = z[:, 0] > 1
    assert x[high, -1].mean() > 3 * x[~high, -1].mean()
