"""What a test cannot take is refused, and the refusal names what can be done instead."""

from __future__ import annotations

from collections.abc import Sequence

from .errors import CensoredTimesError, ParameterError
from .registry import list_tests, registered_name

__all__ = [
    "able_tests",
    "honours",
    "require_censored",
    "require_honours",
]


def honours(cls: type) -> tuple[str, ...]:
    """Which of groups, time and weights a class honours, by its tags or its nearest registered parent's.

    Examples
    --------
    >>> from spectralcit import get_test
    >>> honours(get_test("crt")), honours(get_test("kcit"))
    (('groups', 'time'), ())
    """
    names = [registered_name(parent) for parent in cls.__mro__ if "_registered_name" in parent.__dict__]
    return next((info.tags.honours for info in list_tests() if names and info.name == names[0]), ())


def able_tests(given: Sequence[str]) -> list[str]:
    """Names of the tests that honour all of `given`."""
    return [info.name for info in list_tests() if {*given} <= {*info.tags.honours}]


def require_honours(cls: type, given: Sequence[str]) -> None:
    """Raise when a class would ignore something of `given`: its p-value would be wrong without a word."""
    refused = [what for what in given if what not in honours(cls)]
    if refused:
        raise ParameterError(
            f"{registered_name(cls)!r} cannot honour {' and '.join(f'{what}=' for what in refused)}; "
            f"tests that can: {', '.join(able_tests(given))}"
        )


def require_censored(cls: type, given: Sequence[str]) -> None:
    """Raise unless a class, or one it derives from, takes censored times for what they are.

    Parameters
    ----------
    cls
        A test class.
    given
        Which of groups, time and weights were given; groups only go with censored times.
    """
    names = [registered_name(parent) for parent in cls.__mro__]
    able = [info.name for info in list_tests() if info.tags.censored]
    if not set(names) & set(able):
        raise CensoredTimesError(
            f"{names[0]!r} cannot take censored times as y; tests that can: {', '.join(able)}"
        )
    refused = [what for what in given if what != "groups"]
    if refused:
        raise CensoredTimesError(
            f"censored times as y cannot be combined with {' and '.join(f'{what}=' for what in refused)}; "
            "groups= can, and says which rows belong together"
        )
