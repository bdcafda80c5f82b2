"""Every malformed file is a sentence on standard error and exit code 2, never a traceback."""

from __future__ import annotations

import os

import pytest
from typer.testing import CliRunner

from spectralcit.cli import app

GOOD = "".join(f"{i},{(i * i) % 7},{i % 3}\n" for i in range(30))
CASES = {
    "empty": (b"", "is empty"),
    "header only": (b"a,b,c\n", "no rows below it"),
    "one row": (b"a,b,c\n1,2,3\n", "at least 20 rows, got 1"),
    "duplicate headers": (b"a,b,a\n1,2,3\n", "2 columns called 'a'"),
    "ragged": (b"a,b,c\n1,2,3\n4,5\n", "line 3 of"),
    "unknown column": (b"a,bb,c\n" + GOOD.encode(), "there is no column 'b'. Did you mean 'bb'?"),
    "all missing": (b"a,b,c\n" + b"1,NA,2\n" * 30, "column 'b' of data.csv is empty"),
    "not utf-8": (b"a,b,c\n1,2,\xfc\n", "byte 0xfc at offset 10, line 2"),
    "binary": (bytes(range(256)) * 8, "NUL byte"),
    "nul": (b"a,b,c\n1,\0,3\n", "NUL byte (byte 8, line 2)"),
    "open quote": (b'a,b,c\n"1,2,3\n4,5,6\n', "a quotation mark is opened and not closed"),
    "decimal comma": (b"a;b;c\n" + b"1,5;2;x\n2,5;3;y\n" * 3, "give --decimal ,"),
    "no header": (b"1.5,2.5\n3,4\n", "add a header line"),
    "constant": (b"a,b,c\n" + b"1,2,3\n" * 30, "is constant"),
    "infinite": (b"a,b,c\n" + GOOD.encode() + b"inf,1,2\n", "infinite value(s), the first in line 32"),
}


def ask(path, *more):
    done = CliRunner().invoke(app, ["test", str(path), "--x", "a", "--y", "b", *more])
    assert done.exit_code == 2, done.output
    assert isinstance(done.exception, SystemExit)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    return " ".join(done.stderr.split())


@pytest.mark.parametrize("case", CASES)
def test_malformed(tmp_path, case):
    content, message = CASES[case]
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    more = ["--numeric", "a", "--decimal", "."] if case == "decimal comma" else []
    assert message in ask(path, *more)


def test_wrong_delimiter(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a;b;c\n" + GOOD.replace(",", ";"))
    assert "give --delimiter semicolon" in ask(path, "--delimiter", "comma")


def test_folder_missing_file_and_unreadable_file(tmp_path):
    assert "is a folder" in ask(tmp_path)
    assert "there is no file" in ask(tmp_path / "nothing.csv")
    locked = tmp_path / "locked.csv"
    locked.write_text("a,b\n1,2\n")
    locked.chmod(0)
    if not os.access(locked, os.R_OK):  # the superuser may read everything
        assert "cannot be opened: Permission denied" in ask(locked)


def test_two_gigabytes_without_a_newline(tmp_path):
    path = tmp_path / "data.csv"
    with path.open("wb") as file:
        file.truncate(2 * 2**30)  # sparse: takes no room on the disk
    assert "line 1 of data.csv is longer than 16 MiB" in ask(path)


def test_missing_values_are_named_with_their_line(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b,c\n" + GOOD.replace("5,4,2", "?,4,2"))
    said = ask(path)
    assert "column 'a' of x: 1, first in line 7" in said
    assert "--missing drop" in said


def test_a_column_cannot_have_two_roles(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b,c\n" + GOOD)
    assert "'a' already has another role" in ask(path, "--given", "c,a")
