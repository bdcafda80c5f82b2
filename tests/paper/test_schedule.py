import numpy as np

from spectralcit.paper.config import PaperConfig
from spectralcit.paper.schedule import INNER, OUTER, Streams, schedule


def test_schedule_is_warm_up_then_alternation():
    kinds = schedule(128, 64, PaperConfig(n_epochs=1, n_warmup=2, n_steps_inner=2), conditional=True)
    assert kinds.tolist() == [1, 1, 1, 1, 2, 1, 1, 2]


def test_a_longer_warm_up_leaves_the_outer_batches_alone():
    def outer(n_warmup):
        kinds = np.array([INNER] * n_warmup + [INNER, OUTER] * 5)
        return Streams(np.random.SeedSequence(3), 100, 10).indices(kinds)[kinds == OUTER]

    np.testing.assert_array_equal(outer(0), outer(17))
