"""A killed screen loses nothing, doubles nothing, and repeats at most the batch it was in."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from spectralcit import SpectralCIT, screen
from spectralcit.errors import StoreError
from spectralcit.screening import run as running
from spectralcit.screening.rows import OUT_OF_MEMORY, ScreenRow
from spectralcit.screening.store import ScreenStore
from spectralcit.spectral.shared import ConditioningSet


def test_what_is_stored_is_not_run_again(study, tmp_path):
    store = tmp_path / "s.sqlite"
    first = screen(study, x="g0:g5", y="relapse", z="age", store=store)
    again = screen(study, x="g0:g5", y="relapse", z="age", store=store)
    assert (first.n_computed, again.n_computed) == (6, 0)
    assert again.rows == first.rows


def test_a_column_without_enough_memory_is_tried_again(study, tmp_path, monkeypatch):
    """What one moment lacks must not be stored as an answer for all times."""
    settings = {"x": ["g2", "g3"], "y": "relapse", "z": "age", "store": tmp_path / "s.sqlite", "mode": "full"}
    free = screen(study, **{**settings, "store": None})
    with monkeypatch.context() as short:
        for home, name in [(SpectralCIT, "_run"), (ConditioningSet, "result")]:
            short.setattr(home, name, _no_memory)
        found = screen(study, **settings)
    assert {row.reason for row in found.rows} == {OUT_OF_MEMORY}
    again = screen(study, **settings)
    assert again.n_computed == 2
    assert again.rows == free.rows


def test_where_memory_is_short_of_what_columns_share_each_is_tested_alone(study, monkeypatch):
    settings = {"x": ["g2", "g3"], "y": "relapse", "z": "age", "mode": "full"}
    free = screen(study, **settings)
    monkeypatch.setattr(ConditioningSet, "result", _no_memory)
    assert screen(study, **settings).rows == free.rows


def _no_memory(*_, **__):
    raise MemoryError


@pytest.mark.parametrize("change", [{"random_state": 1}, {"z": "dose"}, {"mode": "full"}, {"n_draws": 200}])
def test_another_question_does_not_meet_old_answers(study, tmp_path, change):
    settings = {"x": ["g2", "g3"], "y": "relapse", "z": "age", "store": tmp_path / "s.sqlite"}
    screen(study, **settings)
    assert screen(study, **{**settings, **change}).n_computed == 2


def test_changed_values_do_not_meet_old_answers(study, tmp_path):
    settings = {"x": ["g2"], "y": "relapse", "z": "age", "store": tmp_path / "s.sqlite"}
    screen(study, **settings)
    assert screen(study.assign(g2=study["g2"] + 1.0), **settings).n_computed == 1


def test_a_foreign_file_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("dear diary, " * 20)
    with pytest.raises(StoreError, match="not a SQLite file"):
        ScreenStore(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text().startswith("dear diary")


def test_a_row_survives_the_trip_through_the_store(tmp_path):
    row = ScreenRow("a", "y", 1e-300, "full", 0.5, 0.1, 0.9, -1, "linear", 10, ("note",), None)
    with ScreenStore(tmp_path / "s.sqlite") as store:
        store.add("k", [row, ScreenRow("b", "y", reason="constant")])
        assert store.get("k") == [row, ScreenRow("b", "y", reason="constant")]


_SCRIPT = """
import sys, pandas as pd
from spectralcit import SpectralCIT, screen
from spectralcit.screening import run
run._BATCH_COLUMNS = (2, 2)
screen(pd.read_parquet(sys.argv[1]), x="g0:g9", y="relapse", z="age", mode="full", store=sys.argv[2])
"""


def test_kill_9_loses_at_most_one_batch(study, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "_BATCH_COLUMNS", (2, 2))
    table, path = tmp_path / "study.parquet", tmp_path / "s.sqlite"
    study.to_parquet(table)
    killed = subprocess.Popen([sys.executable, "-c", _SCRIPT, str(table), str(path)])
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and killed.poll() is None:
        if path.exists() and _finished(path) >= 2:
            break
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    done = _finished(path)
    assert done >= 2
    again = screen(study, x="g0:g9", y="relapse", z="age", mode="full", store=path)
    assert again.n_computed == 10 - 2 * done
    assert again.rows == screen(study, x="g0:g9", y="relapse", z="age", mode="full").rows


def _finished(path):
    import sqlite3

    try:
        with sqlite3.connect(path) as connection:
            return connection.execute("SELECT count(*) FROM batches").fetchone()[0]
    except sqlite3.OperationalError:  # not made yet
        return 0


def test_two_processes_and_a_store_of_many_batches(tmp_path, monkeypatch):
    """Threads ask for what is next; a store that belongs to one thread would refuse them."""
    monkeypatch.setattr(running, "_BATCH_COLUMNS", (2, 2))
    rng = np.random.default_rng(5_500_500)
    table = pd.DataFrame(rng.normal(size=(80, 31)), columns=[*(f"x{k}" for k in range(30)), "y"])
    asked = {"x": "x*", "y": "y", "test": "fisher-z", "n_jobs": 2, "store": tmp_path / "s.sqlite"}
    first, again = screen(table, **asked), screen(table, **asked)
    assert (first.n_computed, again.n_computed) == (30, 0)
    assert first.rows == again.rows
