"""Rates, intervals, uniformity and ranking against scipy and against sums by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from spectralcit.benchmark import ranking, summarise
from spectralcit.benchmark.memory import PeakMemory, can_watch
from spectralcit.benchmark.metrics import broken_levels, wilson
from spectralcit.benchmark.progress import Estimate
from spectralcit.benchmark.store import Record
from spectralcit.progress import duration


def records(test, pvalues, *, dependent=False, d_z=1, n=100):
    params = json.dumps({"d_z": d_z})
    return [
        Record(
            test, "m", "{}", "sin-cos", params, n, dependent, 0, i, 0, 1, p, 1.0, None, 0.1 * (i + 1), 50.0,
            "v", "" if p is not None else "Error: x",
        )
        for i, p in enumerate(pvalues)
    ]  # fmt: skip


@pytest.mark.parametrize(("count", "total"), [(0, 10), (1, 10), (5, 100), (50, 100), (100, 100), (3, 7)])
def test_wilson_is_scipys(count, total):
    assert wilson(count, total) == pytest.approx(
        tuple(stats.binomtest(count, total).proportion_ci(method="wilson")), abs=1e-12
    )


def test_a_cell_by_hand():
    pvalues = [0.01, 0.2, 0.05, None, 0.9]
    (cell,) = summarise(records("a", pvalues))
    assert (cell.rate, cell.replicates, cell.failures) == (0.5, 4, 1)
    assert cell.uniformity == pytest.approx(stats.kstest([0.01, 0.2, 0.05, 0.9], "uniform").pvalue)
    assert cell.seconds == pytest.approx(np.median([0.1, 0.2, 0.3, 0.5]))
    assert np.isnan(summarise(records("a", [0.1], dependent=True))[0].uniformity)
    assert np.isnan(summarise(records("a", [None]))[0].rate)


def test_cells_stand_in_the_order_of_numbers_whatever_the_order_of_rows():
    rows = [r for d_z in (10, 2, 5) for r in records("a", [0.3, 0.4], d_z=d_z)]
    cells = summarise(rows)
    assert [c.params["d_z"] for c in cells] == [2, 5, 10]
    assert summarise(rows[::-1]) == cells


def test_power_counts_only_where_the_level_holds():
    liberal = records("liberal", [0.01] * 20) + records("liberal", [0.01] * 20, dependent=True)
    honest = records("honest", np.linspace(0.02, 0.98, 20)) + records(
        "honest", [0.01] * 10 + [0.5] * 8 + [None] * 2, dependent=True
    )
    first, second = ranking(summarise(liberal + honest))
    assert (first.test, first.score, first.power, first.broken, first.failures) == ("honest", 0.5, 0.5, 0, 2)
    assert (second.test, second.score, second.power, second.broken) == ("liberal", 0.0, 1.0, 1)


def test_levels_of_honest_tests_are_seldom_called_broken():
    rng = np.random.default_rng(0)
    false_alarms = sum(
        bool(
            broken_levels(summarise([r for d in range(8) for r in records("a", rng.uniform(size=50), d_z=d)]))
        )
        for _ in range(40)
    )
    assert false_alarms <= stats.binom.ppf(0.999, 40, 0.05)
    wrong = broken_levels(summarise(records("a", rng.beta(0.3, 1, size=100))))
    assert len(wrong) == 1


def test_the_estimate_weighs_each_test_by_its_own_time():
    now = [0.0]
    estimate = Estimate(clock=lambda: now[0])
    for _ in range(10):
        estimate.add("quick", 1.0)
    estimate.add("slow", 90.0)
    now[0] = 50.0  # 100 seconds of work in 50: two workers
    assert estimate.seconds_left({"quick": 10, "slow": 2}) == pytest.approx((10 * 1.0 + 2 * 90.0) / 2)
    assert Estimate(clock=lambda: 0.0).seconds_left({"gcm": 3}) is None


def test_times_are_written_for_people():
    assert [duration(seconds) for seconds in (42, 130, 8000)] == ["42 s", "2 min", "2 h 13 min"]


@pytest.mark.skipif(not can_watch(), reason="the mark of memory cannot be reset here")
def test_peak_memory_sees_what_a_block_allocates():
    with PeakMemory() as small:
        pass
    with PeakMemory() as large:
        bytearray(b"x") * 100_000_000  # written to, so that it is resident
    assert large.peak_mb > small.peak_mb + 80.0
