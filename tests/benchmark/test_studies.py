"""The studies of ``benchmarks/``: their suites, the committed p-values, and the pages made from both."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

from spectralcit.benchmark import Suite, load_suite, run_suite
from spectralcit.benchmark.peers import PEERS
from spectralcit.registry import list_tests, unregister

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SUITES = sorted(path.stem for path in (BENCHMARKS / "suites").glob("*.toml"))


@pytest.fixture
def scripts(monkeypatch):
    """The modules of the scripts, which import each other by name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import attack_page
    import calibration_page
    import study
    import study_tables

    yield study, calibration_page, study_tables, attack_page
    for name in (
        "attack_page",
        "calibration_page",
        "study",
        "study_tables",
        "real_page",
        "sachs",
        "kept_power",
    ):
        sys.modules.pop(name, None)


@pytest.fixture
def peers_leave():
    """A suite with peers registers them; other tests must not meet them."""
    yield
    for name in {peer.name for peer in PEERS} & {info.name for info in list_tests()}:
        unregister(name)


@pytest.mark.usefixtures("peers_leave")
@pytest.mark.parametrize("name", SUITES)
def test_suites_are_valid_and_no_two_cells_share_a_row(name):
    suite = load_suite(BENCHMARKS / "suites" / f"{name}.toml")
    assert suite.name == name
    assert suite.description
    assert len({(cell.label, cell.test, cell.dependent) for cell in suite.cells}) == len(suite.cells)


def test_the_calibration_pages_say_what_the_committed_pvalues_say(scripts):
    study, calibration_page, *_ = scripts
    cells = study.read_study("calibration").cells
    for (page, name), content in calibration_page.marked_parts(cells).items():
        assert f"<!-- {name} -->\n{content}\n<!-- /{name} -->" in page.read_text(encoding="utf-8")
    committed = (BENCHMARKS / "results" / "calibration.csv").read_text(encoding="utf-8")
    assert committed == calibration_page.summary(cells)


def test_the_page_of_the_attack_says_what_the_committed_pvalues_say(scripts):
    study, _, _, attack_page = scripts
    parts = attack_page.marked_parts(study.read_study("attack"), study.read_study("attack_rivals").cells)
    for (page, name), content in parts.items():
        assert f"<!-- {name} -->\n{content}\n<!-- /{name} -->" in page.read_text(encoding="utf-8")


def test_power_beside_the_first_editions_is_that_of_the_committed_pvalues(scripts):
    import kept_power

    part = f"<!-- kept power -->\n{kept_power.table()}\n<!-- /kept power -->"
    assert part in kept_power.PAGE.read_text(encoding="utf-8")
    assert kept_power._line("two of four", np.array([1, 1, 0, 0], bool), np.array([1, 1, 1, 0], bool)) == (
        "| two of four | 0.500 | 0.750 | +0.250 ± 0.217 | 4 |"
    )


def test_warnings_are_counted_among_rejections_and_among_all(scripts):
    study, _, _, attack_page = scripts
    key = study.TrialKey("t", "m", "{}", "d", "{}", 10, False, 1, 0)
    pairs = [(0.01, study.UNLEARNED), (0.02, "something else"), (0.5, study.UNLEARNED), (None, "")]
    records = [study.Record.of(key, pvalue=p, warnings=text) for p, text in pairs]
    assert attack_page.warnings_of(records) == ("1 of 2", "2 of 3")


@pytest.mark.parametrize("name", ["resampling", "generative"])
def test_the_tables_say_what_the_committed_pvalues_say(scripts, monkeypatch, tmp_path, name):
    study, _, study_tables, _ = scripts
    monkeypatch.setattr(study_tables, "RESULTS", tmp_path)
    getattr(study_tables, f"write_{name}")(study.read_study(name))
    table = f"{name}_tests.md"
    assert (tmp_path / table).read_bytes() == (BENCHMARKS / "results" / table).read_bytes()


def lines_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_cells_of_a_store_replace_committed_ones_and_leave_the_others(scripts, monkeypatch, tmp_path):
    study, *_ = scripts
    committed = BENCHMARKS / "results" / "calibration_pvalues.csv"
    (tmp_path / committed.name).write_bytes(committed.read_bytes())
    monkeypatch.setattr(study, "RESULTS", tmp_path)
    suite = load_suite(BENCHMARKS / "suites" / "calibration.toml")
    part = suite.only(tests=["Fisher z"], labels=["linear_20"], nulls=True, seed=3, replicates=4)
    run_suite(part, tmp_path / "s.sqlite", backend="serial")
    cells = study.read_study("calibration", tmp_path / "s.sqlite", 3).cells
    assert cells["linear_20", "Fisher z", False].replicates == 4
    assert cells["linear_20", "Fisher z", True].replicates == 200

    def others(path: Path) -> list[str]:
        replaced = ("linear_20", "Fisher z", "0")
        kept = [row for row in lines_of(path) if (row["workload"], row["test"], row["dependent"]) != replaced]
        return sorted(",".join(row.values()) for row in kept)

    assert others(tmp_path / committed.name) == others(committed)
    new = [row for row in lines_of(tmp_path / committed.name) if row["suite_seed"] == "3"]
    assert [row["replicate"] for row in new] == ["0", "1", "2", "3"]


