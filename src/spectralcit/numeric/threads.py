"""How many threads linear algebra may use: small problems are quicker with one, by far on a busy machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

__all__ = ["SINGLE_THREAD_ROWS", "single_threaded", "suited_threads"]

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")

# Below it the threads of OpenBLAS wait for each other longer than they work: on two cores a test of 300 rows
# took twice as long with two threads, five times beside a busy process. Above it matrix products dominate.
# The threads of OpenMP, which grow scikit-learn's trees, are worse: on a busy machine hundreds of small trees
# on 400 rows took 64 s of CPU time, and 2 s with one thread.
SINGLE_THREAD_ROWS = 20_000


def suited_threads(n_rows: int) -> AbstractContextManager[Any]:
    """Context in which linear algebra and trees on `n_rows` rows use one thread, or all when that pays.

    One thread also adds up in the same order on every machine with the same library, so small problems give
    the same digits whatever the number of cores.
    """
    if n_rows >= SINGLE_THREAD_ROWS:
        return nullcontext()
    return _controller(len(sys.modules)).limit(limits=1)


def single_threaded(function: Callable[_Arguments, _Answer]) -> Callable[_Arguments, _Answer]:
    """Let a function that never has much linear algebra to do use one thread for it."""

    @wraps(function)
    def limited(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        with suited_threads(0):
            return function(*args, **kwargs)

    return limited


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> Any:
    # Looking for the loaded libraries takes milliseconds: it is done again only after modules were imported.
    # scikit-learn brings OpenMP, numba another one, and whoever only reads a table does without.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
