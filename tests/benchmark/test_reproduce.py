"""The experiments of the paper: declarations that fit the budget, figures, tables, and resuming."""

from __future__ import annotations

import csv
import json
import re
import runpy
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spectralcit.benchmark import Store
from spectralcit.benchmark.bundle import work_of
from spectralcit.benchmark.reproduce import (
    AUTHORS,
    DEFAULT,
    EXPERIMENTS,
    PUBLISHED,
    TUNED,
    Plan,
    expected_seconds,
    fill_page,
    reproduce,
)
from spectralcit.benchmark.reproduce.labels import RCIT_TUNED, entry_of
from spectralcit.cli import app
from spectralcit.cli.reproduce import _targets
from spectralcit.errors import ParameterError, StoreError, SuiteError

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reproduction.md"
NAMES = list(EXPERIMENTS)


def keys(suite):
    return {suite.key(cell, r) for cell in suite.cells for r in range(cell.replicates)}


@pytest.fixture
def tiny(monkeypatch):
    """The experiment on signal strength, with one quick test and two replicates."""
    plan = Plan({"n": 60, "d_z": 2, "str_cond_dep": [0.05, 0.5]}, 2)
    small = replace(
        EXPERIMENTS["signal-strength"],
        tests=("fisher-z",),
        slow=(),
        quick=plan,
        full=replace(plan, replicates=3),
    )
    monkeypatch.setitem(EXPERIMENTS, "signal-strength", small)
    return "signal-strength"


