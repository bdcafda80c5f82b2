"""What mkdocs cannot do alone: a nav that finds pages, generated pages, a table of all tests, drawings."""

from __future__ import annotations

import re
from pathlib import Path

from figures import examples, with_figures
from gallery import gallery_pages, title_of
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from reference import MODULES, page_of, reference_pages

from spectralcit import list_tests


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the sections that the nav leaves empty, and put pages that it does not name under "More"."""
    docs = Path(config.docs_dir)
    sections = {
        "Tests": [{_title(page): f"tests/{page.name}"} for page in sorted((docs / "tests").glob("*.md"))],
        "Examples": [{_cell_title(path): f"examples/{path.stem}.md"} for path in examples()],
        "API": [{name: page_of(name)} for name in MODULES],
    }
    nav = [_filled(entry, sections) for entry in config.nav or []]
    named = set(re.findall(r"'([^']+\.md)'", repr(nav)))
    others = [page for page in sorted(docs.glob("*.md")) if page.name not in named]
    if others:
        nav.insert(-1, {"More": [{_title(page): page.name} for page in others]})
    config.nav = nav
    return config


def _filled(entry: dict, sections: dict[str, list]) -> dict:
    ((name, content),) = entry.items()
    return {name: [*content, *sections[name]]} if name in sections else entry


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, text in {**reference_pages(), **gallery_pages()}.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the table of all tests where a page asks for it."""
    return markdown.replace("<!-- all tests -->", table_of_tests(Path(config.docs_dir)))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put drawings into the page; let wide images scroll instead of shrinking."""
    html = re.sub(r'<p>(<img [^>]*\.png"[^>]*>)</p>', r'<div class="wide" tabindex="0">\1</div>', html)
    return with_figures(html)


def table_of_tests(docs: Path) -> str:
    """Return a row for every built-in test, from its tags, with a link to the page whose title names it."""
    pages = (docs / "tests").glob("*.md")
    titles = {page.name: page.read_text(encoding="utf-8").splitlines()[0] for page in pages}
    rows = ["| test | what it does | assumes | fails |", "|---|---|---|---|"]
    for info in list_tests():
        page = next((page for page, title in titles.items() if f'`"{info.name}"`' in title), None)
        name = f"[`{info.name}`](tests/{page})" if page else f"`{info.name}`"
        cells = (info.tags.summary, info.tags.assumes, info.tags.fails)
        rows.append(f"| {' | '.join([name, *(cell.replace('|', '&#124;') for cell in cells)])} |")
    return "\n".join(rows)


def _title(page: Path) -> str:
    return title_of(page.read_text(encoding="utf-8")).replace('"', "")


def _cell_title(example: Path) -> str:
    return example.read_text(encoding="utf-8").partition("# # ")[2].partition("\n")[0]
