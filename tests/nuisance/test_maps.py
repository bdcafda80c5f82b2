"""Feature maps: kernels, gradients and the scale of additive cosines."""

from __future__ import annotations

import numpy as np
import pytest

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


@pytest.mark.parametrize("rough", [False, True])
def test_relevance_is_the_average_gradient_outer_product(rough):
    rng = np.random.default_rng(1)
    z = rng.standard_normal((20, 3))
    factor = rng.standard_normal((3, 3))
    gaussian = GaussianFeatures.fit(z, factor, 1.0, 10, rng, rough)
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


def test_additive_cosines_of_columns_with_outliers_see_only_ranks_and_are_bounded():
    rng = np.random.default_rng(2)
    z = rng.standard_cauchy((200, 2)) ** 3
    original = AdditiveCosines.fit(z, np.arange(2), 200)(z)
    stretched = np.cbrt(z)  # monotone, so the ranks are the same
    np.testing.assert_allclose(AdditiveCosines.fit(stretched, np.arange(2), 200)(stretched), original)
    assert np.abs(original).max() <= 1.0


def test_additive_cosines_of_other_columns_span_their_range():
    z = np.random.default_rng(2).standard_normal((200, 1))
    unit = (z - z.min()) / (z.max() - z.min())
    features = AdditiveCosines.fit(z, np.arange(1), 200)(z)
    np.testing.assert_allclose(features[:, 2], np.cos(3 * np.pi * unit[:, 0]) / 3)


def test_additive_relevance_points_at_the_columns_in_use():
    rng = np.random.default_rng(3)
    z = rng.standard_normal((100, 4))
    additive = AdditiveCosines.fit(z, np.arange(4), 100)
    coefficients = np.zeros((4 * additive.order, 1))
    coefficients[additive.order * 2] = 1.0  # first cosine of the third column
    assert np.argmax(np.diag(additive.relevance(z, coefficients))) == 2
    assert np.count_nonzero(additive.relevance(z, coefficients)) == 1


def test_additive_needs_room_for_two_cosines():
    assert AdditiveCosines.fit(np.zeros((10, 9)), np.arange(9), 10) is None


def test_more_rows_afford_more_cosines_a_column_but_a_bounded_number_in_all():
    z = np.random.default_rng(4).standard_normal((4000, 40))
    few = [AdditiveCosines.fit(z, np.arange(2), n).order for n in (1000, 4000, 10**6)]
    assert few == [12, 24, 32]
    assert AdditiveCosines.fit(z, np.arange(40), 10**6).order == 8


def test_reweighting_keeps_the_columns_in_use_with_amplitudes_by_their_share():
    z = np.random.default_rng(5).standard_normal((900, 50))
    additive = AdditiveCosines.fit(z, np.arange(50), 900)
    relevance = np.zeros((50, 50))
    relevance[7, 7], relevance[30, 30], relevance[31, 31] = 4.0, 1.0, 1e-2
    lighter = additive.reweighted(relevance, 1.0, 900)  # noise alone would contribute 6 / 900
    np.testing.assert_array_equal(lighter.columns, [7, 30])
    np.testing.assert_allclose(lighter.amplitudes, [1.0, 0.5])
    assert (additive.order, lighter.order) == (6, 12)
    features = lighter(z).reshape(900, 2, 12)
    np.testing.assert_allclose(np.abs(features).max(axis=(0, 2)), [1.0, 0.5], rtol=1e-3)
    np.testing.assert_allclose(features[:, 0, :6], additive(z).reshape(900, 50, 6)[:, 7])


def test_normal_scores_of_a_normal_sample_are_nearly_itself():
    sample = np.random.default_rng(4).standard_normal((5000, 1))
    assert np.corrcoef(normal_scores(sample).ravel(), sample.ravel())[0, 1] > 0.999
