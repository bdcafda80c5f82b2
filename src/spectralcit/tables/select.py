"""Column selections as people type them: names, patterns and ranges, separated by commas."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from ..errors import OverlappingColumnsError, ParameterError, UnknownColumnError, listing, suggestion

__all__ = ["columns_matching", "is_pattern", "quoted", "split_outside_quotes"]


def columns_matching(spec: str, names: Sequence[str], *, without: Collection[str] = ()) -> tuple[str, ...]:
    r"""Return the columns that `spec` asks for.

    Parameters
    ----------
    spec
        Items separated by commas. An item is a name; a pattern with ``*`` or ``?``; a range ``first:last`` by
        the order of the columns, either end of which may be left out; or one of these after ``!``, which
        takes columns away again. A name with a comma in it goes between quotes, ``"a,b"``, or has the comma
        escaped, ``a\,b``. What is quoted is always a name, and a name that exists wins over a pattern.
    names
        All columns, in order.
    without
        Columns that already have another role: patterns and ranges skip them, naming one is an error.

    Returns
    -------
    tuple of str
        Each column once, in the order of the items.

    Examples
    --------
    >>> columns_matching("age,img_*", ["id", "age", "img_1", "img_2"])
    ('age', 'img_1', 'img_2')
    >>> columns_matching("age:,!img_2", ["id", "age", "img_1", "img_2"])
    ('age', 'img_1')
    """
    chosen: dict[str, None] = {}
    for text, quoted in _items(spec):
        if text.startswith("!") and not quoted and text not in names:
            for name in _matches(text[1:], False, names, ()):
                chosen.pop(name, None)
        else:
            chosen.update(dict.fromkeys(_matches(text, quoted, names, without)))
    if not chosen:
        raise ParameterError(f"{spec!r} selects no column; the columns are: {listing(names)}")
    return tuple(chosen)


def split_outside_quotes(text: str, mark: str) -> list[str]:
    r"""Cut `text` at `mark`, but not where a selection is quoted or escaped; quotes and escapes stay.

    Examples
    --------
    >>> split_outside_quotes('age,"a<b" < stage', "<")
    ['age,"a<b" ', ' stage']
    """
    parts, quote, k = [""], "", 0
    while k < len(text):
        character = text[k]
        width = 1
        if character == "\\":
            width = 2
        elif quote:
            quote = "" if character == quote else quote
        elif text.startswith(mark, k):
            parts.append("")
            k += len(mark)
            continue
        elif character in "\"'" and (not parts[-1].strip() or parts[-1].rstrip().endswith(",")):
            quote = character
        parts[-1] += text[k : k + width]
        k += width
    return parts


def quoted(name: str) -> str:
    r"""The selection that means this one name, whatever is in it."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return name if name.replace("_", "").isalnum() else f'"{escaped}"'


def is_pattern(item: str, names: Sequence[str]) -> bool:
    """Whether an item of a selection stands for what it matches and not for one column of that name."""
    if item in names:
        return False
    [(text, literal)] = _items(item)
    return not literal and any(mark in text for mark in "*?:!")


def _items(spec: str) -> list[tuple[str, bool]]:
    """Split at commas outside quotes; each item with whether any of it was quoted or escaped."""
    items: list[tuple[str, bool]] = []
    text, literal, quote = "", False, ""
    characters = iter(spec)
    for character in characters:
        if character == "\\":
            text, literal = text + next(characters, "\\"), True
        elif quote:
            text, quote = (text, "") if character == quote else (text + character, quote)
        elif character in "\"'" and not text.strip():
            text, literal, quote = "", True, character
        elif character == ",":
            items.append((text, literal))
            text, literal = "", False
        else:
            text += character
    if quote:
        raise ParameterError(f"a quote {quote} is left open in {spec!r}")
    items.append((text, literal))
    stripped = [(text.strip(), literal) for text, literal in items]
    return [item for item in stripped if item[0]]


def _matches(text: str, quoted: bool, names: Sequence[str], without: Collection[str]) -> list[str]:
    if text in names:
        if text in without:
            raise OverlappingColumnsError(f"the column {text!r} already has another role; name it only once")
        return [text]
    found: list[str] | None = None
    if not quoted and ":" in text:
        found = _range(text, names)
    elif not quoted and any(mark in text for mark in "*?"):
        found = [name for name in names if fnmatchcase(name, text)]
        if not found:
            raise UnknownColumnError(f"no column matches {text!r}; the columns are: {listing(names)}")
    if found is None:
        raise _unknown(text, names)
    return [name for name in found if name not in without]


def _range(text: str, names: Sequence[str]) -> list[str] | None:
    """Columns between the two ends; a name may itself hold a colon, so every colon is tried."""
    cuts = [position for position, character in enumerate(text) if character == ":"]
    for cut in cuts:
        first, last = text[:cut].strip() or names[0], text[cut + 1 :].strip() or names[-1]
        if first in names and last in names:
            start, stop = names.index(first), names.index(last)
            if start > stop:
                raise ParameterError(f"the range {text!r} runs backwards: {last!r} comes before {first!r}")
            return list(names[start : stop + 1])
    for end in (part.strip() for part in text.split(":") if part.strip()) if len(cuts) == 1 else ():
        if end not in names:
            raise _unknown(end, names, f" (an end of the range {text!r})")
    return None


def _unknown(text: str, names: Sequence[str], where: str = "") -> UnknownColumnError:
    return UnknownColumnError(
        f"there is no column {text!r}{where}.{suggestion(text, names)} The columns are: {listing(names)}"
    )
