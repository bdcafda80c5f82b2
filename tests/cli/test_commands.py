from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from spectralcit import BaseCITest, ci_test, list_tests
from spectralcit.cli import app
from spectralcit.cli.explain import explanation
from spectralcit.cli.options import parameters
from spectralcit.errors import ParameterError, SpectralCITError
from spectralcit.parameters import choice, integer
from spectralcit.views import LeadingPair, SideView

PROGRAM = str(Path(sys.executable).with_name("spectralcit"))
ROLES = ["--x", "gene", "--y", "outcome"]


def run(*arguments, **options):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def shell(*arguments, **options):
    command = [PROGRAM, *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, timeout=120, **options)


def without_time(result):
    """Without what may differ: the time, and the file that a frame does not know."""
    result["question"].pop("source")
    return {key: value for key, value in result.items() if key != "seconds"}


def test_json_is_what_ci_test_says_about_the_same_frame(study):
    done = run(
        "test", study, *ROLES, "--given", "stage,age", "--method", "gcm", "--param", "n_folds=3",
        "--missing", "drop", "--seed", 5, "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    frame = pl.read_csv(study, null_values="NA")
    expected = ci_test(
        data=frame,
        x="gene",
        y="outcome",
        z=["stage", "age"],
        method="gcm",
        n_folds=3,
        missing="drop",
        random_state=5,
    ).to_dict()
    # Only the places of missing values differ: lines of a file, rows of a frame.
    for result in (answer["result"], expected):
        assert len(result.pop("warnings")) == 1
    assert without_time(answer["result"]) == without_time(expected)
    assert answer["reject"] is True
    assert answer["given"] == ["stage", "age"]
    assert answer["columns"]["stage"] == "category, 3 levels: I, II, III"


@pytest.mark.usefixtures("toy")
def test_the_answer_in_words(study):
    said = run("test", study, *ROLES, "--given", "stage", "--method", "toy").output
    assert said.startswith("Is gene independent of outcome once stage is known?")
    assert "given  stage" in said
    assert "Evidence that gene and outcome depend on each other given stage." in said
    assert "does not mean that one causes the other" in " ".join(said.split())
    strict = run("test", study, *ROLES, "--given", "stage", "--method", "toy", "--alpha", "1e-300").output
    assert "No evidence that gene and outcome depend on each other given stage." in strict
    assert "does not mean that they are independent" in " ".join(strict.split())


@pytest.mark.usefixtures("toy")
def test_patterns_skip_x_and_y_and_long_lists_are_counted(tmp_path):
    names = ["x", "y", *(f"img_{k}" for k in range(20))]
    values = np.random.default_rng(0).normal(size=(60, 22))
    rows = [",".join(f"{value:.3f}" for value in row) for row in values]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(names), *rows]))
    done = run("test", path, "--x", "x", "--y", "y", "--given", "*,!img_3", "--method", "toy", "--json")
    answer = json.loads(done.stdout)
    assert answer["given"] == [name for name in names[2:] if name != "img_3"]
    assert answer["result"]["diagnostics"]["z_columns"] == 19
    assert (
        "... 12 more  12 numbers"
        in run("test", path, "--x", "x", "--y", "y", "--given", "img_*", "--method", "toy").output
    )


@pytest.mark.usefixtures("toy")
def test_a_column_read_as_categories_or_as_numbers(study):
    arguments = ["test", study, *ROLES, "--given", "age", "--missing", "drop", "--method", "toy", "--json"]
    assert json.loads(run(*arguments).stdout)["columns"]["age"] == "number"
    forced = json.loads(run(*arguments, "--categorical", "age").stdout)
    assert forced["columns"]["age"].startswith("category, ")
    refused = run("test", study, *ROLES, "--given", "stage", "--numeric", "stage")
    assert refused.exit_code == 2
    assert "column 'stage' holds" in refused.output


def test_report(study, tmp_path):
    path = tmp_path / "out.html"
    done = run("test", study, *ROLES, "--given", "stage", "--report", path, "--json")
    assert done.exit_code == 0, done.output
    page = path.read_text(encoding="utf-8")
    assert "Is gene independent of outcome once stage is known?" in page
    assert f"{json.loads(done.stdout)['result']['pvalue']:.3g}"[:4] in page


