"""Replicates of the reproduction survive the way into the repository and back into a store."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from spectralcit.benchmark import Record, Store, run_suite
from spectralcit.benchmark.record import TrialKey
from spectralcit.benchmark.reproduce import EXPERIMENTS

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
EXPERIMENT = EXPERIMENTS["signal-strength"]


@pytest.fixture
def committed_script(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import reproduction_replicates

    yield reproduction_replicates
    sys.modules.pop("reproduction_replicates", None)


@pytest.fixture
def script(committed_script, monkeypatch, tmp_path):
    """The same, with nothing committed."""
    monkeypatch.setattr(committed_script, "REPLICATES", tmp_path)
    return committed_script


def few_cells(count):
    suite = EXPERIMENT.suite("full")
    quick = tuple(replace(cell, replicates=count) for cell in suite.cells if cell.test == "fisher-z")
    return replace(suite, cells=quick)


def pvalues(path):
    with Store(path, read_only=True) as store:
        return {record.key: record.pvalue for record in store.records()}


def test_a_store_is_made_again_from_the_file_and_goes_on(script, tmp_path):
    run_suite(few_cells(3), tmp_path / "first.sqlite")
    with Store(tmp_path / "first.sqlite") as store:
        assert script.keep(EXPERIMENT, store) == 18
    with Store(tmp_path / "second.sqlite") as store:
        assert script.begin(EXPERIMENT, store) == 18
        assert script.begin(EXPERIMENT, store) == 0
    first, second = (pvalues(tmp_path / name) for name in ("first.sqlite", "second.sqlite"))
    assert second == {key: pytest.approx(p, rel=1e-5) for key, p in first.items()}
    done = run_suite(few_cells(4), tmp_path / "second.sqlite")
    assert (done.kept, done.added) == (18, 6)


def test_two_stores_add_up_with_gaps_and_failures(script, tmp_path):
    cell = few_cells(9).cells[0]
    found = {0: 0.5, 2: None, 5: 1e-7}
    for replicate, pvalue in found.items():
        with Store(tmp_path / f"{replicate}.sqlite") as store:
            key = TrialKey(*cell.key(), EXPERIMENT.seed, replicate)
            error, versions = "" if pvalue else "ValueError: no", f"numpy {min(replicate, 2)}"
            store.add([Record.of(key, pvalue=pvalue, seconds=0.1, error=error, versions=versions)])
            script.keep(EXPERIMENT, store)
    (records,) = script.committed(EXPERIMENT).values()
    assert {r.replicate: r.pvalue for r in records} == found
    assert [bool(r.error) for r in records] == [False, True, False]
    assert {r.versions for r in records} == {"numpy 0 / numpy 2"}


def test_a_failure_does_not_replace_an_answer_that_is_committed(script, tmp_path):
    key = TrialKey(*few_cells(1).cells[0].key(), EXPERIMENT.seed, 0)
    for name, pvalue in (("answer", 0.3), ("failure", None)):
        with Store(tmp_path / f"{name}.sqlite") as store:
            store.add([Record.of(key, pvalue=pvalue, seconds=0.1, error="" if pvalue else "MemoryError: no")])
            script.keep(EXPERIMENT, store)
    ((record,),) = script.committed(EXPERIMENT).values()
    assert record.pvalue == 0.3
    path = tmp_path / "signal-strength-pvalues.csv"
    path.write_text(path.read_text().replace(",0.3,", ",0.3 0.4,"))
    with pytest.raises(SystemExit, match="has not as many seconds as p-values"):
        script.committed(EXPERIMENT)


def test_a_line_that_no_cell_has_is_an_error(script, tmp_path):
    columns = ",".join(script.COLUMNS)
    line = '{},1000,null,fisher-z,0.5,0.1,""'
    (tmp_path / "signal-strength-pvalues.csv").write_text(f"{columns}\n{line}\n")
    with pytest.raises(SystemExit, match=r"no cell \{\}, 1000, null, fisher-z; drop its line"):
        script.committed(EXPERIMENT)


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_what_is_committed_can_be_read(experiment, committed_script):
    for records in committed_script.committed(experiment).values():
        assert all(record.pvalue is None or 0.0 < record.pvalue <= 1.0 for record in records)
