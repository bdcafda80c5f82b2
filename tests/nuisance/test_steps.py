"""Steps across Z: found to the row, in any frame, and not where there are none."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit import SpectralCIT
from spectralcit.nuisance.steps import Steps, find_steps


def half_space(z, seed):
    direction = np.random.default_rng([seed, 1]).standard_normal(z.shape[1])
    return (z @ direction / np.linalg.norm(direction) > 0.4).astype(float)


def disagreement(steps: Steps, z, truth):
    found = steps(z)[:, 0]
    return min(np.mean(found != truth), np.mean(found == truth))


@pytest.mark.parametrize(("n", "d"), [(500, 2), (1000, 5), (1500, 10)])
def test_a_threshold_of_an_index_is_found_to_one_row_in_a_hundred(n, d):
    rng = np.random.default_rng([n, d])
    z = rng.standard_normal((n, d))
    truth = half_space(z, d)
    steps = find_steps(z, None, 2.0 * truth + 0.5 * rng.standard_normal(n), 0.0)
    assert steps is not None
    assert disagreement(steps, z, truth) < 0.01


def test_two_thresholds_beside_a_line():
    rng = np.random.default_rng(1)
    z = rng.standard_normal((1500, 4))
    first, second = half_space(z, 2), half_space(z, 3)
    target = 2.0 * first - 2.0 * second + z[:, 0] + 0.5 * rng.standard_normal(1500)
    steps = find_steps(z, None, target, 0.0)
    columns = np.column_stack([np.ones(1500), z, steps(z)])
    left = target - columns @ np.linalg.lstsq(columns, target, rcond=None)[0]
    assert left.var() == pytest.approx(0.25, rel=0.15)


def test_an_invertible_map_of_z_changes_nothing_but_the_frame():
    rng = np.random.default_rng(4)
    z = rng.standard_normal((800, 3))
    truth = half_space(z, 5)
    target = 2.0 * truth + 0.5 * rng.standard_normal(800)
    mixing = rng.standard_normal((3, 3))
    steps = find_steps(z @ mixing, np.linalg.inv(mixing), target, 0.0)
    assert disagreement(steps, z @ mixing, truth) < 0.01


def test_noise_and_straight_lines_have_no_steps():
    found = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 6])
        z = rng.standard_normal((400, 4))
        found += find_steps(z, None, z @ [1.0, 0.5, 0.0, -1.0] + rng.standard_normal(400), 0.0) is not None
    assert found <= 4


def test_what_is_too_little_or_too_much_to_look_at():
    rng = np.random.default_rng(7)
    for n, d in ((1000, 1), (1000, 21), (60, 3)):
        z = rng.standard_normal((n, d))
        assert find_steps(z, None, np.sign(z[:, 0]), 0.0) is None


def test_shared_thresholds_of_an_index_are_no_dependence():
    """Smeared edges were taken for dependence in more than every third data set, without a warning."""
    pvalues = []
    for seed in range(12):
        rng = np.random.default_rng([seed, 8])
        z = rng.standard_normal((1000, 4))
        truth = 2.0 * half_space(z, seed)
        x, y = truth + 0.6 * rng.standard_normal((2, 1000))
        pvalues.append(SpectralCIT(random_state=0).test(x, y, z).pvalue)
    assert np.mean(np.array(pvalues) <= 0.05) <= 2 / 12


def test_a_column_that_is_constant_in_these_rows_does_not_matter():
    rng = np.random.default_rng(9)
    z = rng.standard_normal((800, 3))
    truth = half_space(z, 10)
    z = np.insert(z, 1, 0.37, axis=1)
    steps = find_steps(z, None, 2.0 * truth + 0.5 * rng.standard_normal(800), 0.0)
    assert disagreement(steps, z, truth) < 0.01
    assert (steps.directions[1] == 0).all()


def exclusive_or(z, seed):
    """Two half-spaces at right angles, of which a row is in one or the other."""
    frame = np.linalg.qr(np.random.default_rng([seed, 2]).standard_normal((z.shape[1], 2)))[0]
    inside = z @ frame > [0.3, -0.2]
    return (inside[:, 0] ^ inside[:, 1]).astype(float)


@pytest.mark.parametrize(("n", "d"), [(1000, 3), (3000, 6)])
def test_an_exclusive_or_of_two_indices_is_found_to_two_rows_in_a_hundred(n, d):
    rng = np.random.default_rng([n, d, 11])
    z = rng.standard_normal((n, d))
    truth = exclusive_or(z, d)
    steps = find_steps(z, None, 2.0 * truth + 0.8 * rng.standard_normal(n), 0.0)
    assert steps is not None
    assert steps.crossed
    first, second, both = steps(z).T
    np.testing.assert_array_equal(both, first * second)
    found = first + second - 2.0 * both
    assert min(np.mean(found != truth), np.mean(found == truth)) < 0.02


def test_noise_is_no_exclusive_or_and_neither_is_one_threshold():
    for seed in range(20):
        rng = np.random.default_rng([seed, 12])
        z = rng.standard_normal((500, 4))
        noise = rng.standard_normal(500)
        for target in (noise, 2.0 * half_space(z, seed) + 0.5 * noise):
            steps = find_steps(z, None, target, 0.0)
            assert steps is None or not steps.crossed


def test_shared_exclusive_or_of_mixed_columns_is_no_dependence():
    """Learned along single columns only, it was taken for dependence in two of three data sets."""
    pvalues = []
    for seed in range(10):
        rng = np.random.default_rng([seed, 13])
        z = rng.standard_normal((1500, 4))
        x, y = 2.0 * exclusive_or(z, seed) + rng.standard_normal((2, 1500))
        pvalues.append(SpectralCIT(random_state=0).test(x, y, z @ rng.standard_normal((4, 4))).pvalue)
    assert np.mean(np.array(pvalues) <= 0.05) <= 2 / 10


def outside_a_ball(z):
    return (np.square(z).sum(axis=1) > z.shape[1] - 0.5).astype(float)


@pytest.mark.parametrize(("n", "d"), [(800, 2), (1500, 5)])
def test_the_edge_of_a_ball_is_found_to_three_rows_in_a_hundred_in_any_frame(n, d):
    rng = np.random.default_rng([n, d, 14])
    z = rng.standard_normal((n, d))
    truth, mixing = outside_a_ball(z), rng.standard_normal((d, d))
    target = 2.0 * truth + 0.7 * rng.standard_normal(n)
    for columns, frame in ((z, None), (z @ mixing, np.linalg.inv(mixing))):
        steps = find_steps(columns, frame, target, 0.0)
        assert steps is not None
        assert disagreement(steps, columns, truth) < 0.03


def test_shared_balls_are_no_dependence():
    """In five columns every second was taken for dependence."""
    pvalues = []
    for seed in range(10):
        rng = np.random.default_rng([seed, 15])
        z = rng.standard_normal((1500, 5))
        x, y = 2.0 * outside_a_ball(z) + rng.standard_normal((2, 1500))
        pvalues.append(SpectralCIT(random_state=0).test(x, y, z).pvalue)
    assert np.mean(np.array(pvalues) <= 0.05) <= 2 / 10
