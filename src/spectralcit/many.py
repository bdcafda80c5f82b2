# ruff: noqa: PT028 - test_many is not a pytest function
"""Many tests at once: seeds by position, in batches as the test wants them, these in parallel."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from .base import BaseCITest
from .errors import ParameterError, SpectralCITError
from .inputs import CIData, asked_of
from .making import Method, chosen_method, make_test
from .numeric.streams import resolve_seed
from .progress import Report, progress_reports
from .result import CITestResult
from .workers import check_backend, done

__all__ = ["problem_seeds", "test_many"]

_ROWS = ("groups", "time", "weights", "block_length", "weight_kind")  # keys of a problem


def test_many(
    problems: Iterable[str | Sequence[Any] | Mapping[str, Any]],
    *,
    data: Any = None,
    test: Method | None = None,
    method: Method | None = None,
    n_jobs: int = 1,
    backend: str = "joblib",
    address: str | None = None,
    random_state: int | np.random.Generator | None = None,
    progress: bool | Report = False,
) -> list[CITestResult]:
    """Run one test on many problems.

    Every problem gets its own seed, derived from `random_state` and its position in the list, so neither
    `n_jobs` nor the other problems influence it: ``result.seed`` repeats any of them alone. With the
    published test, problems of one shape are trained together in one compiled loop; single precision then
    makes the p-values agree with those of one-by-one tests up to rounding that training carries along.

    Parameters
    ----------
    problems
        Tuples ``(x, y)`` or ``(x, y, z)``, or mappings with the keys ``x``, ``y`` and possibly ``z``, and
        those by which `ci_test` is told about rows: ``groups``, ``time``, ``weights``, ``block_length``,
        ``weight_kind``. With `data`, names of columns, or formulas: ``"y ~ x | z1 + z2"``.
    data
        A data frame that holds the columns of all problems; one that has its own says so under ``data``.
    test, method
        Two names of one argument: the name of a test, its class or an instance; ``SpectralCIT()`` when not
        given. Without `random_state`, its own one is used.
    n_jobs
        How many to run in parallel; -1 for one per core.
    backend, address
        Where they run: ``"joblib"`` on this machine, or on a cluster of ``"dask"``, ``"ray"`` or ``"spark"``
        at an address, as in `screen`.
    random_state
        Seed of the seeds, or a NumPy Generator, of which one is drawn.
    progress
        Whether to show a bar on a terminal, or a function that is called with the problems done and in total.

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
    check_backend(backend, address)
    arguments = [_arguments(problem, k, data) for k, problem in enumerate(problems)]
    chosen = make_test(chosen_method(test, method))
    root = chosen.random_state if random_state is None else random_state
    seeds = problem_seeds(root, len(arguments))
    results: dict[int, CITestResult] = {}
    # One BLAS thread whatever n_jobs is: another number of threads may add up in another order.
    with threadpool_limits(1), progress_reports(progress, "Testing") as report:
        datas = [_prepared(chosen, each, k) for k, each in enumerate(arguments)]
        work = (
            (batch, [datas[k] for k in batch], [seeds[k] for k in batch]) for batch in _batches(chosen, datas)
        )
        answered = done(
            partial(_run_batch, chosen),
            work,
            n_jobs=n_jobs,
            backend=backend,
            address=address,
            threads=chosen.threads_suffice,
        )
        for (batch, _, _), found in answered:
            for k, result in zip(batch, found, strict=True):
                results.setdefault(k, result)
            report(len(results), len(arguments))
    return [results[k] for k in range(len(arguments))]


# The name starts with "test", and pytest would collect it wherever it is imported.
test_many.__test__ = False  # type: ignore[attr-defined]


def problem_seeds(random_state: int | np.random.Generator | None, n_problems: int) -> list[int]:
    """The seed of every problem; the k-th depends on `random_state` (None draws one) and k only."""
    children = np.random.SeedSequence(resolve_seed(random_state)).spawn(n_problems)
    return [int(child.generate_state(1, np.uint32)[0]) for child in children]


def _arguments(problem: str | Sequence[Any] | Mapping[str, Any], k: int, data: Any) -> dict[str, Any]:
    if isinstance(problem, str):
        given: dict[str, Any] = {"x": problem}
    elif isinstance(problem, Mapping):
        unknown = sorted(set(map(str, problem)) - {"x", "y", "z", "data", *_ROWS})
        if unknown or "x" not in problem or "y" not in problem:
            found = sorted(map(str, problem))
            raise ParameterError(
                f"problem {k} must have the keys x, y and possibly z, data, {', '.join(_ROWS)}; got {found}"
            )
        given = dict(problem)
    elif not hasattr(problem, "__len__") or len(problem) not in (2, 3):
        raise ParameterError(
            f"problem {k} must be (x, y), (x, y, z), a mapping with these keys, or a formula with data="
        )
    else:
        given = dict(zip(("x", "y", "z"), problem, strict=False))
    x, y, z = (given.pop(role, None) for role in ("x", "y", "z"))
    frame = given.pop("data", data)
    try:
        return asked_of(x, y, z, frame, given)
    except Exception as error:
        _name(error, f"problem {k}")
        raise


def _batches(test: BaseCITest, datas: Sequence[CIData]) -> list[list[int]]:
    """As the test wants them, except that data with gaps, which are several problems each, go alone."""
    complete = [k for k, data in enumerate(datas) if data.incomplete is None]
    together = test.batches([datas[k] for k in complete]) if complete else []
    alone = [[k] for k, data in enumerate(datas) if data.incomplete is not None]
    return [*([complete[k] for k in batch] for batch in together), *alone]


def _run_batch(test: BaseCITest, work: tuple[list[int], list[CIData], list[int]]) -> list[CITestResult]:
    batch, datas, seeds = work
    # Worker processes have limits of their own; threads would lift the common one under each other.
    limit = contextlib.nullcontext() if test.threads_suffice else threadpool_limits(1)
    labels = [f"problem {k}" for k in batch]
    with limit:
        try:
            if datas[0].incomplete is not None:
                return [test.run(datas[0], seeds[0])]
            return test.run_batch(datas, seeds, labels)
        except Exception as error:
            _name(error, " or ".join(dict.fromkeys(labels)))
            raise


def _prepared(test: BaseCITest, arguments: Mapping[str, Any], k: int) -> CIData:
    try:
        return test.prepare(**arguments)
    except Exception as error:
        _name(error, f"problem {k}")
        raise


def _name(error: Exception, problem: str) -> None:
    """Say which problem an error is about: our own in their first words, others in a note below them."""
    if not isinstance(error, SpectralCITError):
        error.add_note(f"in {problem}")
    elif "problem " not in str(error):
        error.args = (f"{problem}: {error}", *error.args[1:])
