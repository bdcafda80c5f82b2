"""What a test cannot take is refused, and the refusal names what can be done instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .errors import CensoredTimesError, MissingValuesError, ParameterError
from .registry import list_tests, registered_name

__all__ = [
    "able_tests",
    "for_censored",
    "honours",
    "require_censored",
    "require_honours",
    "suiting_advice",
]

# What is advised about gaps, and what to advise where y is censored: nothing is drawn beside censored times.
_ADVICE = {
    ", pass missing='drop' to delete such rows, or missing='impute' to draw them under the null hypothesis": (
        ", or pass missing='drop' to delete such rows; beside a censored y nothing can be imputed"
    ),
    "; use missing='impute' unless the cells are missing because of their own values": (
        "; beside a censored y nothing can be imputed: find the missing values, or do not rely on a small "
        "p-value"
    ),
}


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


def for_censored(text: str) -> str:
    """An error or note about gaps, without advice that censored times refuse.

    Examples
    --------
    >>> for_censored("gaps; use missing='impute' unless the cells are missing because of their own values")[
    ...     :37
    ... ]
    'gaps; beside a censored y nothing can'
    """
    for advice, instead in _ADVICE.items():
        text = text.replace(advice, instead)
    return text


@contextmanager
def suiting_advice(y: Any) -> Iterator[None]:
    """While `y` and what goes with it are read: errors about gaps advise what a censored `y` allows."""
    from .inputs.censored import as_censored  # many who ask what a test can do read no data

    try:
        yield
    except MissingValuesError as error:
        if as_censored(y) is None:
            raise
        raise MissingValuesError(for_censored(str(error))) from None
