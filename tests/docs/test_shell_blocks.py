"""The commands of the command line page work as printed, and print what the page shows."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spectralcit.cli import app

ROOT = Path(__file__).parents[2]
PAGE = "docs/command-line.md"
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def commands() -> list[tuple[str, str]]:
    """Commands of the console blocks, each with the output that is shown below it."""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


def execute(command: str) -> tuple[int, str]:
    """Run a command in this process, which is quicker; what is piped into it comes from a real shell."""
    before, _, last = command.rpartition(" | ")
    piped = subprocess.run(["bash", "-c", before], capture_output=True, check=True).stdout if before else b""
    words = shlex.split(last)
    assert words[0] == "spectralcit"
    done = CliRunner().invoke(app, words[1:], input=piped)
    return done.exit_code, done.output


def words_of(output: str) -> list[str]:
    """Words without frames of tables and without times."""
    lines = [line for line in output.splitlines() if not re.match(r'\s+"?seconds"?', line)]
    if "seconds ┃" in output:  # the fifth column of a comparison
        lines = [re.sub(r"^((?:│[^│]*){4})│[^│]*", r"\1│", line) for line in lines]
    return re.sub(r"[│┃━┏┓┡┩└┘─┳╇┴┼]", " ", "\n".join(lines)).split()


def assert_same(shown: str, printed: str) -> None:
    """Same words, and numbers that are nearly the same: other processors round otherwise."""
    ours, theirs = words_of(shown), words_of(printed)
    assert [NUMBER.sub("#", word) for word in ours] == [NUMBER.sub("#", word) for word in theirs]
    figures = [NUMBER.findall(" ".join(words)) for words in (ours, theirs)]
    for expected, found in zip(*figures, strict=True):
        assert float(found) == pytest.approx(float(expected), rel=0.2, abs=0.02)


@pytest.mark.parametrize("command, shown", commands())
def test_command(command, shown, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    exit_code, printed = execute(command)
    assert exit_code == (2 if shown.startswith("error:") else 0), printed
    assert_same(shown, printed)


def test_the_page_shows_every_command():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    for name in ("test", "tests", "explain", "suggest", "compare", "demo"):
        assert f"`spectralcit {name}" in text or f"$ spectralcit {name} " in text