def test_a_report_prepares_once_and_removes_z_once(study, tmp_path, monkeypatch):
    from spectralcit import base
    from spectralcit.spectral import sides

    calls = []

    def counted(module, name):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, **k: calls.append(name) or original(*a, **k))

    counted(base, "prepare")
    counted(sides, "KernelRidge")  # Z is decomposed when it is made, on whichever way it is removed
    path = tmp_path / "out.html"
    done = run("test", study, *ROLES, "--given", "stage", "--report", path)
    assert done.exit_code == 0, done.output
    assert sorted(calls) == ["KernelRidge", "prepare"]
    assert "leading pair: mean product" in path.read_text(encoding="utf-8")


@pytest.mark.usefixtures("toy")
def test_the_pair_that_a_test_shows_is_drawn(study, tmp_path, toy, monkeypatch):
    values = np.random.default_rng(0).normal(size=(4, 90))
    sides = [SideView(name, values[k]) for name, k in (("gene", 1), ("outcome", 3))]
    pair = LeadingPair(values[0], values[2], 0.25, 0.5, *sides, n_total=90)
    run_toy = toy._run
    monkeypatch.setattr(toy, "_run", lambda *a: dataclasses.replace(run_toy(*a), show=lambda: pair))
    path = tmp_path / "out.html"
    done = run("test", study, *ROLES, "--given", "stage", "--method", "toy", "--report", path)
    assert done.exit_code == 0, done.output
    assert "leading pair: mean product 0.25" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["fisherz", "FISHER_Z", "kci", "chisq", "gsq", "cmiknn", "lpt"])
def test_names_as_people_type_them(name):
    assert run("explain", name).exit_code == 0
    assert explanation(name)["name"] in [info.name for info in list_tests()]


def test_the_answer_has_the_registered_name(study):
    one = json.loads(run("test", study, *ROLES, "--method", "FisherZ", "--json").stdout)
    assert one["result"]["method"] == "fisher-z"
    rows = json.loads(run("compare", study, *ROLES, "--methods", "FISHER_Z,Gcm", "--json").stdout)["results"]
    assert [row["method"] for row in rows] == ["fisher-z", "gcm"]


def test_words_that_a_parameter_declares_stay_words():
    class Declared(BaseCITest):
        """A test with a word that looks like a constant."""

        how: str = choice("none", "How.", "none", "1")
        size: int | None = integer(None, "Size.", also=(None,))

    assert parameters(["how=none", "size=none"], Declared) == {"how": "none", "size": None}
    assert parameters(["how=1", "size=1"], Declared) == {"how": "1", "size": 1}


@pytest.mark.usefixtures("toy")
def test_a_test_with_a_signature_of_its_own_is_explained():
    found = explanation("toy")["parameters"]
    assert found["offset"] == {"default": "0.0", "allowed": "", "meaning": ""}
    assert found["missing"]["allowed"] == "'raise', 'drop' or 'impute'"
    assert "offset = 0.0" in run("explain", "toy").output


def test_parameters_are_checked(study):
    for given, message in [
        (["--param", "n_folds"], "write name=value"),
        (["--param", "n_fold=3", "--method", "gcm"], "Did you mean 'n_folds'"),
        (["--method", "gcn"], "Did you mean 'gcm'"),
        (["--alpha", "1.5"], "strictly between 0 and 1"),
        (["--missing", "dorp"], "missing must be 'raise', 'drop' or 'impute'; got 'dorp'"),
        (["--seed", "-1"], "--seed must be from 0 to 4294967295, got -1"),
    ]:
        done = run("test", study, *ROLES, *given)
        assert done.exit_code == 2, given
        assert message in " ".join(done.output.split()), done.output
        assert "Traceback" not in done.output


def test_the_catalogue_names_every_test():
    said = run("tests").output
    listed = json.loads(run("tests", "--json").stdout)
    assert [one["name"] for one in listed] == [info.name for info in list_tests()]
    for info in list_tests():
        assert info.name in said
        assert info.tags.cost in said


@pytest.mark.parametrize("info", list_tests(), ids=lambda info: info.name)
def test_every_test_can_be_explained(info):
    content = explanation(info.name)
    assert set(content["parameters"]) == set(info.cls._get_param_names())
    undocumented = [k for k, v in content["parameters"].items() if not v["meaning"]]
    assert undocumented == []
    assert content["reference"]
    assert len(content["description"]) > 80


