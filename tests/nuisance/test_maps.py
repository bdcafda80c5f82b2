"""Feature maps: kernels, gradients and the scale of additive cosines."""

from __future__ import annotations

import numpy as np

from spectralcit.nuisance.maps import AdditiveCosines, GaussianFeatures, LinearFeatures, normal_scores


def test_nystrom_with_all_rows_reproduces_the_kernel():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((30, 2))
    gaussian = GaussianFeatures.fit(z, np.eye(2), 0.5, 30, rng)
    features = gaussian(z)
    squared = np.square(z[:, None] - z[None]).sum(axis=2)
    np.testing.assert_allclose(
        features @ features.T, np.exp(-squared / (2 * gaussian.width_squared)), atol=1e-5
    )


def test_relevance_is_the_average_gradient_outer_product():
    rng = np.random.default_rng(1)
    z = rng.standard_normal((20, 3))
    factor = rng.standard_normal((3, 3))
    gaussian = GaussianFeatures.fit(z, factor, 1.0, 10, rng)
    coefficients = rng.standard_normal((gaussian(z).shape[1], 2))
    step = 1e-5
    gradients = np.stack(
        [
            (gaussian(z + step * unit) - gaussian(z - step * unit)) @ coefficients / (2 * step)
            for unit in np.eye(3)
        ]
    )  # (direction, row, target)
    expected = np.einsum("int,jnt->ij", gradients, gradients) / len(z)
    np.testing.assert_allclose(gaussian.relevance(z, coefficients), expected, rtol=1e-5)


def test_linear_relevance_is_exact():
    coefficients = np.array([[1.0], [-2.0]])
    np.testing.assert_allclose(LinearFeatures().relevance(np.zeros((3, 2)), coefficients), [[1, -2], [-2, 4]])


def test_additive_cosines_see_only_ranks_and_are_bounded():
    rng = np.random.default_rng(2)
    z = rng.standard_cauchy((200, 2))
    original = AdditiveCosines.fit(z, np.arange(2), 12)(z)
    stretched = np.cbrt(z)  # monotone, so the ranks are the same
    np.testing.assert_allclose(AdditiveCosines.fit(stretched, np.arange(2), 12)(stretched), original)
    assert np.abs(original).max() <= 1.0


def test_additive_relevance_points_at_the_columns_in_use():
    rng = np.random.default_rng(3)
    z = rng.standard_normal((100, 4))
    additive = AdditiveCosines.fit(z, np.arange(4), 12)
    coefficients = np.zeros((12, 1))
    coefficients[additive.order * 2] = 1.0  # first cosine of the third column
    assert np.argmax(np.diag(additive.relevance(z, coefficients))) == 2
    assert np.count_nonzero(additive.relevance(z, coefficients)) == 1


def test_additive_needs_room_for_two_cosines():
    assert AdditiveCosines.fit(np.zeros((10, 9)), np.arange(9), 12) is None


def test_normal_scores_of_a_normal_sample_are_nearly_itself():
    sample = np.random.default_rng(4).standard_normal((5000, 1))
    assert np.corrcoef(normal_scores(sample).ravel(), sample.ravel())[0, 1] > 0.999
