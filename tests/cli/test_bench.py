"""``spectralcit bench``, from the command line."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from spectralcit.cli import app

SUITE = """
name = "tiny"
replicates = 3
n = 40
tests = ["fisher-z", "spearman-z"]
[[datasets]]
name = "linear-gaussian"
d_z = [1, 2]
"""


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(SUITE)
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, ["bench", *arguments])


def test_run_status_report_and_merge(call, tmp_path):
    first = call("run", "tiny.toml")
    assert first.exit_code == 0, first.output
    assert "24 replicates added, 0 were there" in first.output
    assert "24/24" in first.output
    assert "0 replicates added, 24 were there" in call("run", "tiny.toml").output
    status = call("status", "tiny.toml").output
    assert "24 of 24" in status
    report = call("report", "tiny.toml", "--out", "r")
    assert report.exit_code == 0, report.output
    assert (tmp_path / "r" / "index.html").exists()
    assert "rank,test,score" in report.output
    assert "24 new rows" in call("merge", "all.sqlite", "tiny.sqlite").output


def test_a_part_of_a_suite_on_other_seeds(call):
    options = ("--tests", "fisher-z", "--only", "gauss", "--nulls", "--seed", "5", "--replicates", "2")
    assert "4 replicates added, 0 were there" in call("run", "tiny.toml", *options).output
    assert "4 of 4" in call("status", "tiny.toml", *options).output
    assert "0 of 24" in call("status", "tiny.toml").output
    assert "fisher-z" in call("report", "tiny.toml", *options).output


def test_failures_are_named_at_the_end(call, tmp_path):
    (tmp_path / "bad.toml").write_text(
        'name = "bad"\nreplicates = 1\nn = 40\n[tests.odd]\nmethod = "gcm"\nregressor = "forrest"\n'
        '[tests.fisher-z]\n[[datasets]]\nname = "linear-gaussian"\n'
    )
    output = " ".join(call("run", "bad.toml", "--backend", "serial").output.split())
    assert "4 replicates added, 0 were there, 2 of the new failed" in output
    assert "odd: 2 failed in all, the first with ParameterError" in output
    assert "forest" in output
    assert "fisher-z: " not in output
    row = next(line for line in call("status", "bad.toml").output.splitlines() if " odd " in line)
    assert row.replace("│", " ").split()[:4] == ["odd", "2", "2", "2"]


def test_list_names_suites_datasets_and_backends(call):
    output = call("list").output
    assert all(word in output for word in ("demo", "sin-cos", "joblib, dask, ray"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "tiny.tml"), "Shipped suites"),
        (("run", "missing.toml"), "cannot be read"),
        (("run", "tiny.toml", "--backend", "dusk"), "Did you mean 'dask'"),
        (("run", "tiny.toml", "--store", "no/such/folder.sqlite"), "Does the folder exist"),
        (("run", "tiny.toml", "--store", "tiny.toml"), "not a SQLite file"),
        (("status", "tiny.toml"), "there is no such store"),
        (("report", "tiny.toml"), "there is no such store"),
        (("report", "tiny.toml", "--alpha", "7"), "--alpha must be strictly between 0 and 1"),
    ],
)
def test_errors_are_sentences_and_exit_code_2(call, arguments, message):
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output
