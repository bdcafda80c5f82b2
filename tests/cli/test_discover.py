import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from spectralcit.cli import app


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    a, b, e = rng.normal(size=(3, 300))
    c = a + b + 0.5 * rng.normal(size=300)
    path = tmp_path / "data.csv"
    np.savetxt(path, np.column_stack([a, b, c, e]), delimiter=",", header="a,b,c,<e>", comments="")
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["discover", *map(str, arguments)])


def test_writes_every_format_and_says_what_it_found(table, tmp_path):
    outs = [tmp_path / f"graph.{kind}" for kind in ("html", "dot", "json")]
    done = run(table, "--method", "fisher-z", *(x for out in outs for x in ("--out", out)))
    assert done.exit_code == 0, done.output
    assert "a -> c" in done.stdout
    html, dot, content = (out.read_text() for out in outs)
    assert "&lt;e&gt;" in html
    assert "<e>" not in html
    assert '"a" -> "c" [label="p = ' in dot
    assert {(e["source"], e["target"]) for e in json.loads(content)["edges"]} == {("a", "c"), ("b", "c")}
    again = run(table, "--method", "fisher-z", "--alpha", 0.01, "--out", outs[0])
    assert "tests were known from the store" in again.stdout


def test_columns_can_be_left_out(table):
    done = run(table, "--method", "fisher-z", "--columns", "*,!c")
    assert "0 edges among 3 nodes" in done.stdout


KILLED = """
import os, signal, sys
from spectralcit.cli import app
from spectralcit.discovery.store import PValueStore
add = PValueStore.add
def add_and_die(self, results):
    add(self, results)
    os.kill(os.getpid(), signal.SIGKILL)
PValueStore.add = add_and_die
app(sys.argv[1:])
"""


def test_killed_during_discover_the_same_command_resumes(table, tmp_path):
    out = tmp_path / "graph.json"
    arguments = ["discover", str(table), "--method", "fisher-z", "--out", str(out)]
    command = [sys.executable, "-c", KILLED, *arguments]
    killed = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    assert not out.exists()
    done = run(*arguments[1:])
    assert "6 of " in done.stdout  # the six tests of the first level
    other = tmp_path / "fresh.json"
    run(table, "--method", "fisher-z", "--out", other)
    assert out.read_text() == other.read_text()


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["--out", "graph.pdf"], "must end in"),
        (["--out", "nowhere/graph.html"], "there is no folder"),
        (["--method", "spektral"], "spectral"),
        (["--alpha", "2"], "alpha"),
        (["--columns", "a"], "two nodes"),
    ],
)
def test_mistakes_end_with_code_2_and_a_sentence(table, arguments, complaint):
    done = run(table, *arguments)
    assert done.exit_code == 2
    assert complaint in done.stderr


def test_knowledge_on_the_command_line(table, tmp_path):
    out = tmp_path / "graph.json"
    asked = (table, "--method", "fisher-z", "--out", out)
    done = run(*asked, "--tiers", "c < a,b", "--require", 'a -> "<e>"')
    assert done.exit_code == 0, done.output
    edges = {(e["source"], e["kind"], e["target"], e["given"]) for e in json.loads(out.read_text())["edges"]}
    # Given c, a and b depend on each other: with c first they are joined, and nothing says which way.
    assert {("c", "->", "a", True), ("c", "->", "b", True), ("a", "->", "<e>", True)} <= edges
    wrong = run(*asked, "--tiers", "c < a,bb")
    assert (wrong.exit_code, "there is no column 'bb'" in wrong.stderr) == (2, True)
    both = run(*asked, "--forbid", "a -> c", "--require", "a -> c")
    assert (both.exit_code, both.stderr) == (
        2,
        "error: the knowledge contradicts itself: a -> c is both required and forbidden\n",
    )


def test_stopped_it_says_how_to_go_on(table, tmp_path, monkeypatch):
    from spectralcit.discovery.evaluate import Evaluator

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Evaluator, "__call__", stop)
    done = run(table, "--method", "fisher-z", "--out", tmp_path / "graph.html")
    assert done.exit_code == 130
    assert "graph.html.pvalues.jsonl; run the same command to go on" in done.stderr.replace("\n", " ")
    assert "is lost" in run(table, "--method", "fisher-z").stderr


def test_constant_column_and_two_rows(tmp_path):
    path = tmp_path / "flat.csv"
    path.write_text("a,b\n" + "".join(f"{i},7\n" for i in range(30)))
    done = run(path)
    assert (done.exit_code, "constant" in done.stderr) == (2, True)
    path.write_text("a,b\n1,2\n3,5\n")
    done = run(path)
    assert (done.exit_code, "rows" in done.stderr) == (2, True)


def test_duplicated_columns_are_noted(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 60))
    path = tmp_path / "twins.csv"
    np.savetxt(path, np.column_stack([a, b, a]), delimiter=",", header="a,b,twin", comments="")
    done = run(path, "--method", "fisher-z")
    assert done.exit_code == 0
    assert "note: nodes 'a' and 'twin' hold the same values" in done.stderr
