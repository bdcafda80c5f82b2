from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from spectralcit import ci_test, register
from spectralcit.base import BaseCITest
from spectralcit.numeric.threads import SINGLE_THREAD_ROWS, suited_threads
from spectralcit.registry import unregister
from spectralcit.result import NullDistribution, Outcome


def counts():
    return {(pool["user_api"], pool["num_threads"]) for pool in threadpool_info()}


def test_small_problems_have_one_thread_for_matrices_and_for_trees():
    from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: F401  (brings OpenMP)

    with threadpool_limits(2):
        before = counts()
        with suited_threads(SINGLE_THREAD_ROWS - 1):
            assert counts() == {("blas", 1), ("openmp", 1)}
        assert counts() == before
        with suited_threads(SINGLE_THREAD_ROWS):
            assert counts() == before


def test_scikit_learn_that_comes_later_is_limited_too():
    """A table that was read before any test ran must not fix which libraries are known."""
    program = """
from spectralcit.numeric.threads import suited_threads
with suited_threads(10):
    pass
import sklearn.base
with suited_threads(10):
    pass
import ctypes.util
ctypes.CDLL(ctypes.util.find_library("gomp"))  # as numba does
import wave  # whatever brings a library to Python brings modules
from threadpoolctl import threadpool_info, threadpool_limits
threadpool_limits(2)
with suited_threads(10):
    print({pool["num_threads"] for pool in threadpool_info()}, len(threadpool_info()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("{1} ")


@pytest.fixture
def counting():
    @register("counting-threads")
    class Counting(BaseCITest):
        def _run(self, data, seed):
            return Outcome(float(max(count for _, count in counts())), 1.0, NullDistribution("normal"))

    yield "counting-threads"
    unregister("counting-threads")


def test_every_test_runs_with_one_thread(counting):
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    with threadpool_limits(2):
        assert ci_test(x, y, method=counting).statistic == 1
