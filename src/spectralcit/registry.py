"""Names of tests: a decorator by which a class joins, and the look-up of names as people type them.

Tags stand beside the class they describe. Those of the built-in tests are read from the text of their
modules, so that a list of the tests imports none of them; a class is imported when it is first used.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .errors import ParameterError, UnknownTestError, suggestion

if TYPE_CHECKING:
    from .base import BaseCITest

__all__ = ["TestInfo", "TestTags", "get_test", "list_tests", "register", "registered_name", "unregister"]

TestClass = TypeVar("TestClass", bound=type)

#: Rooms of the package whose modules may hold tests.
_ROOMS = ("spectral", "paper", "methods")


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
    censored
        Accepts a time of which some are censored as ``y``.
    recommended
        Why it is the test to begin with; empty for all but the default.
    honours
        Which of ``"groups"``, ``"time"`` and ``"weights"`` it takes into account; it refuses the others.
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
    censored: bool = False
    recommended: str = ""
    honours: tuple[str, ...] = ()


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

    @property
    def built_in(self) -> bool:
        """Whether the test comes with the package."""
        return self.name in _built_in()


_REGISTERED: dict[str, tuple[TestInfo, type]] = {}  # the tests that are not built in


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
        info = TestInfo(name, tags or TestTags(), f"{cls.__module__}:{cls.__qualname__}")
        owner = _find(name)
        for wanted in (name, *info.tags.aliases):
            other = _find(wanted)
            if other is not None and (other.name, other.target) != (name, info.target):
                kind = "the built-in test" if other.built_in else "already registered by"
                raise ParameterError(f"{wanted!r} is {kind} {other.target}; choose another name")
        if owner is None or not owner.built_in:
            _REGISTERED[name] = (info, cls)
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
    found = _find(name) if isinstance(name, str) else None
    if found is None:
        known = [info.name for info in list_tests()]
        listing = ", ".join(known)
        raise UnknownTestError(f"no test is called {name!r}.{suggestion(name, known)} Known tests: {listing}")
    if found.name in _REGISTERED:
        return _REGISTERED[found.name][1]  # type: ignore[return-value]
    module, _, attribute = found.target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def list_tests() -> list[TestInfo]:
    """Return every registered test, sorted by name, without importing any of them.

    Examples
    --------
    >>> [info.name for info in list_tests() if info.name.startswith("spectral")]
    ['spectral', 'spectral-paper']
    """
    return sorted(_all(), key=lambda info: info.name)


def registered_name(cls: type) -> str:
    """Return the name a class was registered under, or the class's own name when it was not.

    Parameters
    ----------
    cls
        A test class. A subclass does not inherit the name of its parent.
    """
    return cls.__dict__.get("_registered_name", cls.__name__)


def _all() -> Iterator[TestInfo]:
    yield from _built_in().values()
    yield from (info for info, _ in _REGISTERED.values())


def _find(name: str) -> TestInfo | None:
    if name in _REGISTERED:
        return _REGISTERED[name][0]
    if name in _built_in():
        return _built_in()[name]
    wanted = _spelling(name)
    return next((info for info in _all() if wanted in map(_spelling, (info.name, *info.tags.aliases))), None)


def _spelling(name: str) -> str:
    """A name without what people vary: case, hyphens, underscores and blanks."""
    return name.strip().lower().replace("-", "").replace("_", "").replace(" ", "")


@cache
def _built_in() -> dict[str, TestInfo]:
    """The tests that the modules of the package declare, by name."""
    found = [
        info
        for room in _ROOMS
        for entry in pkgutil.iter_modules([str(Path(__file__).parent / room)])
        for info in _declared_in(room, entry.name)
    ]
    return {info.name: info for info in found}


def _declared_in(room: str, module: str) -> Iterator[TestInfo]:
    """Tests of one module, read from its text: classes below ``register(name, tags=TestTags(...))``."""
    source = pkgutil.get_data(f"{__package__}.{room}", f"{module}.py") or b""
    if b"@register(" not in source:
        return
    for node in ast.parse(source).body:
        if not isinstance(node, ast.ClassDef):
            continue
        for call in node.decorator_list:
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "register":
                tags = next((word.value for word in call.keywords if word.arg == "tags"), None)
                given = tags.keywords if isinstance(tags, ast.Call) else []
                values = {word.arg: ast.literal_eval(word.value) for word in given if word.arg}
                target = f"{__package__}.{room}.{module}:{node.name}"
                yield TestInfo(ast.literal_eval(call.args[0]), TestTags(**values), target)
