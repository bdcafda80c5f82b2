"""One replicate: its seed, what a worker needs to run it, and what comes back."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import platform
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base import BaseCITest
from ..datasets import Dataset, get_dataset
from ..registry import get_test
from ..result import CITestResult
from .memory import PeakMemory
from .record import Record, TrialKey
from .suite import Cell

__all__ = [
    "Answer",
    "Job",
    "answer",
    "drawn",
    "error_text",
    "execute",
    "failed",
    "make_job",
    "quiet",
    "record",
    "replicate_seed",
]

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
    """Draw the data, run the test, and return what happened."""
    return record(job, answer(job))


@dataclass(frozen=True)
class Answer:
    """What a test said of one sample, or the error, with the time and memory that it took."""

    result: CITestResult | None
    error: str
    seconds: float
    peak_mb: float | None = None


def drawn(job: Job) -> tuple[Any, Any, Any]:
    """Draw the sample of a replicate."""
    # Seed and replicate together: two replicates whose seeds agree by chance still differ.
    rng = np.random.default_rng([job.seed, job.key.replicate])
    return job.dataset.draw(job.key.n, rng, job.key.dependent)


def answer(job: Job) -> Answer:
    """Draw the data and run the test; an exception becomes the error text."""
    with PeakMemory() as memory, quiet():
        started = time.perf_counter()
        try:
            x, y, z = drawn(job)
            started = time.perf_counter()
            result = job.test(random_state=job.seed, **job.test_params).test(x, y, z)
        except (Exception, SystemExit) as error:
            return Answer(None, error_text(error), time.perf_counter() - started)
        seconds = time.perf_counter() - started
    return Answer(result, "", seconds, memory.peak_mb)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep warnings off the terminal of a run: they belong to the result of a test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def error_text(error: BaseException) -> str:
    """Type and message."""
    return f"{type(error).__name__}: {error}"


def record(job: Job, said: Answer) -> Record:
    """Return the record of a replicate from what its test said."""
    result = said.result
    if result is None:
        return failed(job, said.error, said.seconds)
    return Record.of(
        job.key,
        attempt=job.attempt,
        seed=job.seed,
        pvalue=result.pvalue,
        statistic=result.statistic,
        effect=result.effect_size,
        seconds=said.seconds,
        peak_mb=said.peak_mb,
        versions=versions(*_packages(job)),
        warnings="\n".join(result.warnings),
    )


def failed(job: Job, error: str, seconds: float | None = None) -> Record:
    """Return the record of a replicate that has no p-value, after so many seconds."""
    text = error[:_ERROR_LENGTH] or "unknown error"
    return Record.of(
        job.key,
        attempt=job.attempt,
        seed=job.seed,
        seconds=seconds,
        versions=versions(*_packages(job)),
        error=text,
    )


def _packages(job: Job) -> tuple[str, ...]:
    """Packages that a test names because its p-values depend on them too."""
    return getattr(job.test, "packages", ())


@functools.cache
def versions(*more: str) -> str:
    """Versions of Python and of the packages that p-values depend on, as one line."""
    from .. import __version__

    parts = [f"spectralcit {__version__}", f"python {platform.python_version()}"]
    for package in (*_PACKAGES, *more):
        try:
            parts.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(parts)
