"""Agreement across rows: a sum over pairs of rows that only Z can move, however strongly X and Y depend."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from spectralcit.nuisance.alike import MOST_ROWS, _agreement, _kernels, alike_across_rows
from spectralcit.numeric.linear import orthonormal_columns

CLEAR = 3.5  # standard errors at which the default warns


def standard(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def test_kernels_are_the_sums_of_products_that_they_claim_to_be():
    z = standard(90, 5)
    kernels = list(_kernels(z))
    signs = np.where(z > 0, 1.0, -1.0)
    for kernel, columns, order in ((kernels[0], z, 2), (kernels[1], signs, 3), (kernels[2], signs, 4)):
        products = [columns[:, list(chosen)].prod(axis=1) for chosen in combinations(range(5), order)]
        expected = sum(np.outer(product, product) for product in products)
        np.testing.assert_allclose(
            kernel / kernel[0, 0], expected / expected[0, 0], rtol=1e-9, atol=1e-9 * np.abs(expected).max()
        )


def test_pairs_of_classes_are_products_of_centred_indicators():
    n, d, classes = 240, 3, 8
    z = standard(n, d)
    codes = (np.argsort(np.argsort(z, axis=0), axis=0) * classes) // n
    centred = [(codes[:, j][:, None] == codes[:, j]) - 1.0 / classes for j in range(d)]
    one, two = list(_kernels(z))[-2:]  # the finer classes need more rows
    np.testing.assert_allclose(one, sum(centred), atol=1e-12)
    np.testing.assert_allclose(two, 2 * sum(a * b for a, b in combinations(centred, 2)), atol=1e-12)


@pytest.mark.parametrize("penalty", [0.0, 5.0])
def test_dependence_between_x_and_y_alone_moves_nothing(penalty):
    # Least squares on Z, and least squares with a ridge on its products, which the first kernel is made of.
    rng = np.random.default_rng(1)
    n, d = 100, 4
    found = []
    for _ in range(150):
        z = rng.standard_normal((n, d))
        basis = orthonormal_columns(z)
        removal = np.eye(n) - basis @ basis.T
        if penalty:
            products = removal @ np.column_stack([z[:, i] * z[:, j] for i, j in combinations(range(d), 2)])
            gram = products.T @ products + penalty * np.eye(products.shape[1])
            removal = removal - products @ np.linalg.solve(gram, products.T)
        noise = rng.standard_normal(n)
        f, g = removal @ noise, removal @ (noise + 0.3 * rng.standard_normal(n))
        found.append(_agreement(next(_kernels(z)), basis, removal @ removal, f, g))
    assert abs(np.mean(found)) < 4 / np.sqrt(len(found))
    assert np.std(found) < 1.3


@pytest.mark.parametrize(
    "hidden",
    [
        lambda z: z[:, 0] * z[:, 1],
        lambda z: np.sign(z[:, 0] * z[:, 2] * z[:, 3]),
        lambda z: np.sign(z.prod(axis=1)),
        lambda z: np.sign(np.sin(4 * z[:, 1]) * np.sin(4 * z[:, 3])),
    ],
)
def test_what_z_explains_of_both_sides_is_seen_and_of_one_side_is_not(hidden):
    z, noise = standard(800, 4), standard(2, 800, seed=1)
    left = hidden(z)
    assert alike_across_rows(z, left + 0.5 * noise[0], left + 0.5 * noise[1]) > CLEAR
    assert alike_across_rows(z, left + 0.5 * noise[0], noise[0] + noise[1]) < CLEAR


def test_many_rows_a_constant_column_and_no_freedom_left():
    z, noise = standard(MOST_ROWS + 500, 2), standard(2, MOST_ROWS + 500, seed=1)
    left = z.prod(axis=1)
    with_constant = np.column_stack([z, np.ones(len(z))])
    assert alike_across_rows(with_constant, left + noise[0], left + noise[1]) > CLEAR
    assert alike_across_rows(standard(40, 30), *standard(2, 40)) == 0.0
    assert alike_across_rows(np.ones((40, 1)), *standard(2, 40)) == 0.0
