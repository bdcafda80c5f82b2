"""Names of tests: a decorator by which a class joins, and the look-up of names as people type them.

Tags stand beside the class they describe. The built-in tests join when their modules are imported, which
happens the first time that a name or the list is asked for; none of these modules loads JAX.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from .errors import ParameterError, UnknownTestError, suggestion

if TYPE_CHECKING:
    from .base import BaseCITest

__all__ = ["TestInfo", "TestTags", "get_test", "list_tests", "register", "registered_name", "unregister"]

TestClass = TypeVar("TestClass", bound=type)

#: Where built-in tests live: two modules, and a folder with one file per test or per family.
_HOMES = {"spectral": "spectral.test", "spectral-paper": "paper.test"}
_FOLDER = "methods"


@dataclass(frozen=True)
class TestTags:
    """What a test can do, in a form that people and programs can read.

    Parameters
    ----------
    conditional
        Accepts a conditioning set ``z``.
    multivariate
        Accepts more than one column in ``x`` and ``y``.
    mixed
        Handles continuous and categorical columns together.
    discrete
        Accepts categories and other columns with few values only.
    symmetric
        Exchanging ``x`` and ``y`` does not change what is being tested.
    cost
        How the time grows with the number of rows, for instance ``"O(n)"``.
    summary
        One line for a table of tests.
    assumes
        What must hold for its p-values, in one sentence.
    fails
        How it goes wrong when that does not hold, and what it cannot see.
    aliases
        Other names under which people know it. Case, hyphens and underscores never matter.
    standing
        Place in the order of recommendation on data that break no rule; larger is better. Below 41 a test is
        never called good.
    linear
        What must be linear, in a few words; empty when nothing must.
    splits
        Learns on one part of the rows and tests on another.
    local
        Distances between rows of ``z`` must mean something.
    fourier
        Approximates kernels by random features.
    """

    __test__ = False  # the name starts with "Test", and pytest would try to collect it

    conditional: bool = True
    multivariate: bool = True
    mixed: bool = True
    discrete: bool = False
    symmetric: bool = True
    cost: str = "O(n)"
    summary: str = ""
    assumes: str = ""
    fails: str = ""
    aliases: tuple[str, ...] = ()
    standing: int = 40
    linear: str = ""
    splits: bool = False
    local: bool = False
    fourier: bool = False


@dataclass(frozen=True)
class TestInfo:
    """A registered test: its name, its tags, and its class.

    Parameters
    ----------
    name
        The name that ``ci_test(method=...)`` accepts.
    tags
        What the test can do.
    cls
        The test class.
    """

    __test__ = False

    name: str
    tags: TestTags
    cls: type[BaseCITest]

    @property
    def target(self) -> str:
        """The class as ``"module:Class"``."""
        return _target(self.cls)

    @property
    def built_in(self) -> bool:
        """Whether the test comes with the package."""
        home = self.cls.__module__.removeprefix(f"{__package__}.")
        return home in _HOMES.values() or home.startswith(f"{_FOLDER}.")


_REGISTERED: dict[str, TestInfo] = {}


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
    >>> get_test("Always_One") is AlwaysOne
    True
    >>> unregister("always-one")
    """
    if not isinstance(name, str) or not _spelling(name):
        raise ParameterError(f"a test needs a non-empty name, got {name!r}")

    def decorate(cls: TestClass) -> TestClass:
        from .base import BaseCITest

        if not (isinstance(cls, type) and issubclass(cls, BaseCITest)):
            raise ParameterError(f"{name!r}: only subclasses of BaseCITest can be registered, got {cls!r}")
        info = TestInfo(name, tags or TestTags(), cls)
        if not info.built_in:
            _load_built_in()  # so that no name of theirs can be taken
        owner = _find(name)
        if owner is not None and (owner.target, owner.name) != (info.target, name):
            kind = "the built-in test" if owner.built_in else "already registered by"
            raise ParameterError(f"{name!r} is {kind} {owner.target}; choose another name")
        _REGISTERED[name] = info
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
    info = _REGISTERED.get(name)
    if info is None or info.built_in:
        added = [info.name for info in _REGISTERED.values() if not info.built_in]
        raise UnknownTestError(f"no test was registered as {name!r}.{suggestion(name, added)}")
    del _REGISTERED[name]


def get_test(name: str) -> type[BaseCITest]:
    """Return the class registered under `name`.

    Parameters
    ----------
    name
        A name from `list_tests`, or one of its aliases, in any case, with hyphens, underscores or neither.

    Raises
    ------
    UnknownTestError
        When there is no such name; the message suggests the nearest ones.

    Examples
    --------
    >>> get_test("FisherZ") is get_test("fisher-z"), get_test("kci") is get_test("kcit")
    (True, True)
    """
    if isinstance(name, str):
        found = _find(name)
        if found is None and name in _HOMES:
            importlib.import_module(f"{__package__}.{_HOMES[name]}")
            found = _find(name)
        if found is None:
            _load_built_in()
            found = _find(name)
        if found is not None:
            return found.cls
    _load_built_in()
    known = sorted(_REGISTERED)
    listing = ", ".join(known)
    raise UnknownTestError(f"no test is called {name!r}.{suggestion(name, known)} Known tests: {listing}")


def list_tests() -> list[TestInfo]:
    """Return every registered test, sorted by name.

    Examples
    --------
    >>> [info.name for info in list_tests() if info.name.startswith("spectral")]
    ['spectral', 'spectral-paper']
    """
    _load_built_in()
    return sorted(_REGISTERED.values(), key=lambda info: info.name)


def registered_name(cls: type) -> str:
    """Return the name a class was registered under, or the class's own name when it was not.

    Parameters
    ----------
    cls
        A test class. A subclass does not inherit the name of its parent.
    """
    return cls.__dict__.get("_registered_name", cls.__name__)


@cache
def _load_built_in() -> None:
    for module in _HOMES.values():
        importlib.import_module(f"{__package__}.{module}")
    folder = importlib.import_module(f"{__package__}.{_FOLDER}")
    for entry in pkgutil.iter_modules(folder.__path__):
        importlib.import_module(f"{folder.__name__}.{entry.name}")


def _find(name: str) -> TestInfo | None:
    if name in _REGISTERED:
        return _REGISTERED[name]
    wanted = _spelling(name)
    matches = (
        info for info in _REGISTERED.values() if wanted in map(_spelling, (info.name, *info.tags.aliases))
    )
    return next(matches, None)


def _spelling(name: str) -> str:
    """A name without what people vary: case, hyphens, underscores and blanks."""
    return name.strip().lower().replace("-", "").replace("_", "").replace(" ", "")


def _target(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"
