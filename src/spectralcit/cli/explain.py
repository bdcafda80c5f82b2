"""``spectralcit explain``: what a test does, from its own documentation."""

from __future__ import annotations

import inspect
import re
import textwrap
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console

from ..parameters import parameters_of
from ..registry import get_test, list_tests, registered_name
from ..verdict import INDEPENDENT_ROWS
from .options import AsJson, complete_method
from .shell import console, print_json, print_text

__all__ = ["explain", "explanation"]

_OPTIONS = ("random_state", "missing", "progress")  # the command line has its own ways for these


def explain(
    name: Annotated[
        str, typer.Argument(help="Name of a test; see spectralcit tests.", autocompletion=complete_method)
    ],
    as_json: AsJson = False,
) -> None:
    """Say what a test does, what it assumes and costs, when it fails, and which parameters it has."""
    content = explanation(name)
    if as_json:
        print_json(content)
    else:
        _show(console(), content)


def explanation(name: str) -> dict[str, Any]:
    """What is known about a test, as plain JSON types."""
    cls = get_test(name)
    info = next(one for one in list_tests() if one.name == registered_name(cls))
    sections = _sections(inspect.getdoc(cls) or "")
    return {
        "name": info.name,
        **asdict(info.tags),
        "rows": _rows(info.tags.honours),
        "description": sections[""],
        "notes": sections.get("Notes", ""),
        "parameters": _parameters(cls),
        "reference": sections.get("References", ""),
    }


def _rows(honours: tuple[str, ...]) -> str:
    """What is taken for granted about the rows, and what may be said of them instead."""
    told = [f"--{name}" for name in honours if name in ("groups", "time")]
    return (
        f"{INDEPENDENT_ROWS} Say so with {' or '.join(told)} if they are not." if told else INDEPENDENT_ROWS
    )


def _parameters(cls: type) -> dict[str, dict[str, str]]:
    """Default, allowed values and meaning of each parameter; what a hand-written signature lacks is empty."""
    declared = parameters_of(cls)
    found = {}
    for name, written in inspect.signature(cls).parameters.items():
        if written.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        default = "required" if written.default is inspect.Parameter.empty else repr(written.default)
        allowed, meaning = "", ""
        if name in declared:
            allowed, meaning = declared[name][1].words, declared[name][1].doc
        found[name] = {"default": default, "allowed": allowed, "meaning": meaning}
    return found


def _sections(docstring: str) -> dict[str, str]:
    """Split a numpydoc text at its underlined headings; what comes first has the heading ``""``."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", docstring, flags=re.MULTILINE)
    found = {"": parts[0].strip()}
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        found[heading] = textwrap.dedent(body).strip()
    return found


def _plain(text: str) -> str:
    """Drop the markup of docstrings: ``code`` and `code` become code."""
    return re.sub(r"`+([^`]*)`+", r"\1", text)


def _show(screen: Console, content: dict[str, Any]) -> None:
    screen.print(f"{content['name']}: {content['summary']}\n", markup=False, highlight=False, style="bold")
    print_text(screen, _plain(content["description"]))
    facts = [
        ("Assumes", f"{content['assumes']}\n\n{content['rows']}".strip()),
        ("Fails", content["fails"]),
        ("Costs", f"{content['cost']} in the number of rows n"),
        ("Accepts", _accepts(content)),
        ("Notes", content["notes"]),
        ("Reference", content["reference"]),
    ]
    for heading, text in facts:
        if text:
            screen.print(f"\n{heading}", style="bold", highlight=False)
            print_text(screen, _plain(text), "  ")
    screen.print("\nParameters (give them as --param name=value)", style="bold", highlight=False)
    for key, entry in content["parameters"].items():
        if key in _OPTIONS:
            continue
        print_text(screen, f"{key} = {entry['default']}", "  ")
        allowed = f"It is {entry['allowed']}." if entry["allowed"] else ""
        print_text(screen, _plain(f"{entry['meaning']} {allowed}"), "      ")


def _accepts(content: dict[str, Any]) -> str:
    kinds = "numbers and categories" if content["mixed"] else "numbers only"
    if content["discrete"]:
        kinds = "categories and other discrete columns only"
    columns = "any number of columns in X and Y" if content["multivariate"] else "one column each in X and Y"
    given = "with or without Z" if content["conditional"] else "no Z"
    sides = "X and Y may change places" if content["symmetric"] else "X and Y play different parts"
    return f"{kinds}; {columns}; {given}; {sides}"
