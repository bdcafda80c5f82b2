"""Names of tests: the built-in ones, and a decorator by which any other class joins them.

Built-in tests are listed by the text ``"module:Class"`` and imported when they are first used, so that
listing the tests does not load JAX.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from .builtin_tests import BUILT_IN_TESTS
from .errors import ParameterError, UnknownTestError, suggestion
from .tags import TestTags

if TYPE_CHECKING:
    from .base import BaseCITest

__all__ = ["TestInfo", "TestTags", "get_test", "list_tests", "register", "registered_name", "unregister"]

TestClass = TypeVar("TestClass", bound=type)


@dataclass(frozen=True)
class TestInfo:
    """A registered test: its name, its tags, and where its class lives.

    Parameters
    ----------
    name
        The name that ``ci_test(method=...)`` accepts.
    tags
        What the test can do.
    target
        The class as ``"module:Class"``.
    """

    __test__ = False

    name: str
    tags: TestTags
    target: str

    @property
    def cls(self) -> type[BaseCITest]:
        """The test class; a built-in one is imported now if it was not before."""
        return get_test(self.name)


_BUILT_IN: dict[str, TestInfo] = {
    name: TestInfo(name, tags, target) for name, (target, tags) in BUILT_IN_TESTS.items()
}
_REGISTERED: dict[str, tuple[TestInfo, type]] = {}


def register(name: str, *, tags: TestTags | None = None) -> Callable[[TestClass], TestClass]:
    """Class decorator that makes a test available by name.

    Parameters
    ----------
    name
        The name for ``ci_test(method=name)``. A name in use belongs to its first owner; only the same class,
        defined again (as when a notebook cell is run twice), may take it over.
    tags
        What the test can do; the defaults of `TestTags` when not given.

    Returns
    -------
    callable
        The decorator; it returns the class unchanged but for the attribute that records its name.

    Examples
    --------
    >>> from spectralcit import BaseCITest, Outcome, NullDistribution, register, get_test
    >>> @register("always-one", tags=TestTags(summary="never rejects"))
    ... class AlwaysOne(BaseCITest):
    ...     def _run(self, data, seed):
    ...         return Outcome(0.0, 1.0, NullDistribution("normal"))
    >>> get_test("always-one") is AlwaysOne
    True
    >>> unregister("always-one")
    """
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"a test needs a non-empty name, got {name!r}")

    def decorate(cls: TestClass) -> TestClass:
        from .base import BaseCITest

        if not (isinstance(cls, type) and issubclass(cls, BaseCITest)):
            raise ParameterError(f"{name!r}: only subclasses of BaseCITest can be registered, got {cls!r}")
        target = _target(cls)
        built_in = _BUILT_IN.get(name)
        if built_in is not None:
            if built_in.target != target:
                raise ParameterError(f"{name!r} is the built-in test {built_in.target}; choose another name")
            if tags is not None and tags != built_in.tags:
                raise ParameterError(f"{name!r} is built in: its tags belong in the table of registry.py")
            return cls
        if name in _REGISTERED and _REGISTERED[name][0].target != target:
            raise ParameterError(f"{name!r} is already registered by {_REGISTERED[name][0].target}")
        _REGISTERED[name] = (TestInfo(name, tags or TestTags(), target), cls)
        # Kept in the class itself: a class sent to a worker process takes its name along.
        cls._registered_name = name  # type: ignore[attr-defined]
        return cls

    return decorate


def unregister(name: str) -> None:
    """Remove a test that was added by `register`; built-in tests stay.

    Parameters
    ----------
    name
        The registered name.
    """
    if name not in _REGISTERED:
        raise UnknownTestError(f"no test was registered as {name!r}.{suggestion(name, _REGISTERED)}")
    del _REGISTERED[name]


def get_test(name: str) -> type[BaseCITest]:
    """Return the class registered under `name`.

    Parameters
    ----------
    name
        A name from `list_tests`.

    Raises
    ------
    UnknownTestError
        When there is no such name; the message suggests the nearest ones.
    """
    if name in _REGISTERED:
        return _REGISTERED[name][1]  # type: ignore[return-value]
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].target.partition(":")
        return getattr(importlib.import_module(module), attribute)
    known = sorted([*_BUILT_IN, *_REGISTERED])
    listing = ", ".join(known)
    raise UnknownTestError(f"no test is called {name!r}.{suggestion(name, known)} Known tests: {listing}")


def list_tests() -> list[TestInfo]:
    """Return every registered test, sorted by name, without importing any of them.

    Examples
    --------
    >>> [info.name for info in list_tests() if info.name.startswith("spectral")]
    ['spectral', 'spectral-paper']
    """
    infos = [*_BUILT_IN.values(), *(info for info, _ in _REGISTERED.values())]
    return sorted(infos, key=lambda info: info.name)


def registered_name(cls: type) -> str:
    """Return the name a class was registered under, or the class's own name when it was not.

    Parameters
    ----------
    cls
        A test class. A subclass does not inherit the name of its parent.
    """
    own = cls.__dict__.get("_registered_name")
    if own is not None:
        return own
    target = _target(cls)
    return next((info.name for info in _BUILT_IN.values() if info.target == target), cls.__name__)


def _target(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"
