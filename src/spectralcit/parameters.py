"""Parameters declared once: default, what is allowed, and a sentence for people, in one place.

A test is a class whose fields are made by the functions below. Signature, documentation, the check of
values and the command line's ``--param`` all follow from the field. Values are stored as given and checked
when a test runs, as scikit-learn does it.
"""

from __future__ import annotations

import inspect
import math
import numbers
import reprlib
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import Field, dataclass, field, fields
from typing import Any

from .errors import ParameterError, suggestion

# What authors of tests use; the rest is for the base class and the command line.
__all__ = ["anything", "choice", "declare_fields", "flag", "integer", "real"]

# Of anything that is counted: beyond it a typing error is likelier than a wish, and memory would not do.
MOST = 10_000_000


@dataclass(frozen=True)
class Allowed:
    """What a parameter may be: a sentence about it, the allowed values in words, and the check."""

    doc: str
    words: str
    accepts: Callable[[Any], bool]
    choices: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> None:
        """Raise `ParameterError` for a value that is not allowed."""
        try:
            accepted = self.accepts(value)
        except Exception:  # whatever a strange object does when it is compared, it is not allowed
            accepted = False
        if not accepted:
            hint = suggestion(value, self.choices) if isinstance(value, str) else ""
            raise ParameterError(f"{name} must be {self.words}; got {reprlib.repr(value)}.{hint}")


def integer(
    default: Any, doc: str, *, least: int = 1, most: int = MOST, also: tuple[str | None, ...] = ()
) -> Any:
    """Field for a whole number.

    Parameters
    ----------
    default
        Its value when none is given.
    doc
        A sentence about it, with its full stop, for the documentation.
    least, most
        The smallest and the largest value.
    also
        Words, or None, that are allowed besides.

    Examples
    --------
    >>> from spectralcit import BaseCITest
    >>> class Mine(BaseCITest):
    ...     n_draws: int = integer(199, "Random draws under the null.", most=100_000)
    >>> check_parameters(Mine(n_draws=0))
    Traceback (most recent call last):
    spectralcit.errors.ParameterError: n_draws must be an integer from 1 to 100000; got 0.
    """

    def accepts(value: Any) -> bool:
        if value is None or isinstance(value, str):
            return value in also
        return _is_integer(value) and least <= value <= most

    words = f"an integer from {least} to {most}"
    return _declare(default, Allowed(doc, _or(words, also), accepts, _texts(also)))


def real(
    default: Any,
    doc: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    also: tuple[str | None, ...] = (),
) -> Any:
    """Field for a finite number.

    Parameters
    ----------
    default, doc, also
        As in `integer`.
    least, most
        The smallest and the largest value.
    above, below
        Bounds that are not part of the range.
    """

    def accepts(value: Any) -> bool:
        if value is None or isinstance(value, str):
            return value in also
        if not isinstance(value, numbers.Real) or isinstance(value, bool) or not math.isfinite(value):
            return False
        number = float(value)
        low = (least is None or number >= least) and (above is None or number > above)
        return low and (most is None or number <= most) and (below is None or number < below)

    bounds = [("of at least", least), ("above", above), ("of at most", most), ("below", below)]
    limits = " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)
    words = f"a finite number {limits}".rstrip()
    return _declare(default, Allowed(doc, _or(words, also), accepts, _texts(also)))


def choice(
    default: Any,
    doc: str,
    *choices: str | None,
    other: str = "",
    accepts: Callable[[Any], bool] | None = None,
) -> Any:
    """Field for one of a few words.

    Parameters
    ----------
    default, doc
        As in `integer`.
    *choices
        The words; None may be one of them.
    other, accepts
        What else is allowed, in words, and a function that recognises it.
    """

    def allowed(value: Any) -> bool:
        if value is None or isinstance(value, str):
            return value in choices
        return accepts is not None and accepts(value)

    listed = " or ".join(part for part in (_listed(choices), other) if part)
    return _declare(default, Allowed(doc, listed, allowed, _texts(choices)))


def flag(default: bool, doc: str) -> Any:
    """Field for True or False.

    Parameters
    ----------
    default, doc
        As in `integer`.
    """
    return _declare(default, Allowed(doc, "True or False", is_flag))


