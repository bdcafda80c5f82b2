"""What the tests of pages share: their blocks of code, their drawings, and a comparison of printed text."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
# A mark on the line above says why a block is not run.
BLOCK = re.compile(r"(?:^<!-- not run: ([^\n]+) -->\n)?^```(\w*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


class CodeBlock(NamedTuple):
    """A fenced block: why it is not run (empty if it is), its language and its content."""

    not_run: str
    language: str
    content: str


def blocks_of(page: str) -> list[CodeBlock]:
    """Every fenced block of a page."""
    return [CodeBlock(*found) for found in BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))]


def code_of(page: str) -> str:
    """All Python blocks of a page that are not marked, in order, as one program."""
    return "\n".join(
        block.content for block in blocks_of(page) if block.language == "python" and not block.not_run
    )


def figures() -> SimpleNamespace:
    """The script that draws the figures of the pages."""
    return SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "hooks" / "figures.py")))


def words_drawn(svg: Path) -> set[str]:
    """Labels, titles and legends of a drawing; numbers at the axes and figures in the words do not count."""
    texts = re.findall(r"<text\b[^>]*>([^<]*)</text>", svg.read_text(encoding="utf-8"))
    return {NUMBER.sub("#", text) for text in texts if not re.fullmatch(r"[−\d.e×-]*", text)}


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
    found = [NUMBER.findall(" ".join(words)) for words in (ours, theirs)]
    for expected, number in zip(*found, strict=True):
        assert float(number) == pytest.approx(float(expected), rel=0.2, abs=0.02)
