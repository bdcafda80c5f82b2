"""Replicates that a worker runs together: tests that share their work, and samples that train together."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..errors import SpectralCITError
from ..registry import get_test
from .memory import PeakMemory
from .record import Record, TrialKey
from .suite import Cell, canonical
from .trial import Answer, Job, answer, drawn, error_text, failed, make_job, quiet, record

__all__ = ["Bundle", "ToDo", "bundled", "jobs_of", "run_bundle", "work_of"]

#: A replicate that is missing in a store: its cell, its name there, and how often it failed before.
ToDo = tuple[Cell, TrialKey, int]
#: Replicates of tests that differ in late parameters alone (`BaseCITest.late_parameters`), on like samples.
Bundle = tuple[Job, ...]


def work_of(cell: Cell) -> tuple[Any, ...]:
    """What takes the time of a cell; cells that agree in it share it."""
    late = get_test(cell.method).late_parameters
    early = {name: value for name, value in cell.test_params.items() if name not in late}
    return cell.method, canonical(early), *cell.key()[3:]


def bundled(todo: Iterable[ToDo], *, batches: bool) -> list[list[ToDo]]:
    """Put together what shares its work and, with `batches`, as many replicates as the test wants.

    Batches are blocks of replicates by number, so that they do not depend on how many there are.
    """
    found: dict[tuple[Any, ...], list[ToDo]] = {}
    for cell, key, attempt in todo:
        size = _batch_size(cell) if batches else 1
        place = (*work_of(cell), key.suite_seed, key.replicate // size)
        found.setdefault(place, []).append((cell, key, attempt))
    return list(found.values())


def _batch_size(cell: Cell) -> int:
    try:
        return get_test(cell.method)(**cell.test_params).together
    except SpectralCITError:  # wrong parameters fail replicate by replicate, on record
        return 1


def jobs_of(group: Iterable[ToDo]) -> Bundle:
    """Gather what a worker needs for one group of `bundled`."""
    return tuple(make_job(*each) for each in group)


def run_bundle(bundle: Bundle) -> list[Record]:
    """Draw the data, run the test once per sample, and return what happened to each replicate, in order."""
    leaders: dict[int, Job] = {}
    for job in bundle:
        leaders.setdefault(job.key.replicate, job)
    said = _in_one_batch(leaders) if len(leaders) > 1 else None
    if said is None:
        said = {replicate: answer(job) for replicate, job in leaders.items()}
    return [_record(job, leaders[job.key.replicate], said[job.key.replicate]) for job in bundle]


def _in_one_batch(leaders: dict[int, Job]) -> dict[int, Answer] | None:
    """Answers to all samples, or None when one of them fails: one by one it is seen which."""
    jobs = list(leaders.values())
    found: dict[int, Answer] = {}
    with PeakMemory() as memory, quiet():
        try:
            test = jobs[0].test(**jobs[0].test_params)
            samples = [drawn(job) for job in jobs]
            started = time.perf_counter()
            datas = [test.prepare(*sample) for sample in samples]
            for group in test.batches(datas):
                labels = [f"replicate {jobs[k].key.replicate}" for k in group]
                results = test.run_batch([datas[k] for k in group], [jobs[k].seed for k in group], labels)
                for k, result in zip(group, results, strict=True):
                    found.setdefault(jobs[k].key.replicate, Answer(result, "", 0.0))
        except (Exception, SystemExit):
            return None
        each = (time.perf_counter() - started) / len(jobs)
    return {k: replace(said, seconds=each, peak_mb=memory.peak_mb) for k, said in found.items()}


def _record(job: Job, leader: Job, said: Answer) -> Record:
    """The replicate of a test that differs in late parameters from the one that was run."""
    if said.result is None or job.test_params == leader.test_params:
        return record(job, said)
    try:
        test = job.test(random_state=job.seed, **job.test_params)
        return record(job, replace(said, result=test.restate(said.result)))
    except Exception as error:
        return failed(job, error_text(error), said.seconds)
