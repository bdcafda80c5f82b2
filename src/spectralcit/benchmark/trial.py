"""One replicate: its seed, what a worker needs to run it, and what comes back."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import platform
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base import BaseCITest
from ..datasets import Dataset, get_dataset
from ..registry import get_test
from .memory import PeakMemory
from .spec import Cell, Suite

__all__ = ["Job", "Result", "execute", "make_job", "replicate_seed", "trial_key"]

TrialKey = tuple[str, str, str, str, str, int, bool, int, int]
_ERROR_LENGTH = 2000
_PACKAGES = ("numpy", "scipy", "scikit-learn", "jax")


@dataclass(frozen=True)
class Job:
    """All that a worker needs; classes and data sets travel along, for a worker does not know the user's own.

    Parameters
    ----------
    key
        Names the replicate in the store.
    attempt
        0, or how often the replicate failed before.
    test, test_params
        The class and its parameters.
    dataset, n, dependent
        What to draw.
    seed
        Of the data and of the test.
    """

    key: TrialKey
    attempt: int
    test: type[BaseCITest]
    test_params: dict[str, Any]
    dataset: Dataset
    n: int
    dependent: bool
    seed: int


@dataclass(frozen=True)
class Result:
    """What became of a replicate; with an `error` the p-value is ``None``.

    Parameters
    ----------
    key, attempt, seed
        As in `Job`.
    pvalue, statistic, effect
        Of the test.
    seconds
        The test alone, without drawing the data; of a failure, how long it took until then.
    peak_mb
        Largest resident memory of the worker process while the replicate ran, in megabytes.
    versions
        Of the packages, on the worker.
    error
        Empty, or type and text of the exception.
    """

    key: TrialKey
    attempt: int
    seed: int
    pvalue: float | None
    statistic: float | None
    effect: float | None
    seconds: float | None
    peak_mb: float | None
    versions: str
    error: str


def replicate_seed(root: int, dataset: str, params: str, n: int, dependent: bool, replicate: int) -> int:
    """Seed of a replicate: a pure function of what is drawn, so every test meets the same samples.

    Parameters
    ----------
    root
        Seed of the suite.
    dataset, params, n, dependent, replicate
        What is drawn; `params` as `canonical` writes them.

    Examples
    --------
    >>> replicate_seed(0, "sin-cos", "{}", 100, False, 0) == replicate_seed(0, "sin-cos", "{}", 100, False, 1)
    False
    """
    text = json.dumps([root, dataset, params, n, bool(dependent), replicate])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")


def trial_key(suite: Suite, cell: Cell, replicate: int) -> TrialKey:
    """Name of a replicate in the store.

    Parameters
    ----------
    suite, cell, replicate
        Which one.
    """
    return (*cell.key(), suite.seed, replicate)


def make_job(cell: Cell, key: TrialKey, attempt: int = 0) -> Job:
    """Gather what a worker needs for one replicate.

    Parameters
    ----------
    cell
        The cell of the replicate.
    key
        From `trial_key`.
    attempt
        How often the replicate failed before.
    """
    _, _, _, dataset, params, n, dependent, root, replicate = key
    return Job(
        key=key,
        attempt=attempt,
        test=get_test(cell.method),
        test_params=dict(cell.test_params),
        dataset=get_dataset(cell.dataset, **cell.dataset_params),
        n=n,
        dependent=dependent,
        seed=replicate_seed(root, dataset, params, n, dependent, replicate),
    )


def execute(job: Job) -> Result:
    """Draw the data, run the test, and return what happened; an exception becomes the error text.

    Parameters
    ----------
    job
        The replicate.
    """
    with PeakMemory() as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they belong to the result of a test, not to the terminal of a run
        started = time.perf_counter()
        try:
            # Seed and replicate together: two replicates whose seeds agree by chance still differ.
            x, y, z = job.dataset.draw(job.n, np.random.default_rng([job.seed, job.key[-1]]), job.dependent)
            started = time.perf_counter()
            outcome = job.test(random_state=job.seed, **job.test_params).test(x, y, z)
            seconds = time.perf_counter() - started
        except (Exception, SystemExit) as error:
            return failed(job, f"{type(error).__name__}: {error}", time.perf_counter() - started)
    return Result(
        key=job.key,
        attempt=job.attempt,
        seed=job.seed,
        pvalue=outcome.pvalue,
        statistic=outcome.statistic,
        effect=outcome.effect_size,
        seconds=seconds,
        peak_mb=memory.peak_mb,
        versions=versions(),
        error="",
    )


def failed(job: Job, error: str, seconds: float | None = None) -> Result:
    """Return the record of a replicate that has no p-value.

    Parameters
    ----------
    job
        The replicate.
    error
        What went wrong.
    seconds
        How long it took until then.
    """
    text = error[:_ERROR_LENGTH] or "unknown error"
    return Result(job.key, job.attempt, job.seed, None, None, None, seconds, None, versions(), text)


@functools.cache
def versions() -> str:
    """Versions of Python and of the packages that p-values depend on, as one line."""
    from .. import __version__

    parts = [f"spectralcit {__version__}", f"python {platform.python_version()}"]
    for package in _PACKAGES:
        try:
            parts.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(parts)
