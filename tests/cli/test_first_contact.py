"""What a newcomer meets: how a slip is answered, completion, and the help."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from spectralcit.cli import _HOMES, app
from spectralcit.cli.complete import complete_columns


@pytest.mark.parametrize("command", ["test", "suggest", "compare", "screen", "discover"])
def test_a_missing_file_is_named_before_anything_heavy_is_imported(tmp_path, command):
    (tmp_path / "study.csv").write_text("a,b\n")
    probe = (
        "import json, sys\nfrom spectralcit.cli import app\n"
        "try:\n    app(sys.argv[1:])\nfinally:\n"
        "    heavy = ('numpy', 'scipy', 'sklearn', 'jax', 'narwhals')\n"
        "    print(json.dumps([name for name in heavy if name in sys.modules]))"
    )
    columns = [] if command == "discover" else ["--x", "a", "--y", "b"]
    wrong = [sys.executable, "-c", probe, command, str(tmp_path / "stdy.csv"), *columns]
    done = subprocess.run(wrong, capture_output=True, text=True)
    assert done.returncode == 2
    assert "there is no file" in done.stderr
    assert "Did you mean 'study.csv'?" in done.stderr
    assert json.loads(done.stdout) == []


def test_a_missing_file_after_the_options_is_named_too():
    done = CliRunner().invoke(app, ["test", "--x", "a", "--y", "b", "nowhere.csv"])
    assert (done.exit_code, done.stderr) == (2, "error: there is no file nowhere.csv.\n")
    assert CliRunner().invoke(app, ["test", "nowhere.csv", "--help"]).exit_code == 0


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "study.csv"
    path.write_text('age,stage,gene_1,gene_2,"site, city"\n1,I,2,3,Oslo\n2,II,4,5,Bari\n')
    return path


def completed(path, incomplete):
    return complete_columns(SimpleNamespace(params={"data": str(path)}, args=[]), incomplete)


def test_columns_complete_one_after_the_other(table):
    assert completed(table, "") == ["age", "stage", "gene_1", "gene_2"]
    assert completed(table, "gene_1,g") == ["gene_1,gene_2"]
    assert completed(table, "*,!s") == ["*,!stage"]
    assert completed(table, "zzz") == []
    assert completed(table.with_name("nowhere.csv"), "") == []


def test_columns_of_a_large_file_come_from_its_first_lines(tmp_path, monkeypatch):
    path = tmp_path / "large.csv"
    path.write_text("first;second\n" + "1;2\n" * 400_000 + "broken")
    assert completed(path, "") == ["first", "second"]


def test_columns_of_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "study.parquet"
    pandas.DataFrame(np.zeros((3, 2)), columns=["age", "dose"]).to_parquet(path)
    assert completed(path, "d") == ["dose"]


def test_the_shell_is_given_columns(table):
    """As bash asks: the program itself, with the words so far in variables."""
    words = f"spectralcit test {table} --y age --x ge"
    asked = {"_SPECTRALCIT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "6"}
    program = "import sys; from spectralcit.cli import app; app(prog_name='spectralcit')"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, **asked}
    )
    assert done.stdout.split() == ["gene_1", "gene_2"]


@pytest.mark.parametrize("command", sorted(_HOMES))
def test_help_fits_eighty_columns_and_leaves_room_for_words(command):
    done = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert done.exit_code == 0, done.output
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in done.output.splitlines()]
    assert max(map(len, lines)) <= 80
    options = [line for line in lines if re.match(r"│ [* ]? *--\w", line)]
    # At least two fifths of the line are left for words.
    starts = [match.end() for line in options if (match := re.match(r"│.*?<[^>]*>(?: \[[^]]*\])? +", line))]
    assert max(starts, default=0) <= 48


def test_a_misspelt_command_gets_a_suggestion():
    done = CliRunner().invoke(app, ["discvoer"])
    assert done.exit_code == 2
    assert "discover" in done.stderr


def test_python_dash_m_is_the_command():
    done = subprocess.run([sys.executable, "-m", "spectralcit", "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("spectralcit ")
