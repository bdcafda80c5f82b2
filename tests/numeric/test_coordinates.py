"""Coordinates that no invertible linear map changes."""

import numpy as np
import pytest

from spectralcit.numeric.coordinates import invariant_coordinates, leverages


@pytest.mark.parametrize("d", [2, 5, 8])
def test_no_linear_map_changes_them(d):
    rng = np.random.default_rng(d)
    cloud = rng.standard_normal((300, d)) ** 3
    mixed = cloud @ rng.standard_normal((d, d)) + 5.0
    np.testing.assert_allclose(invariant_coordinates(mixed), invariant_coordinates(cloud), atol=1e-6)
    np.testing.assert_allclose(leverages(mixed), leverages(cloud), rtol=1e-6)


def test_they_are_uncorrelated_and_drop_a_copied_column():
    z = np.random.default_rng(0).standard_normal((400, 3))
    white = invariant_coordinates(np.column_stack([z, z[:, 0]]))
    assert white.shape == (400, 3)
    np.testing.assert_allclose(white.T @ white / 400, np.eye(3), atol=1e-8)


def test_a_few_outliers_do_not_hide_the_other_rows():
    rng = np.random.default_rng(1)
    z = rng.standard_normal((500, 2))
    spoilt = z.copy()
    spoilt[:3, 0] = 1e4
    fitted = invariant_coordinates(spoilt)
    design = np.column_stack([np.ones(497), fitted[3:]])
    left = z[3:, 0] - design @ np.linalg.lstsq(design, z[3:, 0], rcond=None)[0]
    assert left.var() < 0.05
