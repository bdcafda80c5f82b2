import itertools

import numpy as np
import pytest

from spectralcit.errors import TooFewRowsError
from spectralcit.paper.config import PaperConfig
from spectralcit.paper.schedule import (
    IDLE,
    INNER,
    OUTER,
    Streams,
    _shuffled_batches,
    effective_batch_size,
    schedule,
)


@pytest.mark.parametrize(
    "n, batch, expected", [(1000, 256, 256), (256, 256, 256), (255, 256, 224), (31, 256, 31)]
)
def test_batch_size_for_few_rows(n, batch, expected):
    assert effective_batch_size(n, batch) == expected


def test_one_row_is_too_few():
    with pytest.raises(TooFewRowsError):
        effective_batch_size(1, 256)


def test_schedule_is_warm_up_then_alternation():
    kinds = schedule(128, 64, PaperConfig(n_epochs=1, n_warmup=2, n_steps_inner=2), conditional=True)
    assert kinds.tolist() == [1, 1, 1, 1, 2, 1, 1, 2]


def test_every_walk_visits_each_row_at_most_once():
    walk = _shuffled_batches(np.random.default_rng(0), 100, 30)
    for _ in range(3):
        visited = np.concatenate(list(itertools.islice(walk, 3)))
        assert len(set(visited.tolist())) == 90


def test_idle_steps_draw_nothing():
    def walk(kinds):
        return Streams(np.random.SeedSequence(3), 100, 10).indices(np.array(kinds))

    with_pause = walk([INNER, IDLE, OUTER, INNER])
    np.testing.assert_array_equal(with_pause[[0, 2, 3]], walk([INNER, OUTER, INNER]))


def test_a_longer_warm_up_leaves_the_outer_batches_alone():
    def outer(n_warmup):
        kinds = np.array([INNER] * n_warmup + [INNER, OUTER] * 5)
        return Streams(np.random.SeedSequence(3), 100, 10).indices(kinds)[kinds == OUTER]

    np.testing.assert_array_equal(outer(0), outer(17))
