"""P-values of many queries: grouped by conditioning set, shared, in parallel, and stored as they come."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from joblib import Parallel, delayed, effective_n_jobs

from ..base import BaseCITest
from ..errors import SpectralCITError, SpectralCITWarning
from ..inputs import Block, CIData
from ..inputs.encode import encode
from ..inputs.read import Table
from ..numeric.threads import suited_threads
from ..progress import Report, progress_reports
from .copies import prints
from .queries import Query, QueryTester, query_seed
from .store import PValueStore

__all__ = ["Evaluator", "pvalues_given"]

Pair = tuple[int, int]
Chunk = tuple[tuple[int, ...], list[Pair]]

_CHUNK_PAIRS = 64  # of one conditioning set: enough to share its decomposition, few enough to store often
# A level with more tests, or one that takes longer, is announced: by hand, so that nobody waits unawares.
_MANY_TESTS = 20_000
_LONG_SECONDS = 600.0


def pvalues_given(tester: QueryTester, given: tuple[int, ...], pairs: Sequence[Pair]) -> list[float]:
    """P-values of pairs (i, j), i < j, given one sorted set of nodes; each equals ``tester.pvalue(...)``.

    Columns are encoded once for all pairs, and a test that can share more does (`BaseCITest.share`). Data
    with missing values and nodes that share columns go through the tester, one query at a time.
    """
    involved = sorted({*given, *(node for pair in pairs for node in pair)})
    if tester.rows or not _takes_blocks(tester.test) or not _distinct_and_complete(tester, involved):
        return [tester.pvalue(i, j, given) for i, j in pairs]
    blocks = {node: _block(tester, [node], "x") for node in involved if node not in given}
    z = _block(tester, given, "z") if given else None
    seed = query_seed(tester.random_state, (*pairs[0], given))
    with suited_threads(tester.n_rows):  # as a test on its own runs
        shared = tester.test.share(blocks, z, seed=seed)
        if shared is not None:
            return [shared.pvalue(i, j) for i, j in pairs]
    return [_pvalue(tester, (i, j, given), blocks, z, seed) for i, j in pairs]


def _pvalue(
    tester: QueryTester, query: Query, blocks: Mapping[int, Block], z: Block | None, seed: int
) -> float:
    data = CIData(blocks[query[0]], blocks[query[1]], z, tester.n_rows, 0, ())
    try:
        return tester.test.run(data, seed).pvalue
    except SpectralCITError:
        return tester.pvalue(*query)  # which fails likewise, and names the query


def _takes_blocks(test: BaseCITest) -> bool:
    """Whether the base prepares the data of this class, so that blocks made here are the same."""
    return type(test).test is BaseCITest.test and type(test).prepare is BaseCITest.prepare


def _block(tester: QueryTester, nodes: Iterable[int], role: str) -> Block:
    return encode(Table(role, tuple(tester.block(nodes))))[0]


def _distinct_and_complete(tester: QueryTester, nodes: Sequence[int]) -> bool:
    columns = tester.block(nodes)
    if any(column.missing.any() for column in columns):
        return False
    marks = [mark for column in columns for mark in prints(column)]
    return len(set(marks)) == len(marks)


class Evaluator:
    """Answers the queries of one level after the other; what the store knows is not computed again."""

    def __init__(
        self,
        tester: QueryTester,
        store: PValueStore,
        *,
        n_jobs: int | None = 1,
        progress: bool | Report = False,
    ) -> None:
        self.tester = tester
        self.store = store
        self.n_jobs = effective_n_jobs(n_jobs)
        self.progress = progress
        self.n_computed = 0  # tests that were made, not read from the store

    def __call__(self, queries: Sequence[Query], depth: int) -> Mapping[Query, float]:
        """P-values of the queries of a level, which are sorted by conditioning set, of size `depth`."""
        left = [query for query in queries if query not in self.store.known]
        started, done, warned = time.monotonic(), 0, False
        with progress_reports(self.progress, _level(depth)) as report:
            report(len(queries) - len(left), len(queries))
            for results in self._computed(left):
                self.store.add(results)
                done += len(results)
                self.n_computed += len(results)
                report(len(queries) - len(left) + done, len(queries))
                if not warned and done >= min(_CHUNK_PAIRS, len(left)):
                    _warn_if_long(len(left), depth, (time.monotonic() - started) / done * (len(left) - done))
                    warned = True
        return self.store.known

    def _computed(self, queries: Sequence[Query]) -> Iterator[list[tuple[Query, float]]]:
        chunks = list(_chunks(queries, self.n_jobs))
        if self.n_jobs == 1 or len(chunks) == 1:
            return (_evaluate(self.tester, *chunk) for chunk in chunks)
        parallel = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
        return parallel(delayed(_evaluate)(self.tester, *chunk) for chunk in chunks)


def _chunks(queries: Sequence[Query], n_jobs: int) -> Iterator[Chunk]:
    """Cut the pairs of each conditioning set in pieces, so that every process gets some."""
    for given, members in groupby(queries, key=lambda query: query[2]):
        pairs = [(i, j) for i, j, _ in members]
        size = min(_CHUNK_PAIRS, math.ceil(len(pairs) / n_jobs) if len(pairs) >= 8 * n_jobs else len(pairs))
        for start in range(0, len(pairs), size):
            yield given, pairs[start : start + size]


def _evaluate(tester: QueryTester, given: tuple[int, ...], pairs: list[Pair]) -> list[tuple[Query, float]]:
    pvalues = pvalues_given(tester, given, pairs)
    return [((i, j, given), pvalue) for (i, j), pvalue in zip(pairs, pvalues, strict=True)]


def _level(depth: int) -> str:
    return f"tests given {depth} other {'column' if depth == 1 else 'columns'}" if depth else "tests of pairs"


def _warn_if_long(count: int, depth: int, seconds: float) -> None:
    if count > _MANY_TESTS or seconds > _LONG_SECONDS:
        minutes = f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"
        warnings.warn(
            f"conditioning sets of size {depth} need {count:,} tests, about {minutes} more at the present "
            "pace. More processes (n_jobs), a quicker test ('fisher-z'), a smaller max_depth or fewer "
            "columns shorten that; with a store, what is done is not lost.",
            SpectralCITWarning,
            stacklevel=5,
        )
