from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralcit.errors import ParameterError
from spectralcit.inputs import halves, train_test_rows

seeds = st.integers(0, 2**32 - 1)


@given(n=st.integers(2, 500), fraction=st.floats(0.001, 0.999), seed=seeds)
def test_train_and_test_partition_the_rows(n, fraction, seed):
    train, test = train_test_rows(n, fraction, np.random.default_rng(seed))
    assert sorted([*train, *test]) == list(range(n))
    assert list(train) == sorted(train)
    assert list(test) == sorted(test)
    assert min(len(train), len(test)) >= 1
    assert abs(len(test) - fraction * n) <= 1


@given(n=st.integers(2, 501), seed=seeds)
def test_halves_partition_the_rows(n, seed):
    first, second = halves(n, np.random.default_rng(seed))
    assert sorted([*first, *second]) == list(range(n))
    assert len(second) - len(first) == n % 2


def test_same_seed_same_split_and_other_seed_other_split():
    first, again, other = (train_test_rows(100, 0.2, np.random.default_rng(s))[1] for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert set(first) != set(other)


def test_every_row_is_equally_likely_to_be_a_test_row():
    counts = np.zeros(10)
    for seed in range(2000):
        counts[train_test_rows(10, 0.2, np.random.default_rng(seed))[1]] += 1
    # 2000 draws with probability 0.2: mean 400, standard deviation below 18.
    assert np.abs(counts - 400).max() < 5 * 18


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.1, float("nan")])
def test_fraction_out_of_range(fraction):
    with pytest.raises(ParameterError, match="test_fraction"):
        train_test_rows(10, fraction, np.random.default_rng(0))


def test_one_row_cannot_be_split():
    with pytest.raises(ParameterError, match="two rows"):
        train_test_rows(1, 0.5, np.random.default_rng(0))
    with pytest.raises(ParameterError, match="two rows"):
        halves(1, np.random.default_rng(0))