@pytest.fixture
def light(monkeypatch):
    """Without the page and its figures, which tests of their own cover and which take seconds."""
    monkeypatch.setattr(
        "spectralcit.benchmark.reproduce.run.write_report", lambda store, out, suite: out.mkdir(exist_ok=True)
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_quick_replicates_are_among_the_full_ones(name):
    quick, full = (EXPERIMENTS[name].suite(scale) for scale in ("quick", "full"))
    assert keys(quick) < keys(full)
    assert quick.tests[:2] == [DEFAULT, PUBLISHED]
    assert AUTHORS in quick.tests
    assert {cell.method for cell in quick.cells if cell.test == DEFAULT} == {"spectral"}


def test_the_quick_scale_of_everything_takes_less_than_40_minutes_on_two_cores():
    seconds = {name: expected_seconds(EXPERIMENTS[name], EXPERIMENTS[name].suite("quick")) for name in NAMES}
    alone = sum(value for name, value in seconds.items() if EXPERIMENTS[name].alone)
    elapsed = (sum(seconds.values()) - alone) / 2 + alone
    assert elapsed < 0.75 * 40 * 60  # a quarter in reserve: compiling, drawing data, figures


def test_the_full_scale_of_everything_takes_at_most_a_day_of_one_core():
    seconds = sum(expected_seconds(one, one.suite("full")) for one in EXPERIMENTS.values())
    assert seconds <= 24 * 3600


@pytest.mark.parametrize("name", [name for name in NAMES if not EXPERIMENTS[name].alone])
def test_published_rows_show_what_pruning_does(name):
    """For each published test d, d - 1 and d - 2 values of the same networks, and none of them costs time."""
    experiment = EXPERIMENTS[name]
    suite = experiment.suite("full")
    for label in (PUBLISHED, AUTHORS):
        stem = label[:-1]
        family = {label: 1.0, f"{stem}, r = 9)": 0.9, f"{stem}, r = 8)": 0.8}
        members = [cell for cell in suite.cells if cell.test in family]
        assert {cell.test: cell.test_params.get("perc_dim_prune", 1.0) for cell in members} == family
        assert len({work_of(cell) for cell in members}) == len(members) / 3
    whole = replace(suite, cells=tuple(cell for cell in suite.cells if ", r = " not in cell.test))
    assert expected_seconds(experiment, whole) == pytest.approx(expected_seconds(experiment, suite))


def test_a_tuned_test_that_prunes_is_shown_with_more_and_with_fewer():
    tuned = {"output_dim": 8, "perc_dim_prune": 0.91}
    suite = EXPERIMENTS["sachs"].suite("quick", tuned=tuned)
    stem = TUNED[:-1]
    own = [cell for cell in suite.cells if cell.test.startswith(stem)]
    shares = {cell.test: cell.test_params["perc_dim_prune"] for cell in own}
    assert shares == {TUNED: 0.91, f"{stem}, r = 8)": 1.0, f"{stem}, r = 6)": 0.75}


def test_the_tuned_rcit_is_what_the_committed_search_found():
    found = json.loads((ROOT / "benchmarks/results/tuning/rcit.json").read_text(encoding="utf-8"))
    assert entry_of(RCIT_TUNED) == {"method": found["method"], **found["params"]}


def test_the_sensitivity_study_asks_the_authors_program_too():
    """Its variants differ from it as the text's do from the published test, on the ends of the grid."""
    suite = EXPERIMENTS["sensitivity"].suite("full")
    params = {cell.test: cell.test_params for cell in suite.cells}
    programs = [label for label in params if label.startswith("program, ") and ", r = " not in label]
    assert len(programs) == 7
    for label in programs:
        assert params[label] == params[AUTHORS] | params[label.removeprefix("program, ")]
    assert {cell.dataset_params["d_z"] for cell in suite.cells if cell.test in programs} == {50, 300}
    assert not any(label.startswith("program, ") for label in EXPERIMENTS["sensitivity"].suite("quick").tests)


def test_no_two_experiments_share_a_seed_but_the_sensitivity_study_and_its_benchmark():
    own = [each.seed for name, each in EXPERIMENTS.items() if name != "sensitivity"]
    assert len(set(own)) == len(own)
    benchmark, study = (EXPERIMENTS[name].suite("full") for name in ("post-nonlinear", "sensitivity"))
    shared = [DEFAULT, PUBLISHED, AUTHORS]
    parts = [keys(suite.only(tests=shared)) for suite in (benchmark, study)]
    assert parts[0] == parts[1]


def test_tuned_parameters_stand_beside_the_published_ones():
    suite = EXPERIMENTS["sensitivity"].suite("quick", tuned={"lr_outer": 0.01, "output_dim": 6})
    params = {cell.test: cell.test_params for cell in suite.cells}
    assert params[TUNED] == {"lr_outer": 0.01, "output_dim": 6}
    assert params[DEFAULT] == params[PUBLISHED] == {}
    assert params["rate × 10"] == pytest.approx({"lr_outer": 0.021, "lr_inner": 3e-4})
    assert params["d = 6"] == {"output_dim": 6}
    plain = EXPERIMENTS["sensitivity"].suite("quick")
    assert keys(plain) < keys(suite)
    assert TUNED not in plain.tests


def test_all_experiments_with_some_methods():
    plan = _targets("all", ["kcit", "pcm"])
    assert "sensitivity" not in plan
    assert plan["signal-strength"] == ["kcit"]
    assert plan["sachs"] == ["kcit", "pcm"]
    assert list(_targets("all", None)) == NAMES
    labels = EXPERIMENTS["sachs"].suite("quick", methods=["kcit"]).tests
    assert labels == ["kcit", "kcit (median width)"]


def test_some_methods_with_more_replicates():
    experiment = EXPERIMENTS["post-nonlinear"]
    suite = experiment.suite("quick", methods=["spectral", "pcm"], replicates=100)
    assert set(suite.tests) == {DEFAULT, "pcm"}  # pcm is one of its slow tests
    assert {cell.replicates for cell in suite.cells} == {100}
    # Replicates are numbered from the same seeds, so what the quick scale did counts.
    assert keys(experiment.suite("quick", methods=["spectral", "pcm"])) < keys(suite)
    with pytest.raises(ParameterError, match=r"no test 'kci'.*kcit"):
        experiment.suite("quick", methods=["kci"])
    with pytest.raises(SuiteError, match="replicates: must be an integer of at least 1"):
        experiment.suite("quick", replicates=0)


def test_figure_tables_and_page(tiny, tmp_path):
    first = reproduce(tiny, tmp_path)
    assert (first.summary.added, first.summary.failures) == (8, 0)
    for file in ("figure.png", "figure.svg", "table.md", "rates.csv", "times.csv", "index.html"):
        assert (first.folder / file).stat().st_size > 100
    rates = list(csv.DictReader((first.folder / "rates.csv").read_text().splitlines()))
    assert len(rates) == 4


def test_resuming(tiny, light, tmp_path):
    first = reproduce(tiny, tmp_path)
    again = reproduce(tiny, tmp_path)
    assert (again.summary.added, again.summary.kept) == (0, 8)
    assert again.table == first.table
    more = reproduce(tiny, tmp_path, scale="full")
    assert (more.summary.added, more.summary.kept) == (4, 8)


def test_the_table_agrees_with_the_stored_pvalues(tiny, light, tmp_path):
    table = reproduce(tiny, tmp_path).table
    with Store(tmp_path / "results.sqlite", read_only=True) as store:
        power = [r.pvalue <= 0.05 for r in store.records() if r.dependent and "0.5}" in r.dataset_params]
    row = table.split("| power |")[1].splitlines()[2].split("|")
    assert row[1].strip() == "fisher-z"
    assert float(row[3].split()[0]) == pytest.approx(sum(power) / 2, abs=0.005)
    assert row[4].strip() == "2"


def test_a_report_of_all_leaves_out_what_was_not_run(tiny, light, tmp_path):
    reproduce(tiny, tmp_path)
    done = CliRunner().invoke(app, ["reproduce", "all", "--report-only", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert done.output.count("no results yet") == len(NAMES) - 1
    assert str(tmp_path / tiny / "figure.png") in done.output.replace("\n", "")


def test_report_only_runs_nothing(tiny, light, tmp_path):
    with pytest.raises(StoreError):
        reproduce(tiny, tmp_path, run=False)
    reproduce(tiny, tmp_path)
    assert reproduce(tiny, tmp_path, run=False).summary is None


@pytest.mark.parametrize("quantity", ["rate", "seconds"])
def test_kinds_and_times(tiny, light, tmp_path, monkeypatch, quantity):
    kinds = {0.05: "weak\n| Z", 0.5: "strong"} if quantity == "rate" else {}
    changed = replace(EXPERIMENTS[tiny], categories=kinds, quantity=quantity)
    monkeypatch.setitem(EXPERIMENTS, tiny, changed)
    done = reproduce(tiny, tmp_path)
    heading = "| weak given Z | strong |" if kinds else "| str_cond_dep = 0.05 | str_cond_dep = 0.5 |"
    assert heading in done.table
    assert (done.folder / "figure.png").exists()


def test_command_line(tiny, light, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n<!-- {tiny} -->\nold\n<!-- /{tiny} -->\nafter\n")
    tuned = tmp_path / "best.json"
    params = {"output_dim": 2, "n_epochs": 1, "n_warmup": 1}
    tuned.write_text(json.dumps({"method": "spectral-paper", "params": params}))
    out = str(tmp_path / "out")
    options = ["reproduce", tiny, "--out", out, "--page", str(page), "--tuned", str(tuned)]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 0, done.output
    assert "24 replicates added, 0 of them failed" in done.output
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| fisher-z |" in text
    assert f"| {TUNED} |" in text
    assert '"n_epochs": 1' in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "sach"], "sachs"),
        (["reproduce", "all", "--methods", "kci"], "Did you mean 'kcit'"),
        (["reproduce", "sachs", "--page", __file__], "must have the marks"),
        (["reproduce", "sachs", "--scale", "ful"], "full"),
        (["reproduce", "sachs", "--tuned", "nothing.json"], "nothing.json"),
        (["reproduce", "sachs", "--tuned", __file__], "tuned parameters of 'spectral-paper'"),
        (["tune", "rcot"], "rcit"),
        (["tune", "rcit", "--storage", "no/such/folder/tune.db"], "no/such/folder"),
    ],
)
def test_mistakes_end_with_a_sentence(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_page_without_the_place_is_left_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing here\n")
    with pytest.raises(ParameterError, match="<!-- cost -->"):
        fill_page(page, "cost", "text")
    assert page.read_text() == "nothing here\n"


def test_the_page_has_a_place_for_every_experiment():
    assert re.findall(r"<!-- ([\w-]+) -->", PAGE.read_text(encoding="utf-8")) == NAMES


def test_the_page_follows_from_the_committed_pvalues(monkeypatch):
    benchmarks = PAGE.parents[1] / "benchmarks"
    monkeypatch.syspath_prepend(str(benchmarks))
    script = runpy.run_path(str(benchmarks / "reproduction_page.py"))
    text = PAGE.read_text(encoding="utf-8")
    for name, table in script["tables"]().items():
        assert f"<!-- {name} -->\n{table}\n<!-- /{name} -->" in text, name
