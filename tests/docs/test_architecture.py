from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_picture_names_what_is_in_the_package():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = text.partition("src/spectralcit/\n")[2].partition("```")[0]
    drawn = set(re.findall(r"^  (\S+)", picture, flags=re.MULTILINE))
    package = ROOT / "src" / "spectralcit"
    modules = {path.name for path in package.glob("*.py")}
    folders = {f"{path.name}/" for path in package.iterdir() if any(path.glob("*.py"))}
    assert drawn == modules | folders
