"""The store: rows once and for ever, and clear words when the file cannot be used."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from spectralcit.benchmark import Record, Store, Suite, run_suite
from spectralcit.benchmark.record import TrialKey
from spectralcit.benchmark.trial import execute, make_job
from spectralcit.errors import StoreError
from spectralcit.registry import get_test

SUITE = Suite.define(
    name="s", tests=["fisher-z"], datasets=[{"name": "linear-gaussian", "d_z": [1, 2]}], n=30, replicates=3
)
OTHER = Suite.define(
    name="o", tests=["fisher-z"], datasets=[{"name": "sin-cos", "d_z": 1}], n=30, replicates=3
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "s.sqlite"
    run_suite(SUITE, path, backend="serial")
    return path


def content(path):
    with Store(path, read_only=True) as store:
        return store.records()


def test_a_row_has_everything(path):
    record = content(path)[0]
    assert 0 < record.pvalue <= 1
    assert record.seconds > 0
    assert record.peak_mb > 10
    assert "numpy" in record.versions
    assert record.error == ""
    assert record.effect is not None


def test_rows_are_never_doubled_changed_or_deleted(path):
    before = content(path)
    with Store(path) as store:
        assert store.merge(path) == 0
    assert content(path) == before
    raw = sqlite3.connect(path)
    for command in ("UPDATE trials SET pvalue = 0.5", "DELETE FROM trials"):
        with pytest.raises(sqlite3.IntegrityError, match="rows are never"):
            raw.execute(command)
    raw.close()


def test_merge_is_the_union(path, tmp_path):
    other = tmp_path / "o.sqlite"
    run_suite(OTHER, other, backend="serial")
    expected = sorted([*content(path), *content(other)], key=lambda r: r.key)
    with Store(path) as store:
        assert store.merge(other) == len(content(other))
        assert store.merge(other) == 0
    assert sorted(content(path), key=lambda r: r.key) == expected


def rated(key, pvalue, attempt=0):
    error = "" if pvalue is not None else "TimeLimit"
    return Record.of(key, attempt=attempt, seed=1, pvalue=pvalue, statistic=pvalue, seconds=1.0, error=error)


@pytest.mark.parametrize("failures", [1, 2])
def test_a_success_wins_in_whatever_order_stores_are_merged(tmp_path, failures):
    key = TrialKey("t", "t", "{}", "d", "{}", 10, False, 0, 0)
    with Store(tmp_path / "good.sqlite") as good, Store(tmp_path / "bad.sqlite") as bad:
        good.add([rated(key, 0.3)])
        bad.add([rated(key, None, attempt) for attempt in range(failures)])
        for name, order in (("a", (good, bad)), ("b", (bad, good))):
            with Store(tmp_path / f"{name}.sqlite") as merged:
                for one in (*order, *order):
                    merged.merge(one)
                assert [record.pvalue for record in merged.records()] == [0.3]
                assert not merged.attempts()[key][1]


def test_many_runs_may_begin_with_one_new_file(tmp_path):
    ready = Barrier(8)

    def begin(number):
        ready.wait()
        with Store(tmp_path / "s.sqlite") as store:
            return store.add([rated(TrialKey("t", "t", "{}", "d", "{}", 10, False, 0, number), 0.3)])

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(begin, range(8))) == 8
    assert len(content(tmp_path / "s.sqlite")) == 8


def test_a_full_disk_loses_nothing_and_the_run_goes_on_later(path):
    before = content(path)
    with Store(path) as store:
        pages = store._pragma("page_count")
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        bigger = Suite.define(
            name="b", tests=["fisher-z"], datasets=[{"name": "sin-cos", "d_z": 1}], n=30, replicates=30
        )
        with pytest.raises(StoreError, match=r"disk is full.*What was stored before is kept"):
            run_suite(bigger, store, backend="serial")
    kept = content(path)
    assert set(before) < set(kept)
    done = run_suite(bigger, path, backend="serial")
    assert done.kept == len(kept) - len(before)
    assert len(content(path)) == len(before) + bigger.size
    check = sqlite3.connect(path)
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    check.close()


def test_foreign_files_are_left_untouched(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("precious " * 200)
    with pytest.raises(StoreError, match="not a SQLite file"):
        Store(text)
    assert text.read_text() == "precious " * 200

    database = tmp_path / "other.db"
    raw = sqlite3.connect(database)
    raw.execute("CREATE TABLE mine (a)")
    raw.commit()
    raw.close()
    before = database.read_bytes()
    with pytest.raises(StoreError, match="not a store of benchmark results"):
        Store(database)
    assert database.read_bytes() == before


def test_a_store_of_another_version(path):
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(StoreError, match="format 99"):
        Store(path)


def test_a_store_of_the_first_format_is_read_and_gains_warnings_when_written(path):
    expected = content(path)
    raw = sqlite3.connect(path)
    raw.executescript("ALTER TABLE trials DROP COLUMN warnings; PRAGMA user_version = 1;")
    raw.close()
    assert content(path) == expected
    told = replace(expected[0], replicate=99, warnings="one\ntwo")
    with Store(path) as store:
        assert store.add([told]) == 1
    assert sorted(content(path), key=lambda r: r.key) == sorted([*expected, told], key=lambda r: r.key)


def test_warnings_of_results_are_kept(tmp_path):
    wide = Suite.define(name="w", tests=["fisher-z"], datasets=[{"name": "linear-gaussian", "d_z": 2}], n=30)

    class Telling(type(get_test("fisher-z")())):
        def _run(self, data, seed):
            return replace(super()._run(data, seed), warnings=("mind the gap", "and the step"))

    (cell, *_) = wide.cells
    job = replace(make_job(cell, wide.key(cell, 0)), test=Telling)
    assert execute(job).warnings == "mind the gap\nand the step"


def test_a_damaged_store_is_named(path):
    data = bytearray(path.read_bytes())
    data[: len(data) // 2] = os.urandom(len(data) // 2)
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"s\.sqlite: cannot be opened"):
        Store(path)


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(StoreError, match="Does the folder exist"):
        Store(tmp_path / "nowhere" / "s.sqlite")
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="there is no such store"):
        Store(tmp_path / "missing.sqlite", read_only=True)
    assert not (tmp_path / "missing.sqlite").exists()


def test_a_file_that_may_not_be_written(path, monkeypatch):
    # Root may write everywhere, so permissions cannot be tested by themselves: SQLite is told instead.
    before = content(path)
    monkeypatch.setattr(Store, "_uri", lambda self, read_only: self.path.absolute().as_uri() + "?mode=ro")
    with pytest.raises(StoreError, match="change the permissions"):
        run_suite(OTHER, path, backend="serial")
    assert content(path) == before


def test_a_second_attempt_replaces_the_first_in_reports_only(tmp_path, toy):
    suite = Suite.define(
        name="t",
        tests={"toy": {"offset": "text"}},
        datasets=[{"name": "linear-gaussian"}],
        n=30,
        replicates=1,
    )
    path = tmp_path / "t.sqlite"
    assert run_suite(suite, path, backend="serial").failures == 2
    assert run_suite(suite, path, backend="serial").added == 0
    again = run_suite(suite, path, backend="serial", retry_failures=True)
    assert (again.kept, again.added, again.failures) == (0, 2, 2)
    with Store(path) as store:
        assert [r.attempt for r in store.records()] == [1, 1]
        assert len(list(store._all())) == 4
