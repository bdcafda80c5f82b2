"""Numbers as people write them in texts, with a decimal point or a decimal comma."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["has_decimal_comma", "is_number", "number_in", "speaks_for_comma", "speaks_for_point"]

# Numbers with a fraction after either mark; the comma's parts tell it from a thousands mark.
_COMMA = re.compile(r"\s*[+-]?(\d+|\d{1,3}(?:\.\d{3})+),(\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_GROUPED = re.compile(r"\s*[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?\s*", re.ASCII)  # 1.250.000,5
_POINT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*", re.ASCII)


def number_in(text: str, decimal: str = ".") -> float | None:
    """The number that `text` is with this decimal mark, or ``None``.

    Examples
    --------
    >>> number_in("1.250,5", ","), number_in("1.25", ","), number_in("1_000")
    (1250.5, None, None)
    """
    if decimal == ",":  # then a point can only be a thousands mark
        text = text.replace(".", "" if _GROUPED.fullmatch(text) else "_").replace(",", ".")
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def is_number(text: str) -> bool:
    """Whether `text` is a number with a decimal point or without any."""
    return number_in(text) is not None


def has_decimal_comma(text: str) -> bool:
    """Whether `text` looks like a number with a decimal comma: ``-1,5``."""
    return _COMMA.fullmatch(text) is not None


def speaks_for_comma(texts: Iterable[str]) -> bool:
    """Whether some text has a comma that cannot be a thousands mark.

    Examples
    --------
    >>> speaks_for_comma(["1,250"]), speaks_for_comma(["1,25"]), speaks_for_comma(["0,125"])
    (False, True, True)
    """
    found = filter(None, map(_COMMA.fullmatch, texts))
    return any(len(one[2]) != 3 or len(one[1]) > 3 or one[1].startswith("0") for one in found)


def speaks_for_point(texts: Iterable[str]) -> bool:
    """Whether some text is a number with a decimal point."""
    return any(_POINT.fullmatch(text) for text in texts)
