"""Questions written as formulas: ``y ~ x | z1 + z2``."""

from __future__ import annotations

import re

from ..errors import ParameterError

__all__ = ["is_formula", "parse_formula"]

# A name between backticks, one of the signs between names, or anything else up to the next of these.
_TOKEN = re.compile(r"`(?P<quoted>[^`]*)`|(?P<sign>[~|+])|(?P<plain>[^`~|+]+)|(?P<open>`)")
_OPERATORS = set("*:^()")  # of the formulas of R that have no meaning here


def is_formula(text: object) -> bool:
    """Whether `text` is a formula rather than the name of a column."""
    return isinstance(text, str) and "~" in text


def parse_formula(text: str) -> tuple[list[str], list[str], list[str]]:
    """The names of the columns in x, in y and in z.

    Examples
    --------
    >>> parse_formula("relapse ~ gene | age + `tumour stage`")
    (['gene'], ['relapse'], ['age', 'tumour stage'])
    """
    tokens = [(found.lastgroup or "", found[found.lastgroup or 0]) for found in _TOKEN.finditer(text)]
    tokens = [(kind, word) for kind, word in tokens if kind != "plain" or word.strip()]
    if any(kind == "open" for kind, _ in tokens):
        raise _wrong(text, "a backtick is opened and not closed")
    sides = _split(tokens, "~")
    if len(sides) != 2:
        raise _wrong(text, f"there must be one '~', not {len(sides) - 1}")
    right = _split(sides[1], "|")
    if len(_split(sides[0], "|")) > 1 or len(right) > 2:
        raise _wrong(text, "there may be one '|', on the right of '~'")
    y, x = _names(sides[0], text, "left of '~'"), _names(right[0], text, "right of '~'")
    return x, y, _names(right[1], text, "right of '|'") if len(right) == 2 else []


def _split(tokens: list[tuple[str, str]], sign: str) -> list[list[tuple[str, str]]]:
    parts: list[list[tuple[str, str]]] = [[]]
    for token in tokens:
        if token == ("sign", sign):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _names(tokens: list[tuple[str, str]], text: str, where: str) -> list[str]:
    names = []
    for term in _split(tokens, "+"):
        if not term:
            raise _wrong(text, f"a name is missing {where}")
        kind, word = term[0]
        plain = word.strip()
        if len(term) > 1 or (kind == "plain" and len(plain.split()) > 1):
            shown = " ".join(part.strip() for _, part in term)
            raise _wrong(
                text,
                f"{shown!r} is not one name; names are joined by '+', and one with blanks goes "
                f"between backticks: `{shown}`",
            )
        if kind == "plain" and _OPERATORS & set(plain):
            raise _wrong(
                text,
                f"{plain!r}: columns are joined by '+' only; a name with such signs goes between "
                f"backticks: `{plain}`",
            )
        names.append(word if kind == "quoted" else plain)
    return names


def _wrong(text: str, what: str) -> ParameterError:
    return ParameterError(f"the formula {text!r} cannot be read: {what}. Write it as 'y ~ x | z1 + z2'")
