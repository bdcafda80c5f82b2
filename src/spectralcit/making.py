"""From what users call a test (its name, its class or an instance) to a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, Union

from .errors import ParameterError, suggestion
from .registry import get_test, registered_name

if TYPE_CHECKING:
    from .base import BaseCITest

__all__ = ["Method", "chosen_method", "make_test"]

Method: TypeAlias = Union[str, type["BaseCITest"], "BaseCITest"]
"""What users call a test: its name, its class or an instance."""


def chosen_method(test: Method | None, method: Method | None, default: Method = "spectral") -> Method:
    """The one of two arguments that was given; both mean the same.

    Examples
    --------
    >>> chosen_method(None, "kcit"), chosen_method("gcm", None), chosen_method(None, None)
    ('kcit', 'gcm', 'spectral')
    """
    if test is not None and method is not None:
        raise ParameterError(
            f"test={test!r} and method={method!r} mean the same argument under two names: give one of them"
        )
    return default if test is None and method is None else test if method is None else method  # type: ignore[return-value]


def make_test(test: Method, /, **params: Any) -> BaseCITest:
    """A new test from a name, a class or an instance (which stays as it is), with `params` set."""
    from sklearn.base import clone

    from .base import BaseCITest

    given: Any = get_test(test) if isinstance(test, str) else test
    cls: type[BaseCITest] = given if isinstance(given, type) else type(given)
    if not issubclass(cls, BaseCITest):
        raise ParameterError(f"a test is the name of a test or an instance or class of one, got {test!r}")
    known = cls._get_param_names()
    for name in params:
        if name not in known:
            raise ParameterError(
                f"{registered_name(cls)!r} has no parameter {name!r}.{suggestion(name, known)} "
                f"It has: {', '.join(known)}"
            )
    if given is cls:
        return cls(**params)
    # A generator is shared with the instance, so that it moves on; a clone would draw the same again.
    return clone(given).set_params(**{"random_state": given.random_state, **params})
