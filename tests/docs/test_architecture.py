"""The page that draws the package is true: it names every file, and imports go where it draws them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "spectralcit"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def block(title: str) -> str:
    return section(title).partition("```\n")[2].partition("```")[0]


def drawn_floors() -> dict[str, int]:
    """Room -> floor, from lines such as "floor 2  nuisance/  null/"; a line without a number goes on."""
    floors: dict[str, int] = {}
    floor = 0
    for line in block("The four floors").splitlines():
        match = re.match(r"floor (\d)", line)
        floor = int(match[1]) if match else floor
        floors |= dict.fromkeys(re.findall(r"(\w+)/?(?=\s|$)", re.sub(r"^floor \d", "", line)), floor)
    return floors


def drawn_sideways() -> set[tuple[str, str]]:
    """Pairs of rooms of one floor, from lines such as "samplers -> learning, nuisance"."""
    pairs = set()
    for line in section("The four floors").splitlines():
        match = re.fullmatch(r"(\w+) -> ([\w, ]+)", line.strip())
        if match:
            pairs |= {(match[1], other.strip()) for other in match[2].split(",")}
    return pairs


def room(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported_rooms(path: Path) -> set[str]:
    """Rooms that a file imports, inside functions too; names for type checkers only do not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    package = ("spectralcit", *path.relative_to(PACKAGE).parts[:-1])
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, *(node.module or "").split(".")) if node.module else base
            names = [(*module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        else:
            continue
        found |= {name[1] for name in names if name[0] == "spectralcit" and len(name) > 1}
    rooms = {room(each) for each in FILES}
    return found & rooms


FILES = sorted(PACKAGE.rglob("*.py"))


def test_every_room_has_a_floor_and_every_drawn_room_exists():
    rooms = {room(path) for path in FILES} - {"__init__"}
    assert set(drawn_floors()) == rooms


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down_or_where_the_page_draws_them(path):
    floors, sideways, here = drawn_floors(), drawn_sideways(), room(path)
    if here == "__init__":
        return  # the public names come from everywhere
    for other in imported_rooms(path) - {here, "__init__"}:
        assert floors[other] <= floors[here], f"{other} is a floor above {here}"
        if floors[other] == floors[here]:
            assert (here, other) in sideways, f"the page draws no way from {here} to {other}"


def test_no_drawn_way_is_unused():
    used = {(room(path), other) for path in FILES for other in imported_rooms(path)}
    assert drawn_sideways() <= used


def test_the_page_names_every_file_and_no_other():
    named = set(re.findall(r"^\| `([\w/]+\.py)` \|", section("Every file"), flags=re.MULTILINE))
    files = {str(path.relative_to(PACKAGE)) for path in FILES if path.name != "__init__.py"}
    assert named == files, "python docs/hooks/files.py writes the table"


def test_methods_holds_tests_only():
    for path in sorted((PACKAGE / "methods").glob("*.py")):
        assert path.name == "__init__.py" or "@register(" in path.read_text(encoding="utf-8"), path.name


def test_files_are_short():
    long = {str(path): n for path in FILES if (n := len(path.read_text(encoding="utf-8").splitlines())) > 300}
    assert not long


def test_every_constant_has_its_reason():
    """A comment on the line of the constant or on the one above, or a string below it."""
    bare = []
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        body = ast.parse(text).body
        for k, node in enumerate(body):
            if not isinstance(node, ast.Assign | ast.AnnAssign):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
            if not any(re.fullmatch(r"_?[A-Z][A-Z0-9_]+", name) for name in names):
                continue
            own = "#" in "\n".join(lines[node.lineno - 1 : node.end_lineno])
            # One comment may stand above several constants in a row.
            above, first = node.lineno - 2, k
            while first > 0 and isinstance(body[first - 1], ast.Assign | ast.AnnAssign):
                if body[first - 1].end_lineno != body[first].lineno - 1:
                    break
                first -= 1
            above = body[first].lineno - 2
            told = lines[above].lstrip().startswith("#") if above >= 0 else False
            after = body[k + 1] if k + 1 < len(body) else None
            said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if not (own or told or said):
                bare.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {names[0]}")
    assert not bare, bare