def test_a_study_goes_on_from_its_committed_pvalues(scripts, monkeypatch, tmp_path):
    study, *_ = scripts
    monkeypatch.setattr(study, "RESULTS", tmp_path)
    suite = load_suite(BENCHMARKS / "suites" / "calibration.toml")
    part = suite.only(tests=["Fisher z"], labels=["linear_20"], nulls=True, seed=3, replicates=3)
    run_suite(part, tmp_path / "first.sqlite", backend="serial")
    study.read_study("calibration", tmp_path / "first.sqlite", 3)  # commits them
    committed = (tmp_path / "calibration_pvalues.csv").read_text()
    kept = sum(row["test"] == "Fisher z" for row in lines_of(tmp_path / "calibration_pvalues.csv"))
    assert study.begin_store("calibration", tmp_path / "second.sqlite", 3) == kept >= 3
    assert run_suite(part, tmp_path / "second.sqlite", backend="serial").added == 0
    study.read_study("calibration", tmp_path / "second.sqlite", 3)
    assert (tmp_path / "calibration_pvalues.csv").read_text() == committed
    assert study.begin_store("calibration", tmp_path / "other.sqlite", 4) == 0


def test_the_classical_table_has_a_line_per_test(scripts, monkeypatch, tmp_path):
    study, _, study_tables, _ = scripts
    for module in (study, study_tables):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    suite = load_suite(BENCHMARKS / "suites" / "classical.toml")
    part = suite.only(tests=["fisher-z", "chi2"], replicates=3)
    run_suite(part, tmp_path / "s.sqlite", backend="serial")
    study_tables.write_classical(study.read_study("classical", tmp_path / "s.sqlite"))
    rows = lines_of(tmp_path / "classical_calibration.csv")
    assert [(row["test"], row["workload"], row["replicates"], row["power"]) for row in rows] == [
        ("fisher-z", "linear", "3", "1.000"),
        ("chi2", "discrete", "3", "1.000"),
    ]
    assert (tmp_path / "classical_calibration.png").exists()


def test_the_pages_about_rows_say_what_their_studies_found(monkeypatch):
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import rows_pages

    parts = rows_pages.marked_parts()
    for name in set(sys.modules) - before:  # the scripts import each other by name
        if Path(getattr(sys.modules[name], "__file__", None) or "").parent == BENCHMARKS:
            sys.modules.pop(name)
    assert len(parts) == 5
    for (page, name), content in parts.items():
        assert f"<!-- {name} -->\n{content}\n<!-- /{name} -->" in page.read_text(encoding="utf-8")


@pytest.fixture
def real_study(scripts):
    """A study of two tests on one table: one holds its level and sees the effect, one rejects everything."""
    study, *_ = scripts
    suite = Suite.define(
        name="real",
        tests={"default": {"method": "spectral"}, "pgmpy gcm": {"method": "gcm"}},
        datasets=[{"name": "plasmode", "label": "nuclei"}],
        n=100,
        replicates=40,
        seed=5,
    )
    records = {}
    for cell in suite.cells:
        honest = cell.test == "default" and not cell.dependent
        pvalues = (np.arange(40) + 0.5) / 40 if honest else np.full(40, 0.001)
        records[cell.label, cell.test, cell.dependent] = [
            study.Record.of(suite.key(cell, k), pvalue=float(p), seconds=0.5) for k, p in enumerate(pvalues)
        ]
    cells = {row: study._summary(found) for row, found in records.items()}
    return study.Study(suite, cells, records)


def test_the_leaderboard_strikes_out_what_breaks_its_level(scripts, real_study, monkeypatch, tmp_path):
    import real_page

    monkeypatch.setattr(real_page, "FIGURE", tmp_path / "real-data.png")
    monkeypatch.setattr(real_page, "VERSIONS", tmp_path / "versions.txt")
    honest, broken = real_page.leaderboard(real_study).splitlines()[2:]
    assert "~~" not in honest
    assert honest.endswith("/ 1 | 0.5 |")
    assert broken == "| pgmpy gcm | ~~1 / 1~~ | 0.5 |"
    assert "2 tests of 2 libraries on 1 real tables" in real_page.overall(real_study)
    assert "is not seen to break on any table" in real_page.overall(real_study)
    real_page.figure(real_study)
    assert (tmp_path / "real-data.png").stat().st_size > 1000


def test_the_page_of_real_data_says_what_the_committed_pvalues_say(scripts, peers_leave):
    study, *_ = scripts
    import real_page

    page = real_page.PAGE.read_text(encoding="utf-8")
    committed = study.read_study("real")
    if not committed.cells:
        assert "has not been run yet" in page
        return
    for name, content in real_page.marked_parts(committed).items():
        assert f"<!-- {name} -->\n{content}\n<!-- /{name} -->" in page


def test_a_graph_is_scored_by_pairs_and_by_arrows(scripts):
    import sachs

    truth = {("a", "b"), ("b", "c"), ("c", "d")}
    found = sachs.scores({("a", "b"), ("c", "b"), ("a", "d")}, {("d", "c")}, truth)
    assert found == {"found": 4, "right": 3, "disputed": 0, "forward": 1, "backward": 1}
    assert sachs.scores(set(), {("akt", "erk")}, truth)["disputed"] == 1
    assert sachs.edges_of("a>b c>d") == {("a", "b"), ("c", "d")}
