"""The commands of the pages work as printed, and print what the pages show."""

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
PAGES = ["README.md", "docs/index.md", "docs/command-line.md"]
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def commands_of(page: str) -> list[tuple[str, str | None]]:
    """Commands of the fenced blocks that are no Python, with the output shown below each, if any."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found: list[tuple[str, str | None]] = []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        if language == "console":
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                found.append((command, shown))
        elif language in ("", "sh", "bash", "shell"):
            found += [(line, None) for line in block.splitlines() if line.startswith("spectralcit ")]
    return found


ALL = [(page, command, shown) for page in PAGES for command, shown in commands_of(page)]


def execute(command: str) -> tuple[int, str]:
    """Run a command in this process, which is quicker; what is piped into it comes from a real shell."""
    before, _, last = command.rpartition(" | ")
    piped = subprocess.run(["bash", "-c", before], capture_output=True, check=True).stdout if before else b""
    words = shlex.split(last.partition("  #")[0])
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


@pytest.mark.parametrize("page, command, shown", ALL, ids=[f"{page}: {command}" for page, command, _ in ALL])
def test_command(page, command, shown, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    exit_code, printed = execute(command)
    if shown is None:
        assert exit_code == 0, printed
        return
    assert exit_code == (2 if shown.startswith("error:") else 0), printed
    assert_same(shown, printed)


def test_the_pages_show_every_command():
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name in ("test", "tests", "explain", "suggest", "compare", "demo"):
        assert f"`spectralcit {name}" in text or f"$ spectralcit {name} " in text
