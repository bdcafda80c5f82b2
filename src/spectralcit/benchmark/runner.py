"""`Runner`: how replicates are run, one bundle for ``bench run``, ``reproduce`` and ``tune``."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ParameterError
from .memory import can_watch
from .sandbox import Limits

if TYPE_CHECKING:
    from .run import Step

__all__ = ["Runner"]


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Where and how replicates run; none of it changes a p-value by more than rounding.

    Parameters
    ----------
    backend
        ``"serial"`` (this process: a test that kills its process ends the run), ``"joblib"`` (processes of
        this machine), ``"dask"`` or ``"ray"``.
    n_jobs
        Workers on this machine, -1 for one per core. Not used with an address, nor with a running cluster.
    address
        Of a running Dask scheduler or Ray head. Without one the client or connection of this process is used,
        and without that a cluster is started on this machine for the run.
    time_limit
        Seconds that a replicate may take; a longer one is killed and recorded as a failure.
    memory_limit
        Megabytes that the process of a replicate may hold, likewise (Linux only).
    retry_failures
        Run those again whose last attempt failed.
    batches
        Whether replicates of tests that run them quicker in batches are run so, if there are no limits. Their
        p-values may differ in rounding from those of one by one.
    progress
        Called with a `Step` after each replicate, and once before the first.
    """

    backend: str = "joblib"
    n_jobs: int = 1
    address: str | None = None
    time_limit: float | None = None
    memory_limit: float | None = None
    retry_failures: bool = False
    batches: bool = True
    progress: Callable[[Step], None] | None = None

    def __post_init__(self) -> None:
        n_jobs = self.n_jobs
        if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or (n_jobs < 1 and n_jobs != -1):
            raise ParameterError(f"n_jobs must be a positive integer or -1, got {n_jobs!r}")
        for name in ("time_limit", "memory_limit"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ParameterError(f"{name} must be positive, got {value!r}")
        if self.memory_limit is not None and not can_watch():
            raise ParameterError("memory_limit needs /proc, which this system does not have; leave it out")

    @property
    def limits(self) -> Limits:
        """What a replicate may use."""
        return Limits(self.time_limit, self.memory_limit)

    @property
    def in_batches(self) -> bool:
        """Whether several replicates may run as one; limits are those of a single one."""
        return self.batches and not self.limits.any

    @property
    def workers(self) -> int:
        """Number of workers on this machine."""
        return (os.cpu_count() or 1) if self.n_jobs == -1 else self.n_jobs
