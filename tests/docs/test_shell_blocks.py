"""The commands of the command line page work as printed, and print what the page shows."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest
from typer.testing import CliRunner

from spectralcit.cli import app

from .pages import ROOT, assert_same

PAGE = "docs/command-line.md"


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
