"""The API reference: one Markdown page for every public module, made of its docstrings."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

# Public modules and what they are for; the names come from their __all__.
MODULES = {
    "spectralcit": "The names that most programs need.",
    "spectralcit.tables": "Tables from files.",
    "spectralcit.imaging": "From images of slides to a table of features.",
    "spectralcit.plots": "Pictures of results, each on an optional matplotlib Axes.",
    "spectralcit.report": "The HTML report.",
    "spectralcit.suggest": "Which tests suit the data.",
    "spectralcit.discovery": "Graphs from many tests, and adapters to other libraries.",
    "spectralcit.samplers": "Models of X given Z for the model-X tests.",
    "spectralcit.datasets": "Synthetic data whose truth is known.",
    "spectralcit.benchmark": "Suites, their runner, their store and their figures.",
    "spectralcit.benchmark.reproduce": "The experiments of the paper.",
    "spectralcit.studies": "Real studies: the breast-cancer question.",
    "spectralcit.tuning": "Parameters of a test by the paper's grids and objective.",
    "spectralcit.parameters": "What parameters of a test may be, for authors of tests.",
    "spectralcit.errors": "Every error and warning a user can meet.",
}
# What a reader looks for first; the other names follow in the order of __all__, the alphabet.
FIRST = (
    "ci_test",
    "CITestResult",
    "list_tests",
    "test_many",
    "screen",
    "SequentialCI",
    "learn_features",
    "read_table",
    "suggest_tests",
    "SpectralCIT",
)


def reference_pages() -> dict[str, str]:
    """Path and Markdown of every page; the first is the one of the package itself."""
    pages: dict[str, str] = {}
    seen: set[int] = set()
    for name, purpose in MODULES.items():
        module = importlib.import_module(name)
        parts = [f"# {name if pages else 'API reference'}\n\n{purpose}\n"]
        parts += [] if pages else [_contents()]
        for attribute in _names(module):
            value = getattr(module, attribute)
            if callable(value) and id(value) not in seen:
                seen.add(id(value))
                parts.append(_entry(name, attribute, value))
        pages[page_of(name)] = "\n".join(parts)
    return pages


def page_of(module: str) -> str:
    """Where the page of a module is."""
    inner = module.partition(".")[2]
    return f"api/{inner}.md" if inner else "api.md"


def _contents() -> str:
    others = [f"- [`{name}`]({page_of(name)}): {text}" for name, text in MODULES.items() if "." in name]
    head = "Made from the docstrings of this version. `from spectralcit import ...` gives the names below."
    return "\n".join([head, "", "Other modules:", "", *others, ""])


def _names(module: Any) -> list[str]:
    first = [name for name in FIRST if name in module.__all__]
    return first + [name for name in module.__all__ if name not in first]


def _entry(module: str, name: str, value: Any) -> str:
    lines = [f"## {name}\n", f"```text\n{module}.{name}{_signature(value)}\n```\n", _body(value)]
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
        # Annotations are kept as text, hence in quotes; defaults that are text keep theirs.
        text = re.sub(r"(: |-> )(['\"])(.*?)\2(?= =|,|\)|$)", r"\1\3", str(inspect.signature(value)))
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
