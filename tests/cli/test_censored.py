"""``--event``: censored times on the command line."""

import html
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from spectralcit import ci_test, read_table
from spectralcit.cli import app


@pytest.fixture
def trial(tmp_path):
    rng = np.random.default_rng(0)
    age, dose = rng.normal(size=(2, 200))
    time, limit = rng.exponential(size=(2, 200))
    time *= np.exp(-age - dose)
    days = np.minimum(time, limit) + 0.01
    path = tmp_path / "trial.csv"
    rows = zip(age, dose, days, time <= limit, strict=True)
    path.write_text("age,dose,days,died\n" + "".join(f"{a},{d},{t},{int(e)}\n" for a, d, t, e in rows))
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_event_is_taken_and_not_given(trial, tmp_path):
    report = tmp_path / "report.html"
    asked = ("--x", "dose", "--y", "days", "--event", "died", "--given", "*")
    done = run("test", trial, *asked, "--json", "--report", report)
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    table = read_table(trial)
    expected = ci_test("dose", ("days", "died"), "age", data=table, random_state=0)
    assert answer["result"]["pvalue"] == expected.pvalue
    assert answer["event"] == "died"
    assert answer["given"] == ["age"]
    page = html.unescape(report.read_text(encoding="utf-8"))
    assert "--event died" in page
    assert "y=('days', 'died')" in page


def test_suggest_and_compare_know_about_censoring(trial):
    asked = ("--x", "dose", "--y", "days", "--event", "died", "--given", "age", "--json")
    ranked = json.loads(run("suggest", trial, *asked).stdout)["suggestions"]
    assert {one["name"] for one in ranked if one["verdict"] != "no"} == {"spectral", "gcm", "wgcm"}
    compared = json.loads(run("compare", trial, *asked, "--methods", "gcm,fisher-z").stdout)["results"]
    assert compared[0]["reject"]
    assert "cannot take censored times" in compared[1]["error"]


def test_an_event_that_is_not_zero_or_one(trial):
    done = run("test", trial, "--x", "dose", "--y", "days", "--event", "age")
    assert done.exit_code != 0
    assert "must hold 0 (censored) and 1 (event)" in done.stderr


def test_a_screen_takes_the_event(trial, tmp_path):
    out, page = tmp_path / "hits.json", tmp_path / "hits.html"
    asked = ("--y", "days", "--event", "died", "--given", "age", "--out", out, "--report", page)
    done = run("screen", trial, *asked)
    assert done.exit_code == 0, done.output
    [row] = json.loads(out.read_text())["rows"]
    expected = ci_test("dose", ("days", "died"), "age", data=read_table(trial), random_state=0)
    assert (row["x"], row["y"], row["pvalue"]) == ("dose", "days", expected.pvalue)
    assert "y=('days', 'died')" in html.unescape(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--event", "died", "--x", "dose"), "name the column of times as --y"),
        (("--event", "died", "--pairs", "age,dose"), "name the column of times as --y"),
        (("--event", "died", "--y", "days,dose"), "time of a censored y must be one column, got days, dose"),
        (("--event", "age", "--y", "days"), "must hold 0 (censored) and 1 (event)"),
        (("--event", "died", "--y", "days", "--method", "fisher-z"), "cannot take censored times as y"),
    ],
    ids=["no time", "pairs", "two times", "not 0 or 1", "test"],
)
def test_a_screen_refuses_what_is_no_censored_time(trial, asked, words):
    done = run("screen", trial, *asked)
    assert done.exit_code == 2
    assert words in done.stderr


@pytest.mark.parametrize("command", ["test", "screen", "compare"])
@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("died", "", "'died' of event: 1, first in line 5; fill them in, or pass --missing drop"),
        ("days", "NA", "'days' of y: 1, first in line 5; fill them in, or pass --missing drop"),
        (
            "days",
            "-3",
            "times must be positive, but column 'days' of y has 1 that are not, the first, -3, in line 5",
        ),
    ],
    ids=["no event", "no time", "negative"],
)
def test_one_wrong_cell_is_one_error_that_says_what_works(trial, command, column, value, words):
    lines = [line.split(",") for line in trial.read_text().splitlines()]
    lines[4][lines[0].index(column)] = value
    trial.write_text("".join(",".join(line) + "\n" for line in lines))
    done = run(command, trial, "--x", "dose", "--y", "days", "--event", "died", "--given", "age")
    assert done.exit_code == 2
    assert words in done.stderr
    assert "--missing impute" not in done.stderr
