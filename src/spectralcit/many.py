# ruff: noqa: PT028 - test_many is not a pytest function
"""Many tests at once: seeds by position, problems of one shape trained together, the rest in parallel."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from .base import BaseCITest, make_test, resolve_seed
from .errors import ParameterError
from .inputs import CIData, prepare
from .registry import registered_name
from .result import CITestResult

__all__ = ["problem_seeds", "test_many"]

#: Most problems in one compiled group, and most memory for their rows, parameters and activations.
_GROUP_SIZE = 16
_GROUP_BYTES = 512 * 2**20

_Arguments = tuple[Any, Any, Any]


class _Member(NamedTuple):
    """One problem of a group that trains together."""

    position: int
    seed: int
    data: CIData
    pending: Any


def test_many(
    problems: Iterable[Sequence[Any] | Mapping[str, Any]],
    *,
    test: str | type[BaseCITest] | BaseCITest | None = None,
    n_jobs: int = 1,
    random_state: int | None = None,
    progress: bool = False,
) -> list[CITestResult]:
    """Run one test on many problems.

    Every problem gets its own seed, derived from `random_state` and its position in the list, so neither
    `n_jobs` nor the other problems influence it: ``result.seed`` repeats any of them alone. For the published
    test, problems of one shape are trained together in one compiled loop; single precision then makes the
    p-values agree with those of one-by-one tests up to rounding that training carries along.

    Parameters
    ----------
    problems
        Tuples ``(x, y)`` or ``(x, y, z)``, or mappings with the keys ``x``, ``y`` and possibly ``z``.
    test
        Its name, its class or an instance; ``SpectralCIT()`` when not given. Without `random_state`, its own
        one is used.
    n_jobs
        How many to run in parallel; -1 for one per core.
    random_state
        Seed of the seeds.
    progress
        Whether to show a progress bar.

    Returns
    -------
    list of CITestResult
        In the order of the problems.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralcit.paper.test import PaperSpectralCIT
    >>> rng = np.random.default_rng(0)
    >>> problems = [rng.normal(size=(2, 200)) for _ in range(3)]
    >>> test = PaperSpectralCIT(output_dim=2, layer_size_u=8, layer_size_v=8, n_epochs=3)
    >>> [result.n for result in test_many(problems, test=test, random_state=0)]
    [200, 200, 200]
    """
    arguments = [_arguments(problem, k) for k, problem in enumerate(problems)]
    test = make_test("spectral" if test is None else test)
    root = test.random_state if random_state is None else random_state
    seeds = problem_seeds(root, len(arguments))
    if registered_name(type(test)) == "spectral-paper":
        work = _grouped(test, arguments, seeds)
        # Compiled loops run outside the interpreter lock, and threads share what was compiled.
        parallel = Parallel(n_jobs=n_jobs, return_as="generator", backend="threading")
    else:
        jobs = zip(arguments, seeds, strict=True)
        work = [delayed(_run_one)(test, k, *job) for k, job in enumerate(jobs)]
        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    results: list[CITestResult | None] = [None] * len(arguments)
    for k, result in _shown(_flattened(parallel(work)), len(arguments), progress):
        results[k] = result
    return [result for result in results if result is not None]


# The name starts with "test", and pytest would collect it wherever it is imported.
test_many.__test__ = False  # type: ignore[attr-defined]


def problem_seeds(random_state: int | None, n_problems: int) -> list[int]:
    """The seed of every problem; the k-th depends on `random_state` and k only.

    Parameters
    ----------
    random_state
        Seed of the seeds; ``None`` draws one from the operating system.
    n_problems
        How many.

    Examples
    --------
    >>> problem_seeds(0, 3)[:2] == problem_seeds(0, 2)
    True
    """
    children = np.random.SeedSequence(resolve_seed(random_state)).spawn(n_problems)
    return [int(child.generate_state(1, np.uint32)[0]) for child in children]


def _arguments(problem: Sequence[Any] | Mapping[str, Any], k: int) -> _Arguments:
    if isinstance(problem, Mapping):
        unknown = sorted(set(map(str, problem)) - {"x", "y", "z"})
        if unknown or "x" not in problem or "y" not in problem:
            found = sorted(map(str, problem))
            raise ParameterError(f"problem {k} must have the keys x, y and possibly z, got {found}")
        return problem["x"], problem["y"], problem.get("z")
    if not hasattr(problem, "__len__") or len(problem) not in (2, 3):
        raise ParameterError(f"problem {k} must be (x, y), (x, y, z) or a mapping with these keys")
    return problem[0], problem[1], problem[2] if len(problem) == 3 else None


def _run_one(test: BaseCITest, k: int, arguments: _Arguments, seed: int) -> list[tuple[int, CITestResult]]:
    # One BLAS thread whatever n_jobs is: another number of threads may add up in another order.
    with threadpool_limits(1):
        return [(k, clone(test).set_params(random_state=seed).test(*arguments))]


def _grouped(test: Any, arguments: list[_Arguments], seeds: list[int]) -> list[Any]:
    """One job per group of problems that train together; groups do not depend on the number of jobs."""
    by_shape: dict[tuple[int, ...], list[_Member]] = {}
    for k, (each, seed) in enumerate(zip(arguments, seeds, strict=True)):
        data = prepare(*each, missing=test.missing, min_rows=test.min_rows)
        pending = test.begin(data, seed, label=f"problem {k}")
        by_shape.setdefault(pending.problem.shape, []).append(_Member(k, seed, data, pending))
    jobs = []
    for shape, members in by_shape.items():
        n_groups = math.ceil(len(members) / _group_capacity(shape, test.config))
        size = math.ceil(len(members) / n_groups)
        for start in range(0, len(members), size):
            jobs.append(delayed(_run_group)(test, members[start : start + size], size))
    return jobs


def _group_capacity(shape: tuple[int, ...], config: Any) -> int:
    n_rows, *columns = shape
    widths = sum(getattr(config, f"n_hidden_{net}") * getattr(config, f"layer_size_{net}") for net in "uvw")
    depth = max(getattr(config, f"layer_size_{net}") for net in "uvw")
    # Rows; activations and their gradients; parameters with gradient and two moments. Four bytes each.
    floats = 3 * n_rows * sum(columns) + 3 * min(config.batch_size, n_rows) * widths + 4 * widths * depth
    return max(1, min(_GROUP_SIZE, _GROUP_BYTES // (4 * floats)))


def _run_group(test: Any, group: list[_Member], size: int) -> list[tuple[int, CITestResult]]:
    from .paper.bilevel import train

    started = time.perf_counter()
    problems = [member.pending.problem for member in group]
    # The last groups may be one short; a repeated problem is cheaper than compiling another size.
    padded = problems + [problems[0]] * (size - len(problems))
    models = train(padded, test.config)
    outcomes = [test.finish(member.pending, model) for member, model in zip(group, models, strict=False)]
    each = (time.perf_counter() - started) / len(group)
    return [
        (member.position, test._wrap(outcome, member.data, member.seed, seconds=each))
        for member, outcome in zip(group, outcomes, strict=True)
    ]


def _flattened(batches: Iterable[list[tuple[int, CITestResult]]]) -> Iterator[tuple[int, CITestResult]]:
    for batch in batches:
        yield from batch


def _shown(
    results: Iterator[tuple[int, CITestResult]], total: int, progress: bool
) -> Iterable[tuple[int, CITestResult]]:
    if not progress:
        return results
    from rich.progress import track

    return track(results, description="Testing", total=total)