def anything(default: Any, doc: str, *, words: str, accepts: Callable[[Any], bool]) -> Any:
    """Field for objects of another kind.

    Parameters
    ----------
    default, doc
        As in `integer`.
    words
        What is allowed, as it stands after "must be" in an error.
    accepts
        Tells whether a value is allowed.
    """
    return _declare(default, Allowed(doc, words, accepts))


def parameters_of(cls: type) -> dict[str, tuple[Field, Allowed]]:
    """The declared parameters of a class, by name, in the order of its signature."""
    return {each.name: (each, each.metadata["allowed"]) for each in fields(cls) if "allowed" in each.metadata}


def check_parameters(owner: Any) -> None:
    """Raise `ParameterError` for the first parameter of `owner` whose value is not allowed."""
    for name, (_, allowed) in parameters_of(type(owner)).items():
        allowed.check(name, getattr(owner, name))


def changed_parameters(owner: Any, without: Iterable[str] = ()) -> dict[str, Any]:
    """Parameters of `owner` that are not the defaults of its signature, but those `without`."""
    signature = inspect.signature(type(owner)).parameters
    values = {
        name: getattr(owner, name) for name in signature if name not in without and hasattr(owner, name)
    }
    # By their texts: two estimators, say, are never equal.
    return {name: value for name, value in values.items() if repr(value) != repr(signature[name].default)}


def document(cls: type) -> str:
    """The docstring of a class with a Parameters section made from its fields, before its other sections."""
    text = textwrap.dedent("    " + (cls.__doc__ or "")).strip("\n")
    entries = []
    own = inspect.get_annotations(cls)
    # What the class itself declares is what its readers came for.
    for name, (each, allowed) in sorted(parameters_of(cls).items(), key=lambda item: item[0] not in own):
        body = f"{allowed.doc} It is {allowed.words}; {each.default!r} unless given."
        entries += [name, textwrap.indent(textwrap.fill(body, 100), "    ")]
    section = "\n".join(["Parameters", "----------", *entries])
    head, rule, tail = _before_sections(text)
    return f"{head}\n\n{section}\n" + (f"\n{rule}{tail}" if rule else "")


def _before_sections(text: str) -> tuple[str, str, str]:
    """Split a docstring before its first underlined title."""
    lines = text.splitlines()
    for k in range(1, len(lines)):
        if lines[k] and set(lines[k]) == {"-"} and len(lines[k]) == len(lines[k - 1]):
            return "\n".join(lines[: k - 1]).rstrip(), lines[k - 1] + "\n", "\n".join(lines[k:]) + "\n"
    return text.rstrip(), "", ""


def declare_fields(cls: type) -> None:
    """Make a keyword-only dataclass of a class with such fields, and its docstring from them."""
    described = "__doc__" in cls.__dict__ and cls.__doc__ is not None
    # A signature that somebody wrote by hand stays, also for classes derived from theirs.
    inherited: Any = cls.__init__  # type: ignore[misc]
    by_hand = inherited is not object.__init__ and not hasattr(inherited, "is_declared")
    # No __eq__ (a test is equal to itself only) and no __repr__ (scikit-learn's shows what is not default).
    dataclass(kw_only=True, eq=False, repr=False, init=not by_hand)(cls)
    if not by_hand:
        cls.__dict__["__init__"].is_declared = True
    if described:
        cls.__doc__ = document(cls)


def _declare(default: Any, allowed: Allowed) -> Any:
    return field(default=default, metadata={"allowed": allowed})


def is_flag(value: Any) -> bool:
    """Whether `value` is True or False, NumPy's included."""
    import numpy as np  # a command that ends with a slip of the pen does without

    return isinstance(value, bool | np.bool_)


def _is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _texts(values: tuple[str | None, ...]) -> tuple[str, ...]:
    return tuple(value for value in values if value is not None)


def _or(words: str, also: tuple[str | None, ...]) -> str:
    return f"{words}, or {_listed(also)}" if also else words


def _listed(values: tuple[str | None, ...]) -> str:
    *first, last = [repr(value) for value in values] or [""]
    return f"{', '.join(first)} or {last}" if first else last
