"""Draw the figures of the pages, and put them into the pages so that they follow light and dark.

python docs/hooks/figures.py            # every page and example with a picture
python docs/hooks/figures.py quick_start fairness

A page shows what its own code saves: code that says ``savefig("NAME.svg")`` stands on a page with
``![...](figures/NAME.svg)``. An example leaves its picture in a variable called ``figure``; what it prints is
kept beside the picture.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import sys
import tempfile
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FIGURES = DOCS / "figures"
EXAMPLES = ROOT / "examples"

# Drawn by matplotlib, then replaced by the colour of the text around the picture.
_INK = "#010203"
# By hand: on 4 inches even small letters (8.3 points) stay above 9 pixels on a telephone of 390 pixels.
STYLE: dict[str, Any] = {
    "figure.figsize": (4.0, 3.0),
    "figure.constrained_layout.use": True,
    "svg.fonttype": "none",  # letters stay letters, which the page's search and readers' ears can find
    "svg.hashsalt": "spectralcit",  # the same content, the same bytes
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "legend.frameon": False,
    "savefig.dpi": 160,  # of points that are drawn as one image
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), _INK),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
}
# For those who open the file itself, where nothing around it has a colour.
_ALONE = "<style>svg{color:#222}@media(prefers-color-scheme:dark){svg{color:#ddd}}</style>"


def code_of(page: Path) -> str:
    """All Python blocks of a page, in order, as one program."""
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return "\n".join(blocks)


def pages_with_figures() -> list[Path]:
    """Pages whose code saves a picture that they show."""
    return [page for page in sorted(DOCS.glob("*.md")) if saved_figures(page)]


def saved_figures(page: Path) -> list[str]:
    """Names of the pictures that the code of a page saves and the page shows."""
    shown = set(re.findall(r"\]\(figures/([\w-]+)\.svg\)", page.read_text(encoding="utf-8")))
    return [name for name in re.findall(r'savefig\("([\w-]+)\.svg"\)', code_of(page)) if name in shown]


def examples() -> list[Path]:
    """Examples that draw something, the one to begin with first."""
    drawn = [path for path in EXAMPLES.glob("*.py") if "figure, " in path.read_text(encoding="utf-8")]
    return sorted(drawn, key=lambda path: (path.stem != "quick_start", path.stem))


def draw_page(page: Path) -> None:
    """Run the code of a page and keep the pictures it saves."""
    with _workshop() as folder:
        exec(compile(code_of(page), page.name, "exec"), {"__name__": "page"})
        for name in saved_figures(page):
            _keep(folder / f"{name}.svg")


def draw_example(path: Path) -> None:
    """Run an example; keep its picture and what it prints."""
    printed = io.StringIO()
    with _workshop() as folder:
        with contextlib.redirect_stdout(printed):
            found = runpy.run_path(str(path), run_name="example")
        found["figure"].savefig(folder / f"{path.stem}.svg")
        _keep(folder / f"{path.stem}.svg")
    (FIGURES / f"{path.stem}.txt").write_text(printed.getvalue(), encoding="utf-8")


@contextlib.contextmanager
def _workshop() -> Iterator[Path]:
    """An empty folder to run in, and matplotlib in the style of the pages."""
    import matplotlib as mpl

    mpl.use("svg")
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, mpl.rc_context(STYLE):
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def _keep(drawing: Path) -> None:
    text = drawing.read_text(encoding="utf-8")
    text = text[text.index("<svg") :]
    # The date would change every run, and the style of the letters is that of the page.
    text = re.sub(r"<metadata>.*?</metadata>\n?", "", text, flags=re.DOTALL)
    text = re.sub(r"<style .*?</style>", _ALONE, text, flags=re.DOTALL)
    text = re.sub(r"[ \t]+$", "", text.replace(_INK, "currentColor"), flags=re.MULTILINE)
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / drawing.name).write_text(text, encoding="utf-8")


def with_figures(html: str) -> str:
    """A page with its drawings inside it: an image of its own could not know whether the page is dark."""
    return re.sub(r'<img alt="([^"]*)" src="[^"]*?figures/([\w-]+)\.svg" ?/?>', _drawing, html)


def _drawing(image: re.Match[str]) -> str:
    return drawing(image[2], unescape(image[1]))


def drawing(name: str, words: str) -> str:
    """The ``<svg>`` of a figure, to stand in a page; `words` are for those who do not see it."""
    text = (FIGURES / f"{name}.svg").read_text(encoding="utf-8").replace(_ALONE, "")
    box = re.search(r'viewBox="[^"]*"', text)
    assert box is not None, name
    # Several drawings may stand on one page: identifiers begin with the name.
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(url\(|href=")#', rf"\1#{name}-", text)
    head = f'<svg class="drawing" {box[0]} role="img" aria-label="{escape(words, quote=True)}">'
    return re.sub(r"<svg[^>]*>", lambda _: head, text, count=1)


if __name__ == "__main__":
    wanted = set(sys.argv[1:])
    for path in [*pages_with_figures(), *examples()]:
        if not wanted or path.stem in wanted:
            (draw_page if path.suffix == ".md" else draw_example)(path)
