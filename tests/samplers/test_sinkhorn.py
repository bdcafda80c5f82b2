"""Sinkhorn's cost against plain loops, closed forms and an assignment solver."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from spectralcit.samplers.sinkhorn import sinkhorn_cost, sinkhorn_loss


def naive(a, b, epsilon, n_iterations):
    n, m = len(a), len(b)
    cost = [[sum((p - q) ** 2 for p, q in zip(a[i], b[j], strict=True)) for j in range(m)] for i in range(n)]
    kernel = [[np.exp(-c / epsilon) + 1e-9 for c in row] for row in cost]
    left = [1.0] * n
    for _ in range(n_iterations):
        right = [1 / m / sum(kernel[i][j] * left[i] for i in range(n)) for j in range(m)]
        left = [1 / n / sum(kernel[i][j] * right[j] for j in range(m)) for i in range(n)]
    return sum(left[i] * kernel[i][j] * right[j] * cost[i][j] for i in range(n) for j in range(m))


@pytest.mark.parametrize(
    ("n", "m", "epsilon", "n_iterations"), [(5, 5, 0.8, 30), (4, 7, 0.3, 3), (6, 3, 2.0, 1)]
)
def test_cost_is_that_of_the_loops(n, m, epsilon, n_iterations):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
    ours = float(sinkhorn_cost(a, b, epsilon=epsilon, n_iterations=n_iterations))
    assert ours == pytest.approx(naive(a, b, epsilon, n_iterations), rel=1e-4)


def test_two_points():
    assert float(sinkhorn_cost(np.array([[1.0, 0.0]]), np.array([[0.0, 2.0]]))) == pytest.approx(
        5.0, rel=1e-6
    )


def test_little_regularisation_is_the_best_assignment():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 6, 1))
    cost = (a - b.T) ** 2
    best = cost[linear_sum_assignment(cost)].mean()
    assert float(sinkhorn_cost(a, b, epsilon=0.1, n_iterations=500)) == pytest.approx(best, rel=0.1)


def test_loss_is_zero_for_equal_clouds_and_grows_with_distance():
    a = np.random.default_rng(1).normal(size=(8, 1))
    losses = [float(sinkhorn_loss(a, a + shift, a, a + shift)) for shift in (0.0, 0.5, 1.0)]
    assert losses[0] == pytest.approx(0.0, abs=1e-5)
    # With the plan of every shift the same up to rescaling, the loss is the squared shift.
    assert losses[1:] == pytest.approx([0.25, 1.0], abs=0.02)
