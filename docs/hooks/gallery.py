"""The gallery: a page for every example, its picture and what it prints, and a page with all pictures."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from figures import FIGURES, drawing, examples, pages_with_figures, saved_figures

_HEAD = """# Gallery

Each picture leads to the code that draws it. The examples are in the folder `examples` of the source code,
as scripts with cells (`# %%`) that editors and Jupyter can run one by one.
"""


def gallery_pages() -> dict[str, str]:
    """Path and Markdown of the gallery and of every example's page."""
    pages = {path.stem: example_page(path) for path in examples()}
    cards = [_card(f"examples/{name}.html", title_of(page), name) for name, page in pages.items()]
    guide = [
        _card(f"{page.stem}.html", title_of(page.read_text(encoding="utf-8")), name)
        for page in pages_with_figures()
        for name in saved_figures(page)
    ]
    sections = [_HEAD, "## Examples\n", _grid(cards), "## From the guide\n", _grid(guide)]
    return {
        "gallery.md": "\n".join(sections),
        **{f"examples/{name}.md": page for name, page in pages.items()},
    }


def title_of(page: str) -> str:
    """The heading of a page, without its marks."""
    return page.lstrip().partition("\n")[0].lstrip("# ").replace("`", "")


def example_page(path: Path) -> str:
    """An example as Markdown: its text, its code, its picture and what it prints."""
    cells = re.split(r"^# %%", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    heading, *others = [_cell(cell) for cell in cells]
    printed = (FIGURES / f"{path.stem}.txt").read_text(encoding="utf-8")
    title = title_of(heading)
    picture = f"![{title}](../figures/{path.stem}.svg)\n"
    output = f"## What it prints\n\n```text\n{printed}```\n" if printed else ""
    source = f"The file is `examples/{path.name}`.\n"
    return "\n".join([heading, picture, *others, output, source])


def _cell(cell: str) -> str:
    """One cell: text behind ``[markdown]`` or behind the mark itself, then code."""
    mark, _, body = cell.partition("\n")
    if mark.strip() == "[markdown]":
        return re.sub(r"^# ?", "", body.strip(), flags=re.MULTILINE) + "\n"
    code = f"```python\n{body.strip()}\n```\n" if body.strip() else ""
    return f"{mark.strip()}\n\n{code}"


def _card(address: str, title: str, figure: str) -> str:
    return f'<a class="card" href="{address}">{drawing(figure, title)}<span>{escape(title)}</span></a>'


def _grid(cards: list[str]) -> str:
    return f'<div class="gallery">\n{"".join(cards)}\n</div>\n'
