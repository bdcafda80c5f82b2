"""The generators: equations, seeds, and that the alternative adds dependence and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit.datasets import HARD_CASES, high_dimensional, nonsmooth, post_nonlinear, sachs_query, sin_cos
from spectralcit.datasets.nonsmooth import oscillating

ALL = {
    "post_nonlinear": post_nonlinear,
    "sin_cos": sin_cos,
    "high_dimensional": high_dimensional,
    "sachs_query": sachs_query,
    **HARD_CASES,
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("dependent", [False, True])
def test_same_seed_same_finite_rows(name, dependent):
    first, second = (ALL[name](50, np.random.default_rng(1), dependent=dependent) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        if a is None:
            assert b is None
            continue
        assert len(a) == 50
        assert np.isfinite(a).all()
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", sorted(set(ALL) - {"gamma_shape", "both_binary", "shared_variance"}))
def test_the_alternative_leaves_z_alone_and_changes_y(name):
    null, alternative = (ALL[name](400, np.random.default_rng(2), dependent=d) for d in (False, True))
    if null[2] is not None:
        np.testing.assert_array_equal(null[2], alternative[2])
    assert not np.array_equal(null[1], alternative[1])


def test_post_nonlinear_equations():
    x, y, z = post_nonlinear(200_000, np.random.default_rng(3), dependent=False, d_z=4)
    inner = np.cbrt(x) - z.mean(axis=1)
    assert inner.std() == pytest.approx(0.25, rel=0.01)
    assert (np.arctanh(np.clip(y, -1 + 1e-12, 1 - 1e-12)) - z.mean(axis=1)).std() == pytest.approx(
        0.25, rel=0.02
    )
    shared_x, shared_y, _ = post_nonlinear(200_000, np.random.default_rng(3), dependent=True, d_z=4)
    assert np.cov(shared_x - x, shared_y - y)[0, 1] == pytest.approx(0.25, rel=0.02)


def test_sin_cos_weights_have_unit_sum_and_dependence_goes_through_x():
    x, y, _ = sin_cos(100_000, np.random.default_rng(4), dependent=True, d_z=200)
    assert np.abs(x).max() <= 1.0
    assert np.corrcoef(x**2, y)[0, 1] < -0.5  # cos(2x + ...) falls with |x|
    x, y, _ = sin_cos(100_000, np.random.default_rng(4), dependent=False, d_z=200)
    assert abs(np.corrcoef(x**2, y)[0, 1]) < 0.02


def test_oscillating_function_by_hand():
    w = np.array([-2.0, 0.0, 0.5, 1.0, 3.0, -0.25])
    np.testing.assert_allclose(oscillating(w, 3), [-8.0, 1.0, 1.0, 1.0, 27.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(oscillating(np.array([0.4]), 2), np.cos(2 * np.pi / 0.4))


def test_nonsmooth_has_no_alternative():
    assert nonsmooth(10, np.random.default_rng(0))[0].shape == (10, 100)
    with pytest.raises(ValueError, match="no alternative"):
        nonsmooth(10, np.random.default_rng(0), dependent=True)


@pytest.mark.parametrize(("query", "columns"), [(1, 200), (2, 300), (3, 202)])
def test_sachs_queries(query, columns):
    assert sachs_query(20, np.random.default_rng(5), dependent=False, query=query)[2].shape == (20, columns)


def test_unknown_sachs_query():
    with pytest.raises(ValueError, match="query must be an integer from 1 to 3"):
        sachs_query(20, np.random.default_rng(0), dependent=False, query=4)
