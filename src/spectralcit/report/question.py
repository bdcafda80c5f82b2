"""The question that a test answers, in the user's own column names."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Question"]

_NAMED = 4  # columns of one role that a sentence names before it counts the others


@dataclass(frozen=True)
class Question:
    """Which columns were tested, and where they came from.

    Parameters
    ----------
    x, y, z
        Names of the source columns; an empty ``z`` asks for unconditional independence.
    source
        Where the data came from, for instance the path of a file; may be empty.

    Examples
    --------
    >>> Question(("gene",), ("outcome",), ("age", "stage")).in_words()
    'Is gene independent of outcome once age and stage are known?'
    >>> Question(("gene",), ("outcome",), ()).in_words()
    'Is gene independent of outcome?'
    """

    x: tuple[str, ...]
    y: tuple[str, ...]
    z: tuple[str, ...]
    source: str = ""

    def in_words(self) -> str:
        """Return the question as one sentence."""
        verb = "Is" if len(self.x) == 1 else "Are"
        start = f"{verb} {enumerated(self.x)} independent of {enumerated(self.y)}"
        if not self.z:
            return f"{start}?"
        return f"{start} once {enumerated(self.z)} {'is' if len(self.z) == 1 else 'are'} known?"


def enumerated(names: tuple[str, ...]) -> str:
    """Return names as a list in a sentence; the rest of a long one is counted.

    Parameters
    ----------
    names
        The names, at least one.

    Examples
    --------
    >>> enumerated(("a", "b", "c"))
    'a, b and c'
    >>> enumerated(tuple("abcdefgh"))
    'a, b, c and 5 other columns'
    """
    shown = list(names)
    if len(shown) > _NAMED:
        shown = [*shown[: _NAMED - 1], f"{len(shown) - _NAMED + 1} other columns"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