def test_explain_prints_defaults_assumptions_and_reference():
    said = run("explain", "gcm").output
    assert "The rows are independent of each other" in " ".join(said.split())
    assert "--groups or --time" in " ".join(said.split())
    assert "Say so with" not in run("explain", "kcit").output
    for text in (
        "Assumes",
        "Fails",
        "O(n)",
        "n_folds = 5",
        "Shah and J. Peters",
        "X and Y may change places",
    ):
        assert text in " ".join(said.split())
    wrong = run("explain", "kcitt")
    assert wrong.exit_code == 2
    assert "Did you mean 'kcit'" in wrong.output


def test_suggest_ranks_and_says_why(study):
    arguments = ["suggest", study, *ROLES, "--given", "stage"]
    said = run(*arguments)
    assert said.exit_code == 0, said.output
    assert "spectral" in said.output
    assert "hsic" not in said.output
    everything = run(*arguments, "--all").output
    assert "it cannot take anything as given" in everything
    answer = json.loads(run(*arguments, "--json").stdout)
    assert answer["profile"]["n"] == 90
    assert answer["suggestions"][0]["name"] == "spectral"


def test_compare_puts_tests_side_by_side_and_a_failure_is_a_row(study):
    arguments = ["compare", study, *ROLES, "--given", "stage", "--methods", "fisher-z,hsic,gcm"]
    said = run(*arguments)
    assert said.exit_code == 0, said.output
    assert "failed: 'hsic' tests" in said.output
    rows = json.loads(run(*arguments, "--json").stdout)["results"]
    assert [row["method"] for row in rows] == ["fisher-z", "hsic", "gcm"]
    assert "error" in rows[1]
    frame = pl.read_csv(study, null_values="NA")
    for row in (rows[0], rows[2]):
        expected = ci_test(data=frame, x="gene", y="outcome", z="stage", method=row["method"], random_state=0)
        assert without_time(row["result"]) == without_time(expected.to_dict())
    assert run(*arguments[:-1], "fisher-z,gcmm").exit_code == 2


def test_compare_chooses_tests_by_itself(study):
    rows = json.loads(run("compare", study, *ROLES, "--given", "stage", "--json").stdout)["results"]
    assert len(rows) == 4
    assert rows[0]["method"] == "spectral"


def test_standard_input_as_a_real_program(study):
    arguments = ["test", "-", *ROLES, "--given", "stage", "--method", "fisher-z"]
    done = shell(*arguments, input=study.read_bytes())
    assert done.returncode == 0, done.stderr
    assert b"\x1b[" not in done.stdout + done.stderr
    assert done.stderr == b""
    assert b"Evidence that gene and outcome" in done.stdout
    bad = shell(*arguments, input=b"gene,outcome\n1,2\n3\n")
    assert bad.returncode == 2
    assert bad.stdout == b""
    assert bad.stderr.startswith(b"error: line 3 of standard input has 1 values")
    assert b"Traceback" not in bad.stderr


def test_a_reader_that_goes_away_is_no_error():
    command = f"{PROGRAM} tests --json | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert done.stdout == b"[\n"
    assert done.stderr == b""


def test_ctrl_c_ends_with_130(tmp_path):
    pipe = tmp_path / "endless"
    os.mkfifo(pipe)
    command = [PROGRAM, "test", str(pipe), "--x", "a", "--y", "b"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with pipe.open("wb") as writer:  # opens when the program has opened its end, and keeps it waiting
        writer.write(b"a,b\n")
        writer.flush()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    assert b"Traceback" not in err


def test_the_shell_completes_names_of_tests():
    environment = {
        **os.environ,
        "_SPECTRALCIT_COMPLETE": "complete_bash",
        "COMP_WORDS": "spectralcit test data.csv --method spectral-",
        "COMP_CWORD": "4",
    }
    done = shell(env=environment)
    assert done.stdout.split() == [b"spectral-paper"], done


def test_errors_of_the_program_itself_are_not_hidden(monkeypatch, study):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("spectralcit.base.make_test", broken)
    assert isinstance(run("test", study, *ROLES).exception, ZeroDivisionError)
    assert issubclass(ParameterError, SpectralCITError)
