"""`Record`: one replicate with named fields, the same from the worker through the store to the page."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

__all__ = ["KEY", "Record", "TrialKey"]


@dataclass(frozen=True, order=True)
class TrialKey:
    """What names a replicate in a store, in plain types; parameters as `canonical` writes them."""

    test: str
    method: str
    test_params: str
    dataset: str
    dataset_params: str
    n: int
    dependent: bool
    suite_seed: int
    replicate: int

    @property
    def cell(self) -> tuple[Any, ...]:
        """What the replicates of a cell share: all but the last two."""
        return tuple(getattr(self, name) for name in KEY[:-2])


KEY = tuple(field.name for field in fields(TrialKey))  # with the number of the attempt, once in a store


@dataclass(frozen=True)
class Record(TrialKey):
    """One replicate: what was run, and what came of it.

    Parameters
    ----------
    test, method, test_params
        What the test is called in tables, its registered name, and its parameters as JSON.
    dataset, dataset_params, n, dependent
        What was drawn; parameters as JSON.
    suite_seed, replicate
        Seed of the suite, and number of the replicate from 0.
    attempt
        0, or how often the replicate failed before.
    seed
        Of the data and of the test.
    pvalue, statistic, effect
        Of the test; ``None`` when it failed.
    seconds
        The test alone, without drawing the data; of a failure, how long it took until then.
    peak_mb
        Largest resident memory of the worker process while the replicate ran, in megabytes.
    versions
        Of the packages, on the worker.
    warnings
        Of the result, a line each.
    error
        Empty, or type and text of the exception.
    """

    attempt: int = 0
    seed: int = 0
    pvalue: float | None = None
    statistic: float | None = None
    effect: float | None = None
    seconds: float | None = None
    peak_mb: float | None = None
    versions: str = ""
    error: str = ""
    warnings: str = ""

    @classmethod
    def of(cls, key: TrialKey, **values: Any) -> Record:
        """Make the record of a replicate from its key and what came of it."""
        return cls(**vars(key), **values)

    @property
    def key(self) -> TrialKey:
        """Name of the replicate."""
        return TrialKey(*(getattr(self, name) for name in KEY))
