"""The stand-in for the breast cancer study: shape, what Z determines, and what each hypothesis means."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit.datasets import Multimodal
from spectralcit.errors import ParameterError


def traits_from(z):
    """The span of the 24 latent columns, read off Z: linear after undoing tanh."""
    linear = np.arctanh(np.clip(z, -1 + 1e-15, 1 - 1e-15))
    left, values, _ = np.linalg.svd(linear, full_matrices=False)
    assert values[24] < 1e-6 * values[23]
    return left[:, :24]


def test_shape_of_the_study():
    x, y, z = Multimodal().draw(1341, 0, dependent=False)
    assert (x.shape, y.shape, z.shape) == ((1341, 3), (1341,), (1341, 384))
    assert set(y) == {0.0, 1.0}
    assert 0.4 < y.mean() < 0.6


def test_given_z_y_depends_on_x_under_the_alternative_only():
    found = {}
    for dependent in (False, True):
        x, y, z = Multimodal(d_z=40, strength=2.0).draw(20_000, 1, dependent=dependent)
        basis = np.column_stack([np.ones(len(z)), traits_from(z), traits_from(z) ** 2])
        # The own noise of X is what the traits leave; its square and itself against what they leave of Y.
        left_x, left_y = (v - basis @ np.linalg.lstsq(basis, v, rcond=None)[0] for v in (x[:, 0], y))
        found[dependent] = [abs(np.corrcoef(f, left_y)[0, 1]) for f in (left_x, left_x**2)]
    assert max(found[False]) < 0.03
    assert found[True][0] < 0.06 < 0.2 < found[True][1]  # no line, but a parabola


def test_rows_of_a_patient_share_x_and_y_but_not_the_image():
    x, y, z = Multimodal(patches=10).draw(95, 2, dependent=True)
    assert len(np.unique(x[:, 0])) == 10
    for first in range(0, 95, 10):
        assert len(np.unique(x[first : first + 10, 0])) == len(np.unique(y[first : first + 10])) == 1
    assert len(np.unique(z[:, 0])) == 95


def test_too_few_columns_would_hide_the_traits():
    with pytest.raises(ParameterError, match="24"):
        Multimodal(d_z=23)
