"""From replicates to rates with intervals, uniformity, time, and a ranking."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from .record import Record
from .suite import Suite

__all__ = ["CellSummary", "Rank", "broken_levels", "of_suite", "ranking", "summarise", "wilson"]


@dataclass(frozen=True)
class CellSummary:
    """What the replicates of one cell say.

    Parameters
    ----------
    test, dataset, params, n, dependent
        The cell; `params` are those of the data set.
    pvalues
        Of the replicates that have one, in the order of replicates.
    failures
        Replicates without a p-value.
    rate, low, high
        Share of p-values at or below the level, and its 95 % Wilson interval; NaN without p-values.
    uniformity
        P-value of the Kolmogorov-Smirnov test against the uniform law, under the null hypothesis; else NaN.
    seconds, peak_mb
        Medians; NaN without p-values.
    """

    test: str
    dataset: str
    params: dict[str, Any]
    n: int
    dependent: bool
    pvalues: tuple[float, ...]
    failures: int
    rate: float
    low: float
    high: float
    uniformity: float
    seconds: float
    peak_mb: float

    @property
    def replicates(self) -> int:
        """Number of p-values."""
        return len(self.pvalues)

    @property
    def workload(self) -> tuple[str, str, int]:
        """Data set, parameters and number of rows: what a null hypothesis and its alternative share."""
        return self.dataset, json.dumps(self.params, sort_keys=True), self.n


@dataclass(frozen=True)
class Rank:
    """One line of the ranking."""

    test: str
    # Mean over the alternatives of the power, which counts as zero where the level is broken on the null
    # hypothesis of the same workload. A failure counts as no rejection.
    score: float
    power: float  # mean, whether or not the level holds
    nulls: int
    broken: int  # nulls that are rejected significantly too often; see `broken_levels`
    worst: float  # largest rate under a null hypothesis
    alternatives: int
    failures: int  # replicates without a p-value
    seconds: float  # median over the cells of the median time


def of_suite(records: Iterable[Record], suite: Suite) -> list[Record]:
    """Keep the records that belong to a suite."""
    wanted = {suite.key(cell, r) for cell in suite.cells for r in range(cell.replicates)}
    return [record for record in records if record.key in wanted]


def summarise(records: Iterable[Record], *, alpha: float = 0.05) -> list[CellSummary]:
    """Summarise replicates cell by cell, in a fixed order.

    Parameters
    ----------
    records
        From a store.
    alpha
        The level.
    """
    cells: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda r: r.key):
        cells[record.key.cell].append(record)
    return sorted((_summary(members, alpha) for members in cells.values()), key=_place)


def _place(summary: CellSummary) -> tuple[Any, ...]:
    """Where a cell stands in a table: numbers by size, not by their first digit."""
    params = tuple(
        (name, (0, value, "") if isinstance(value, (int, float)) else (1, 0, str(value)))
        for name, value in sorted(summary.params.items())
    )
    return summary.dataset, params, summary.n, summary.dependent, summary.test


def _summary(members: Sequence[Record], alpha: float) -> CellSummary:
    from scipy import stats

    first = members[0]
    done = [r for r in members if r.pvalue is not None]
    pvalues = tuple(r.pvalue for r in done if r.pvalue is not None)
    rejected = sum(p <= alpha for p in pvalues)
    low, high = wilson(rejected, len(pvalues))
    uniform = math.nan
    if pvalues and not first.dependent:
        uniform = float(stats.kstest(pvalues, "uniform").pvalue)
    return CellSummary(
        test=first.test,
        dataset=first.dataset,
        params=json.loads(first.dataset_params),
        n=first.n,
        dependent=first.dependent,
        pvalues=pvalues,
        failures=len(members) - len(done),
        rate=rejected / len(pvalues) if pvalues else math.nan,
        low=low,
        high=high,
        uniformity=uniform,
        seconds=_median(r.seconds for r in done),
        peak_mb=_median(r.peak_mb for r in done),
    )


def broken_levels(
    summaries: Sequence[CellSummary], *, alpha: float = 0.05
) -> set[tuple[str, tuple[str, str, int]]]:
    """Tests and workloads whose null hypothesis is rejected more often than chance explains.

    Under a test that holds its level the number of rejections is at most binomial. A level counts as broken
    when that many or more have a probability below 0.05, divided by the number of null hypotheses of the test
    (Bonferroni): among a hundred honest cells some look bad by luck.
    """
    from scipy import stats

    nulls = [s for s in summaries if not s.dependent and s.replicates]
    number = {test: sum(s.test == test for s in nulls) for test in {s.test for s in nulls}}
    found = set()
    for s in nulls:
        rejected = sum(p <= alpha for p in s.pvalues)
        if stats.binom.sf(rejected - 1, s.replicates, alpha) < 0.05 / number[s.test]:
            found.add((s.test, s.workload))
    return found


def wilson(count: int, total: int) -> tuple[float, float]:
    """95 % Wilson interval of a share."""
    if total == 0:
        return math.nan, math.nan
    z2 = 1.959963984540054**2
    centre = (count + z2 / 2) / (total + z2)
    half = math.sqrt(z2 * (count * (total - count) / total + z2 / 4)) / (total + z2)
    return max(0.0, centre - half), min(1.0, centre + half)


def ranking(summaries: Sequence[CellSummary], *, alpha: float = 0.05) -> list[Rank]:
    """Rank tests by the power they have where they hold the level; see `Rank`.

    Parameters
    ----------
    summaries
        From `summarise`, with the same level.
    alpha
        The level.
    """
    tests = dict.fromkeys(s.test for s in summaries)
    ranks = [_rank(test, [s for s in summaries if s.test == test], alpha) for test in tests]
    return sorted(ranks, key=lambda rank: (-rank.score if rank.alternatives else 0.0, rank.broken, rank.test))


def _rank(test: str, own: Sequence[CellSummary], alpha: float) -> Rank:
    nulls = [s for s in own if not s.dependent]
    alternatives = [s for s in own if s.dependent]
    broken = {workload for _, workload in broken_levels(nulls, alpha=alpha)}
    power = [_rejections(s, alpha) for s in alternatives]
    credited = [0.0 if s.workload in broken else value for s, value in zip(alternatives, power, strict=True)]
    return Rank(
        test=test,
        score=_mean(credited),
        power=_mean(power),
        nulls=len(nulls),
        broken=len(broken),
        worst=max((s.rate for s in nulls if s.replicates), default=math.nan),
        alternatives=len(alternatives),
        failures=sum(s.failures for s in own),
        seconds=_median(s.seconds for s in own if s.replicates),
    )


def _rejections(summary: CellSummary, alpha: float) -> float:
    return sum(p <= alpha for p in summary.pvalues) / (summary.replicates + summary.failures)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def _median(values: Iterable[float | None]) -> float:
    present = [value for value in values if value is not None]
    return median(present) if present else math.nan
