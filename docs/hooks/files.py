"""Write the table "Every file" of docs/architecture.md from the first lines of the modules.

python docs/hooks/files.py
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "spectralcit"
PAGE = ROOT / "docs" / "architecture.md"


def rooms(page: str) -> list[str]:
    """Rooms from the ground up, as the page draws them."""
    drawing = page.partition("## The four floors\n")[2].partition("```\n")[2].partition("```")[0]
    return re.findall(r"(\w+)/?(?=\s|$)", re.sub(r"^floor \d", "", drawing, flags=re.MULTILINE))


def files(room: str) -> list[Path]:
    """The files of a room; ``__init__.py`` holds public names only."""
    folder = PACKAGE / room
    found = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    return [path for path in found if path.name != "__init__.py"]


def row(path: Path) -> str:
    """The line of one file: its name and the first line of its docstring."""
    first = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
    return f"| `{path.relative_to(PACKAGE)}` | {first.rstrip('.')} |\n"


def with_every_file(page: str) -> str:
    """The page with a row for each file that exists now."""
    head, rule, rest = page.partition("| file | what it holds |\n|---|---|\n")
    tail = re.sub(r"\A(\|.*\n)+", "", rest)
    return head + rule + "".join(row(path) for room in rooms(page) for path in files(room)) + tail


if __name__ == "__main__":
    PAGE.write_text(with_every_file(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
