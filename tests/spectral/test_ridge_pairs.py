"""Directions that are learned: the maximum against brute force, and components that keep their promises."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from spectralcit.spectral.ridge_pairs import largest_ridge_pairs, leading_components, products, width


def test_products_have_the_norm_of_the_matrix_they_stand_for():
    rng = np.random.default_rng(0)
    scores, weight = rng.standard_normal((50, 4)), rng.standard_normal(50)
    matrix = scores.T @ (weight[:, None] * scores)
    packed = weight @ products(scores)
    assert np.linalg.norm(packed) == pytest.approx(np.linalg.norm(matrix), rel=1e-6)
    assert packed.shape == (width(4, square=True),)
    np.testing.assert_allclose(products(scores)[:, :3], products(scores[:, :2]))


def test_components_do_not_depend_on_the_order_of_the_columns():
    rng = np.random.default_rng(1)
    columns = rng.exponential(size=(300, 6)) @ rng.standard_normal((6, 6))
    columns -= columns.mean(axis=0)
    order = rng.permutation(6)
    first, second = leading_components(columns, 4), leading_components(columns[:, order], 4)
    np.testing.assert_allclose(first.scores, second.scores, atol=1e-8)
    whole = leading_components(columns, 6)
    np.testing.assert_allclose(whole.scores @ whole.inverse, columns, atol=1e-8)


def circle(count):
    angles = np.linspace(0.0, np.pi, count)
    return np.column_stack([np.cos(angles), np.sin(angles)])


@pytest.mark.parametrize("squares", list(itertools.product([False, True], repeat=2)))
def test_maximum_equals_a_search_over_all_directions_of_the_plane(squares):
    """Two components on either side: every direction can be tried."""
    rng = np.random.default_rng(2)
    forms = rng.standard_normal((20, *(width(2, square) for square in squares))).astype(np.float32)
    directions = circle(720)
    left, right = (products(directions) if square else directions for square in squares)
    brute = np.abs(np.einsum("ap,mpq,bq->mab", left, forms, right, optimize=True)).max(axis=(1, 2))
    found = largest_ridge_pairs(forms, squares)
    ratio = found.sizes / brute
    assert ratio.max() < 1.001
    assert ratio.min() > 0.95  # a few rounds stop short of the top now and then
    assert np.median(ratio) > 0.999
    np.testing.assert_allclose(np.linalg.norm(found.left, axis=1), 1.0, rtol=1e-5)


def test_one_column_on_the_other_side_needs_no_search():
    rng = np.random.default_rng(3)
    matrices = rng.standard_normal((5, 6, 6))
    matrices += matrices.transpose(0, 2, 1)
    low, high = np.tril_indices(6)
    packed = matrices[:, low, high] * np.where(low == high, 1.0, np.sqrt(2.0))
    found = largest_ridge_pairs(packed[:, :, None], (True, False))
    np.testing.assert_allclose(found.sizes, np.abs(np.linalg.eigvalsh(matrices)).max(axis=1), rtol=1e-4)


def test_a_hidden_direction_is_recovered():
    rng = np.random.default_rng(4)
    a, b = (v / np.linalg.norm(v) for v in rng.standard_normal((2, 12)))
    x, y = rng.standard_normal((2, 1500, 12))
    y += np.outer(0.8 * ((x @ a) ** 2 - 1.0), b)
    form = (products(x) - products(x).mean(axis=0)).T @ y / np.sqrt(1500)
    found = largest_ridge_pairs(form[None], (True, False))
    assert abs(found.left[0] @ a) > 0.95
    assert abs(found.right[0] @ b) > 0.9
