"""What mkdocs cannot do alone: a nav that finds pages, a table of all tests, and an API reference."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from spectralcit import list_tests

# Public modules and what they are for; the names come from their __all__.
MODULES = {
    "spectralcit": "The names that most programs need.",
    "spectralcit.parameters": "What parameters of a test may be, for authors of tests.",
    "spectralcit.plots": "Pictures of results, each on an optional matplotlib Axes.",
    "spectralcit.report": "The HTML report.",
    "spectralcit.tables": "Tables from files.",
    "spectralcit.suggest": "Which tests suit the data.",
    "spectralcit.discovery": "Graphs from many conditional independence tests.",
    "spectralcit.samplers": "Models of X given Z for the model-X tests.",
    "spectralcit.datasets": "Synthetic data whose truth is known.",
    "spectralcit.benchmark": "Suites, their runner, their store and their figures.",
    "spectralcit.benchmark.reproduce": "The experiments of the paper.",
    "spectralcit.tuning": "Parameters of a test by the paper's grids and objective.",
    "spectralcit.errors": "Every error and warning a user can meet.",
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of docs/tests under "Tests", and pages that the nav does not name under "More"."""
    docs = Path(config.docs_dir)
    tests = [{_title(page): f"tests/{page.name}"} for page in sorted((docs / "tests").glob("*.md"))]
    nav = [{"Tests": tests} if entry == {"Tests": []} else entry for entry in config.nav or []]
    named = set(re.findall(r"'([^']+\.md)'", repr(nav)))
    others = [page for page in sorted(docs.glob("*.md")) if page.name not in named]
    if others:
        nav.insert(-1, {"More": [{_title(page): page.name} for page in others]})
    config.nav = nav
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated page."""
    files.append(File.generated(config, "api.md", content=api_page()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the table of all tests where a page asks for it."""
    return markdown.replace("<!-- all tests -->", table_of_tests(Path(config.docs_dir)))


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
    first = page.read_text(encoding="utf-8").lstrip().splitlines()[0]
    return first.lstrip("# ").replace("`", "").replace('"', "")


def api_page() -> str:
    """Return the API reference as Markdown."""
    parts = ["# API reference\n\nMade from the docstrings of this version.\n"]
    seen: set[int] = set()
    for name, purpose in MODULES.items():
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name == name:
                continue
            raise
        parts.append(f"## `{name}`\n\n{purpose}\n")
        for attribute in module.__all__:
            value = getattr(module, attribute)
            if callable(value) and id(value) not in seen:
                seen.add(id(value))
                parts.append(_entry(name, attribute, value))
    return "\n".join(parts)


def _entry(module: str, name: str, value: Any) -> str:
    lines = [f"### {name}\n", f"```text\n{module}.{name}{_signature(value)}\n```\n", _body(value)]
    if inspect.isclass(value) and not issubclass(value, BaseException):
        for method, member in vars(value).items():
            if not method.startswith("_") and inspect.isfunction(inspect.unwrap(_plain(member))):
                inner = _plain(member)
                lines.append(f"**`{method}{_signature(inner)}`**\n\n{_summary(inner)}\n")
    return "\n".join(lines)


def _plain(member: Any) -> Any:
    return member.__func__ if isinstance(member, (classmethod, staticmethod)) else member


def _signature(value: Any) -> str:
    if inspect.isclass(value) and issubclass(value, BaseException):
        return ""
    try:
        text = str(inspect.signature(value)).replace("'", "")
    except (TypeError, ValueError):
        return ""
    return text if len(text) < 80 else _one_per_line(text)


def _one_per_line(signature: str) -> str:
    """Break a signature after the commas between its parameters, not after those inside brackets."""
    out, depth = "", 0
    for character in signature:
        depth += (character in "([{") - (character in ")]}")
        if character == ")" and depth == 0:
            out += ",\n"
        out += character
        if depth == 1 and character in "(,":
            out += "\n    "
    return out.replace("\n     ", "\n    ")


def _summary(value: Any) -> str:
    return (inspect.getdoc(value) or "").partition("\n\n")[0]


def _body(value: Any) -> str:
    """Return a numpydoc docstring as Markdown: bold sections, lists of entries, examples as code."""
    head, *sections = re.split(r"\n([A-Z][\w ]+)\n-{3,}\n", inspect.getdoc(value) or "")
    parts = [_inline(head.strip()) + "\n"]
    for title, content in zip(sections[::2], sections[1::2], strict=True):
        content = content.strip("\n")
        if title == "Examples":
            parts.append(f"**{title}**\n\n```pycon\n{content}\n```\n")
        elif title in ("Parameters", "Attributes", "Returns", "Raises"):
            parts.append(f"**{title}**\n\n{_definitions(content)}\n")
        else:
            parts.append(f"**{title}**\n\n{_inline(content)}\n")
    return "\n".join(parts)


def _definitions(content: str) -> str:
    items: list[str] = []
    for line in content.splitlines():
        if line and not line.startswith(" "):
            items.append(f"- `{line.replace('*', '')}`: ")
        elif items and line.strip():
            items[-1] += " " + line.strip()
    return "\n".join(_inline(item) for item in items)


def _inline(text: str) -> str:
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", text)
    # Outside code, "<" and "[" would be read as HTML and as links.
    pieces = re.split(r"(``[^`]+``|`[^`]+`)", text)
    return "".join(
        piece if piece.startswith("`") else piece.replace("<", "&lt;").replace("[", r"\[") for piece in pieces
    )
