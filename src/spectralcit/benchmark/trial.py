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
from .record import Record, TrialKey
from .suite import Cell

__all__ = ["Job", "execute", "failed", "make_job", "replicate_seed"]

_ERROR_LENGTH = 2000  # characters, by hand: a message with its cause, but no array printed in full
_PACKAGES = ("numpy", "scipy", "scikit-learn", "jax")  # those whose versions can move a p-value


@dataclass(frozen=True)
class Job:
    """All that a worker needs; classes and data sets travel along, for it does not know the user's own."""

    key: TrialKey
    attempt: int
    test: type[BaseCITest]
    test_params: dict[str, Any]
    dataset: Dataset
    seed: int


def replicate_seed(root: int, dataset: str, params: str, n: int, dependent: bool, replicate: int) -> int:
    """Seed of a replicate: a pure function of what is drawn, so every test meets the same samples."""
    text = json.dumps([root, dataset, params, n, bool(dependent), replicate])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")


def make_job(cell: Cell, key: TrialKey, attempt: int = 0) -> Job:
    """Gather what a worker needs for one replicate; `attempt` is how often it failed before."""
    return Job(
        key=key,
        attempt=attempt,
        test=get_test(cell.method),
        test_params=dict(cell.test_params),
        dataset=get_dataset(cell.dataset, **cell.dataset_params),
        seed=replicate_seed(
            key.suite_seed, key.dataset, key.dataset_params, key.n, key.dependent, key.replicate
        ),
    )


def execute(job: Job) -> Record:
    """Draw the data, run the test, and return what happened; an exception becomes the error text."""
    key = job.key
    with PeakMemory() as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they belong to the result of a test, not to the terminal of a run
        started = time.perf_counter()
        try:
            # Seed and replicate together: two replicates whose seeds agree by chance still differ.
            rng = np.random.default_rng([job.seed, key.replicate])
            x, y, z = job.dataset.draw(key.n, rng, key.dependent)
            started = time.perf_counter()
            outcome = job.test(random_state=job.seed, **job.test_params).test(x, y, z)
            seconds = time.perf_counter() - started
        except (Exception, SystemExit) as error:
            return failed(job, f"{type(error).__name__}: {error}", time.perf_counter() - started)
    return Record.of(
        key,
        attempt=job.attempt,
        seed=job.seed,
        pvalue=outcome.pvalue,
        statistic=outcome.statistic,
        effect=outcome.effect_size,
        seconds=seconds,
        peak_mb=memory.peak_mb,
        versions=versions(),
        warnings="\n".join(outcome.warnings),
    )


def failed(job: Job, error: str, seconds: float | None = None) -> Record:
    """Return the record of a replicate that has no p-value, after so many seconds."""
    text = error[:_ERROR_LENGTH] or "unknown error"
    return Record.of(
        job.key, attempt=job.attempt, seed=job.seed, seconds=seconds, versions=versions(), error=text
    )


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
