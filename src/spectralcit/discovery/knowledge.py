"""`Knowledge`: what is known about arrows before the search, and what it means for the nodes at hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ParameterError, SpectralCITError
from ..tables.select import columns_matching, is_pattern, quoted, split_outside_quotes

__all__ = ["Constraints", "Knowledge"]

Arrow = tuple[str, str]


@dataclass(frozen=True)
class Knowledge:
    """What is known before the search: an order in time, arrows that cannot be, and arrows that are there.

    Names are those of the nodes, in the syntax of the command line: several are separated by commas,
    ``gene_*`` is a pattern, ``c3:c9`` a range, ``"a,b"`` in quotes one name.

    Parameters
    ----------
    tiers
        What comes first, then what comes next: ``"age,sex < stage < gene_* < relapse"``, or a list of lists
        of names. No arrow points from a later tier to an earlier one; within a tier anything may be. Nodes
        in no tier are free. A name counts before a pattern, and ``*`` means all nodes that no other tier has.
    forbidden
        Arrows that cannot be: ``["relapse -> gene_*"]``, or pairs of names. If the two have an edge, it
        points the other way; forbidden in both ways, they have none.
    required
        Arrows that are there whatever the tests say: ``["dose -> response"]``, or pairs of names.

    Examples
    --------
    >>> known = Knowledge(tiers="age < stage < gene_*", required=["age -> stage"])
    >>> known.constraints(["gene_1", "age", "stage"]).forbidden.astype(int)
    array([[0, 1, 1],
           [0, 0, 0],
           [0, 1, 0]])
    """

    tiers: tuple[str, ...] = ()
    forbidden: tuple[Arrow, ...] = ()
    required: tuple[Arrow, ...] = ()

    def __init__(
        self,
        tiers: str | Iterable[str | Iterable[str]] = (),
        forbidden: Iterable[str | tuple[Any, Any]] = (),
        required: Iterable[str | tuple[Any, Any]] = (),
    ) -> None:
        object.__setattr__(self, "tiers", _read_tiers(tiers))
        object.__setattr__(self, "forbidden", _read_arrows("forbidden", forbidden))
        object.__setattr__(self, "required", _read_arrows("required", required))

    def __bool__(self) -> bool:
        return bool(self.tiers or self.forbidden or self.required)

    def constraints(self, names: Sequence[str]) -> Constraints:
        """What it says about nodes of these names; `ParameterError` when it contradicts itself."""
        tier = _tier_of(self.tiers, names)
        required = _arrows("required", self.required, names)
        forbidden = _arrows("forbidden", self.forbidden, names)
        later = np.array([[tier.get(a, -1) > tier.get(b, len(names)) for b in names] for a in names])
        _refuse(required & later, names, "is required, but the tiers put {b} before {a}")
        _refuse(required & forbidden, names, "is both required and forbidden")
        _refuse(required & required.T, names, "and {b} -> {a} are both required")
        _refuse_cycle(required, names)
        return Constraints(forbidden | later, required)

    def in_words(self) -> list[str]:
        """One line for each thing that is known, as on the command line."""
        lines = [f"tiers: {' < '.join(self.tiers)}"] if self.tiers else []
        for word, arrows in (("forbidden", self.forbidden), ("required", self.required)):
            lines += [f"{word}: {source} -> {target}" for source, target in arrows]
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {
            "tiers": list(self.tiers),
            "forbidden": [" -> ".join(arrow) for arrow in self.forbidden],
            "required": [" -> ".join(arrow) for arrow in self.required],
        }


@dataclass(frozen=True, eq=False)
class Constraints:
    """Knowledge about numbered nodes."""

    forbidden: np.ndarray  # [i, j]: no arrow from i to j
    required: np.ndarray  # [i, j]: an arrow from i to j

    @property
    def barred(self) -> np.ndarray:
        """Pairs that have no edge."""
        return self.forbidden & self.forbidden.T

    @property
    def kept(self) -> np.ndarray:
        """Pairs that have an edge whatever the tests say."""
        return self.required | self.required.T

    @property
    def directed(self) -> np.ndarray:
        """``[i, j]``: an edge between the two, if there is one, points to j."""
        return self.required | (self.forbidden.T & ~self.forbidden)


def _read_tiers(given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        tiers = tuple(part.strip() for part in split_outside_quotes(given, "<"))
        if not any(tiers):
            return ()
    else:
        tiers = tuple(_selection("tiers", tier) for tier in _listed("tiers", given))
    if not all(tiers):
        raise ParameterError("tiers: a tier is empty; write for instance 'age,sex < stage < relapse'")
    return tiers


def _read_arrows(word: str, given: Any) -> tuple[Arrow, ...]:
    arrows = [given] if isinstance(given, str) else _listed(word, given)
    return tuple(_read_arrow(word, arrow) for arrow in arrows)


def _read_arrow(word: str, given: Any) -> Arrow:
    if isinstance(given, str):
        ends = [part.strip() for part in split_outside_quotes(given, "->")]
    else:
        ends = [_selection(word, end) for end in _listed(word, given)]
    if len(ends) != 2 or not all(ends):
        raise ParameterError(f"{word}: {given!r} is no arrow; write 'a -> b', or the pair ('a', 'b')")
    return ends[0], ends[1]


def _selection(word: str, given: Any) -> str:
    """A selection as text: what was typed, or a list of names, which are taken literally."""
    if isinstance(given, str):
        return given.strip()
    return ",".join(quoted(str(name)) for name in _listed(word, given))


def _listed(word: str, given: Any) -> list[Any]:
    if not isinstance(given, Iterable):
        raise ParameterError(f"{word} must be text or a list, got {given!r}")
    return list(given)


def _matching(word: str, selection: str, names: Sequence[str]) -> tuple[str, ...]:
    if selection in names:  # whatever marks are in it
        return (selection,)
    try:
        return columns_matching(selection, names)
    except SpectralCITError as error:
        raise type(error)(f"{word}: {error}") from error


def _tier_of(tiers: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """The number of the tier of each node that is in one: names first, then patterns, then the rest."""
    places: dict[str, int] = {}

    def put(number: int, found: Iterable[str]) -> None:
        for name in found:
            if places.setdefault(name, number) != number:
                raise ParameterError(
                    f"tiers: {name!r} is in tier {places[name] + 1} and in tier {number + 1}; "
                    "a node has one place in time"
                )

    patterns: list[tuple[int, str]] = []
    rest: list[tuple[int, str]] = []
    for number, tier in enumerate(tiers):
        parts = [tier] if tier in names else split_outside_quotes(tier, ",")
        items = [text for part in parts if (text := part.strip())]
        vague = [text for text in items if is_pattern(text, names)]
        for text in items:
            if text not in vague:
                put(number, _matching("tiers", text, names))
        if vague:
            (rest if "*" in vague else patterns).append((number, ",".join(vague)))
    if len(rest) > 1:
        raise ParameterError("tiers: '*', which means all other nodes, is in two tiers")
    named = set(places)
    for number, selection in patterns:
        put(number, [name for name in _matching("tiers", selection, names) if name not in named])
    for number, selection in rest:
        put(number, [name for name in _matching("tiers", selection, names) if name not in places])
    return places


def _arrows(word: str, arrows: Iterable[Arrow], names: Sequence[str]) -> np.ndarray:
    found = np.zeros((len(names), len(names)), dtype=bool)
    number = {name: k for k, name in enumerate(names)}
    for source, target in arrows:
        ends = _matching(word, source, names), _matching(word, target, names)
        pairs = [(number[a], number[b]) for a in ends[0] for b in ends[1] if a != b]
        if not pairs:
            raise ParameterError(f"{word}: {source} -> {target} is an arrow from a node to itself")
        for pair in pairs:
            found[pair] = True
    return found


def _refuse(wrong: np.ndarray, names: Sequence[str], why: str) -> None:
    if wrong.any():
        a, b = (names[k] for k in np.argwhere(wrong)[0])
        raise ParameterError(f"the knowledge contradicts itself: {a} -> {b} {why.format(a=a, b=b)}")


def _refuse_cycle(required: np.ndarray, names: Sequence[str]) -> None:
    cycle = directed_cycle(required)
    if cycle:
        arrows = " -> ".join(names[k] for k in [*cycle, cycle[0]])
        raise ParameterError(f"the knowledge contradicts itself: the required arrows {arrows} form a cycle")


def directed_cycle(arrows: np.ndarray) -> list[int]:
    """The nodes of one directed cycle in order, or none: what is left after taking away ends and starts."""
    left = list(range(len(arrows)))
    while True:
        inner = [k for k in left if arrows[k, left].any() and arrows[left, k].any()]
        if len(inner) == len(left):
            break
        left = inner
    path: list[int] = []
    node = left[0] if left else None
    while node is not None and node not in path:  # every node that is left has a successor that is left
        path.append(node)
        node = next(k for k in left if arrows[node, k])
    return path[path.index(node) :] if node is not None else []
