import csv
import json

import numpy as np
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from spectralcit.cli import app
from spectralcit.cli.screen import _lines
from spectralcit.cli.shell import console


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    age, signal, *noise = rng.normal(size=(6, 120))
    columns = {"gene_1": signal + age, "gene_2": noise[0], "gene_3": np.ones(120), "weight": noise[1]}
    columns |= {"age": age, "relapse": signal + age + 0.5 * noise[2]}
    path = tmp_path / "study.csv"
    np.savetxt(
        path, np.column_stack(list(columns.values())), delimiter=",", header=",".join(columns), comments=""
    )
    return path


def run(*arguments, command="screen"):
    return CliRunner().invoke(app, [command, *map(str, arguments)])


def test_hits_on_the_screen_and_every_column_in_the_files(table, tmp_path):
    outs = [tmp_path / f"hits.{kind}" for kind in ("csv", "json", "parquet")]
    outputs = [x for out in outs for x in ("--out", out)]
    asked = (table, "--x", "gene_*", "--y", "relapse", "--given", "age", "--fdr", "bh")
    done = run(*asked, *outputs)
    assert done.exit_code == 0, done.output
    assert "3 columns: 1 with q at most 0.1, 1 without a p-value" in done.stdout
    assert "no p-value for gene_3: column 'gene_3' of x is constant" in done.stdout
    with outs[0].open() as file:
        rows = list(csv.DictReader(file))
    assert [row["x"] for row in rows] == ["gene_1", "gene_2", "gene_3"]
    assert rows[0]["kind"] == "linear"
    assert "constant" in rows[2]["reason"]
    content = json.loads(outs[1].read_text())
    assert [row["pvalue"] for row in content["rows"]] == parquet.read_table(outs[2])["pvalue"].to_pylist()
    again = run(*asked, "--out", outs[0])
    assert "3 of 3 columns were known from the store" in again.stdout


def test_a_report_in_one_file(table, tmp_path):
    page = tmp_path / "hits.html"
    done = run(table, "--x", "gene_*", "--y", "relapse", "--given", "age", "--report", page)
    assert done.exit_code == 0, done.output
    assert "Which columns speak about relapse once age is known?" in page.read_text(encoding="utf-8")
    assert page.with_name("hits.html.sqlite").exists()


def test_all_pairs(table):
    done = run(table, "--pairs", "gene_1,gene_2,weight", "--given", "age", "--method", "fisher-z")
    assert "3 columns: 0 with q at most 0.1" in done.stdout


def test_all_others_are_tested_when_x_is_not_given(table):
    done = run(table, "--y", "relapse", "--given", "age", "--method", "fisher-z", "--fdr", "none")
    assert "4 columns: 2 with p at most 0.1" in done.stdout


def test_mistakes_are_told_before_anything_runs(table, tmp_path):
    asked = (table, "--y", "relapse", "--given", "age")
    for wrong, words in (
        (("--out", tmp_path / "hits.xlsx"), "must end in .csv"),
        (("--out", tmp_path / "nowhere" / "hits.csv"), "there is no folder"),
        (("--mode", "half"), "mode must be one of"),
        (("--fdr", "holm"), "fdr must be one of"),
        (("--level", "2"), "--level must be strictly between"),
        (("--x", "gen_*"), "no column matches"),
        (("--report", tmp_path / "nowhere" / "hits.html"), "there is no folder"),
    ):
        done = run(*asked, *wrong)
        assert done.exit_code == 2
        assert words in done.stderr


def test_a_line_a_minute_with_the_time_left(capsys):
    times = iter([0.0, 30.0, 90.0, 100.0])
    show = _lines(console(stderr=True), clock=lambda: next(times))
    for done in (10, 100, 120):
        show(done, 1000)
    assert capsys.readouterr().err == "100 of 1000 columns, about 15 min left\n"


def test_a_joint_question_is_told_from_many(table):
    done = run(table, "--x", "gene_1,gene_2", "--y", "relapse", "--method", "fisher-z", command="test")
    assert done.exit_code == 0
    assert "one joint question" in done.stderr
    assert "spectralcit screen" in done.stderr
