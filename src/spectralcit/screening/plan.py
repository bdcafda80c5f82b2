"""Which columns a screen tests, against which outcomes, and given what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import (
    CensoredTimesError,
    OverlappingColumnsError,
    ParameterError,
    UnknownColumnError,
    suggestion,
)
from ..inputs.table import listing, repeated
from ..tables import columns_matching
from .sources import Source

__all__ = ["Plan", "plan_of", "plan_of_pairs"]


@dataclass(frozen=True)
class Plan:
    """Which columns are tested against each outcome, and what they are conditioned on."""

    tested: Mapping[str, tuple[str, ...]]  # by outcome
    z: tuple[str, ...]
    events: Mapping[str, str] = field(default_factory=dict)  # of outcomes that are censored times

    @property
    def read_once(self) -> tuple[str, ...]:
        """Columns that every question needs: outcomes, events and Z."""
        return tuple(dict.fromkeys([*self.tested, *self.events.values(), *self.z]))


def plan_of(x: Any, y: Any, z: Any, source: Source, apart: tuple[str, ...]) -> Plan:
    """Every column against every outcome; "all others" are those that no other role names."""
    in_y, events = _outcomes(y, source, apart)
    if not in_y:
        raise ParameterError("y is missing: name the outcome")
    taken = (*in_y, *events.values(), *apart)
    if x is None or (isinstance(x, str) and x.strip() == "*"):
        in_z = _selected(z, source, "z", taken)
        in_x = tuple(name for name in source.names if name not in {*taken, *in_z})
        if not in_x:
            raise ParameterError("x: every column is the outcome or given; there is none left to test")
    else:
        in_x = _selected(x, source, "x", taken)
        if not in_x:
            raise ParameterError("x names no column to test")
        in_z = _selected(z, source, "z", (*in_x, *taken))
    return Plan(dict.fromkeys(in_y, in_x), in_z, events)


def plan_of_pairs(x: Any, y: Any, pairs: Any, z: Any, source: Source, apart: tuple[str, ...]) -> Plan:
    """Each column as the outcome of those that come before it."""
    if x is not None or y is not None:
        raise ParameterError("give either pairs, or x and y")
    chosen = _selected(pairs, source, "pairs", apart)
    if len(chosen) < 2:
        raise ParameterError(f"pairs needs at least two columns, got {len(chosen)}")
    in_z = _selected(z, source, "z", (*chosen, *apart))
    return Plan({name: chosen[:k] for k, name in enumerate(chosen) if k}, in_z)


def _outcomes(y: Any, source: Source, apart: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Outcomes, and the event of a censored time: a tuple of two is one, as in `ci_test`."""
    if not (isinstance(y, tuple) and len(y) == 2):
        return _selected(y, source, "y", apart), {}
    time, event = (_only(part, source, role, apart) for role, part in zip(("time", "event"), y, strict=True))
    if time == event:
        raise OverlappingColumnsError(
            f"the column {time!r} cannot be both time and event of a censored y; to test two outcomes, "
            "give a list of names instead of a pair"
        )
    return (time,), {time: event}


def _only(part: Any, source: Source, role: str, apart: tuple[str, ...]) -> str:
    found = _selected(str(part), source, role, apart)
    if len(found) != 1:
        got = ", ".join(found) or "none"
        raise CensoredTimesError(
            f"the {role} of a censored y must be one column, got {got}; several outcomes are a list of names"
        )
    return found[0]


def _selected(given: Any, source: Source, role: str, without: Sequence[str]) -> tuple[str, ...]:
    """Names and patterns as a list, or a selection in words."""
    if given is None or (not isinstance(given, str) and len(given) == 0):
        return ()
    if isinstance(given, str):
        return columns_matching(given, source.names, without=without) if given.strip() else ()
    known, items = set(source.names), [str(item) for item in given]
    if twice := repeated(items):
        raise ParameterError(f"{role} names the column {twice[0]!r} more than once")
    chosen: dict[str, None] = {}
    for item in items:
        if item in known:
            chosen[item] = None
        elif any(mark in item for mark in "*?"):  # in a list a colon or a comma belongs to a name
            chosen.update(dict.fromkeys(columns_matching(item, source.names, without=without)))
        else:
            raise UnknownColumnError(
                f"{role}: there is no column {item!r}.{suggestion(item, source.names)} "
                f"The columns are: {listing(source.names)}"
            )
    return tuple(chosen)
