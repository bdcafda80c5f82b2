"""Mini-batches: sizes for few rows, and walks through shuffles."""

import itertools

import numpy as np
import pytest

from spectralcit.errors import TooFewRowsError
from spectralcit.learning.batches import effective_batch_size, shuffled_batches


@pytest.mark.parametrize(
    "n, batch, expected", [(1000, 256, 256), (256, 256, 256), (255, 256, 224), (31, 256, 31)]
)
def test_batch_size_for_few_rows(n, batch, expected):
    assert effective_batch_size(n, batch) == expected


def test_one_row_is_too_few():
    with pytest.raises(TooFewRowsError):
        effective_batch_size(1, 256)


def test_every_walk_visits_each_row_at_most_once():
    walk = shuffled_batches(np.random.default_rng(0), 100, 30, keep_rest=False)
    for _ in range(3):
        visited = np.concatenate(list(itertools.islice(walk, 3)))
        assert len(set(visited.tolist())) == 90


def test_a_walk_that_keeps_the_rest_visits_all_rows_equally_often():
    walk = shuffled_batches(np.random.default_rng(0), 100, 30, keep_rest=True)
    visited = np.concatenate(list(itertools.islice(walk, 10)))
    assert (np.bincount(visited) == 3).all()
