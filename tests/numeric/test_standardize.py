from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.preprocessing import StandardScaler

from spectralcit.errors import ParameterError
from spectralcit.inputs import Standardizer
from spectralcit.numeric.standardize import CLIP


def test_agrees_with_scikit_learn_on_ordinary_data():
    rng = np.random.default_rng(0)
    train, test = rng.normal(3.0, 7.0, size=(50, 4)), rng.normal(3.0, 7.0, size=(20, 4))
    oracle = StandardScaler().fit(train)
    ours = Standardizer.fit(train)
    np.testing.assert_allclose(ours.transform(train), oracle.transform(train), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.transform(test), oracle.transform(test), rtol=1e-12, atol=1e-12)


def test_only_the_training_rows_matter():
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(30, 2)), rng.normal(size=(10, 2))
    alone = Standardizer.fit(train).transform(test[:1])
    np.testing.assert_array_equal(Standardizer.fit(train).transform(test)[:1], alone)


def test_powers_of_two_make_no_difference_at_any_size():
    values = np.random.default_rng(0).normal(size=(30, 1))
    expected = Standardizer.fit(values).transform(values)
    for exponent in (-1000, -300, 300, 1000):
        scaled = np.ldexp(values, exponent)
        np.testing.assert_array_equal(Standardizer.fit(scaled).transform(scaled), expected)


def test_a_column_that_is_constant_in_training_is_centred_only():
    train = np.array([[0.3], [0.1 + 0.2], [0.3]])  # constant up to rounding
    test = np.array([[0.3], [0.55]])
    out = Standardizer.fit(train).transform(test)
    assert abs(out[0, 0]) < 1e-15
    assert out[1, 0] == pytest.approx(0.25 / 0.25)  # in units of the power of two below 0.3
    np.testing.assert_array_equal(Standardizer.fit(np.zeros((3, 1))).transform(np.zeros((3, 1))), 0.0)


def test_far_test_rows_are_clipped():
    out = Standardizer.fit(np.array([[0.0], [1.0]])).transform(np.array([[1e300], [-1e300], [3.0]]))
    np.testing.assert_array_equal(out[:, 0], [CLIP, -CLIP, 5.0])


anything = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(1, 3)),
    elements=st.floats(allow_nan=False, allow_infinity=False),
)


@given(train=anything, scale=st.floats(-1e308, 1e308))
def test_never_nan_never_infinite(train, scale):
    standardizer = Standardizer.fit(train)
    inside = standardizer.transform(train)
    assert np.isfinite(inside).all()
    assert np.abs(inside).max() <= np.sqrt(len(train)) + 1e-6 or np.ptp(train, axis=0).min() == 0
    assert np.isfinite(standardizer.transform(np.full((2, train.shape[1]), scale))).all()


def test_wrong_shapes_are_refused():
    for bad in (np.zeros(3), np.zeros((0, 2))):
        with pytest.raises(ParameterError, match="shape"):
            Standardizer.fit(bad)
