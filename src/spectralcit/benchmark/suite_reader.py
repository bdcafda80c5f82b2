"""What a suite says, checked and spread out into cells; every complaint begins with where it is."""

from __future__ import annotations

import importlib
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..base import BaseCITest
from ..datasets import get_dataset
from ..errors import ParameterError, SpectralCITError, SuiteError, UnknownDatasetError, suggestion
from ..parameters import changed_parameters
from ..registry import get_test, registered_name
from .suite import Cell, Suite, canonical

__all__ = ["read_content"]

_HYPOTHESES = {"null": False, "alternative": True}  # in the order of their cells
_SHARED_KEYS = ("replicates", "n", "hypotheses")  # of the suite, unless a data set says otherwise
# All that a suite may say; a misspelt key must not pass in silence.
_TOP_KEYS = ("name", "description", "seed", *_SHARED_KEYS, "tests", "groups", "usual", "datasets", "imports")
_DATASET_KEYS = ("name", *_SHARED_KEYS, "tests", "label")  # any other is a parameter of the data set
_LARGEST_SEED = 2**63 - 1  # that SQLite can store


def read_content(content: Mapping[str, Any], source: str) -> Suite:
    """Make a suite of its content."""
    return _Reader(source).suite(content)


class _Test(NamedTuple):
    """A test of the suite: its registered name, its parameters, and how often if it says so itself."""

    method: str
    params: dict[str, Any]
    replicates: int | None


@dataclass(frozen=True)
class _Reader:
    source: str

    def fail(self, key: str, message: str) -> SuiteError:
        return SuiteError(f"{self.source}: {key}: {message}")

    def suite(self, content: Mapping[str, Any]) -> Suite:
        for key in content:
            if key not in _TOP_KEYS:
                raise self.fail(key, f"unknown key.{suggestion(key, _TOP_KEYS)} Keys: {', '.join(_TOP_KEYS)}")
        for key in ("name", "tests", "datasets"):
            if not content.get(key):
                raise self.fail(key, "is missing or empty")
        name = content["name"]
        if not isinstance(name, str) or "/" in name:
            raise self.fail("name", f"must be text without a slash, got {name!r}")
        if not isinstance(description := content.get("description", ""), str):
            raise self.fail("description", f"must be text, got {description!r}")
        if content.get("imports"):
            self.imports(content["imports"])
        tests = self.tests(content["tests"])
        groups = self.groups(content.get("groups", {}), tests)
        datasets = content["datasets"]
        if isinstance(datasets, (str, Mapping)) or not isinstance(datasets, Sequence):
            raise self.fail("datasets", "must be a list of tables, [[datasets]] in TOML")
        cells: list[Cell] = []
        for position, entry in enumerate(datasets):
            key = f"datasets[{position}]"
            found = list(self.cells(key, entry, content, tests, groups))
            if not found:
                raise self.fail(key, f"{entry['name']!r} has none of the hypotheses that are asked for")
            cells += found
        counts = Counter(cell.key() for cell in cells)
        for cell in cells:
            if (count := counts[cell.key()]) > 1:
                what = f"{cell.dataset} {dict(cell.dataset_params)}"
                raise self.fail("datasets", f"{count} entries give the same cell: {what}")
        return Suite(
            name, self.integer("seed", content.get("seed", 0), 0, _LARGEST_SEED), tuple(cells), description
        )

    def imports(self, modules: Any) -> None:
        for module in self.names("imports", modules):
            try:
                found = importlib.import_module(module)
                # A module that others import too may leave registering to a function of this name.
                getattr(found, "register_all", lambda: None)()
            except Exception as error:
                raise self.fail(
                    "imports", f"cannot import {module!r}: {type(error).__name__}: {error}"
                ) from error

    def tests(self, given: Any) -> dict[str, _Test]:
        if isinstance(given, Mapping):
            entries = {label: _as_entry(entry) for label, entry in given.items()}
        else:
            entries = {}
            for one in self.some("tests", given):
                entry = {} if isinstance(one, str) else _as_entry(one)
                if entry is None:
                    raise self.fail("tests", f"must be text, or a test, got {one!r}")
                entries[one if isinstance(one, str) else entry["method"]] = entry
        return {label: self.test(f"tests.{label}", label, entry) for label, entry in entries.items()}

    def groups(self, given: Any, tests: Mapping[str, _Test]) -> dict[str, list[str]]:
        """Names that stand for several tests, those of single tests included."""
        if not isinstance(given, Mapping):
            raise self.fail("groups", "must be a table of lists of tests")
        single = {label: [label] for label in tests}
        for name, members in given.items():
            if name in tests:
                raise self.fail(f"groups.{name}", "is the name of a test too")
            self.chosen(f"groups.{name}", members, single)
        return {**single, **{name: self.names(f"groups.{name}", given[name]) for name in given}}

    def chosen(self, key: str, given: Any, groups: Mapping[str, list[str]]) -> list[str]:
        found: list[str] = []
        for name in self.names(key, given):
            if name not in groups:
                raise self.fail(key, f"{name!r} is not among the tests.{suggestion(name, groups)}")
            found += groups[name]
        return list(dict.fromkeys(found))

    def test(self, key: str, label: Any, entry: dict[str, Any] | None) -> _Test:
        if entry is None or not isinstance(label, str):
            raise self.fail(key, "must be a table with 'method' and parameters, or {}")
        if "test" in entry and "method" in entry:
            raise self.fail(key, "'test' and 'method' mean the same under two names: give one of them")
        named = entry.pop("method", entry.pop("test", label))
        if (told := None if isinstance(named, str) else _as_entry(named)) is not None:
            entry = {**told, **entry}  # a class or an instance, whose parameters may be changed here
            named = entry.pop("method")
        (method,) = self.names(f"{key}.method", [named])
        try:
            found = get_test(method)
        except SpectralCITError as error:
            raise self.fail(key, str(error)) from error
        method, known = registered_name(found), found._get_param_names()  # a store knows one spelling
        known = [name for name in known if name != "random_state"]  # the seeds belong to the runner
        often = entry.pop("replicates", None)
        for name in entry:
            if name not in known:
                listing = ", ".join(known)
                raise self.fail(
                    f"{key}.{name}",
                    f"{method!r} has no such parameter.{suggestion(name, known)} It has: {listing}",
                )
        self.storable(key, entry)
        return _Test(method, entry, None if often is None else self.integer(f"{key}.replicates", often, 1))

    def cells(
        self,
        key: str,
        entry: Any,
        content: Mapping[str, Any],
        tests: Mapping[str, _Test],
        groups: Mapping[str, list[str]],
    ) -> Iterator[Cell]:
        if not isinstance(entry, Mapping) or "name" not in entry:
            raise self.fail(key, "must be a table with at least a 'name'")
        settings = {**content, **entry}
        replicates = self.integer(f"{key}.replicates", settings.get("replicates", 100), 1)
        sizes = [self.integer(f"{key}.n", n, 2) for n in self.some(f"{key}.n", settings.get("n", 1000))]
        hypotheses = self.names(f"{key}.hypotheses", settings.get("hypotheses", list(_HYPOTHESES)))
        for name in hypotheses:
            if name not in _HYPOTHESES:
                raise self.fail(f"{key}.hypotheses", f"unknown {name!r}.{suggestion(name, _HYPOTHESES)}")
        usual = content.get("usual", list(tests))
        chosen = self.chosen(f"{key}.tests", entry.get("tests", usual), groups)
        self.names(f"{key}.name", [entry["name"]])
        grid = {
            name: self.some(f"{key}.{name}", value)
            for name, value in entry.items()
            if name not in _DATASET_KEYS
        }
        for values in itertools.product(*grid.values()):
            params = dict(zip(grid, values, strict=True))
            dataset = self.dataset(key, entry["name"], params)
            wanted = [
                h for h in hypotheses if (dataset.has_alternative if _HYPOTHESES[h] else dataset.has_null)
            ]
            for n, hypothesis, name in itertools.product(sizes, wanted, chosen):
                test = tests[name]
                yield Cell(
                    test=name,
                    method=test.method,
                    test_params=test.params,
                    dataset=entry["name"],
                    dataset_params=params,
                    n=n,
                    dependent=_HYPOTHESES[hypothesis],
                    replicates=test.replicates or replicates,
                    label=self.label(f"{key}.label", entry, {**params, "n": n}),
                )

    def label(self, key: str, entry: Mapping[str, Any], fields: Mapping[str, Any]) -> str:
        (text,) = self.names(key, [entry.get("label", entry["name"])])
        try:
            return text.format(**fields)
        except (KeyError, IndexError, ValueError) as error:
            known = ", ".join(f"{{{name}}}" for name in fields)
            raise self.fail(key, f"{text!r} cannot be filled in; it may hold {known}") from error

    def dataset(self, key: str, name: Any, params: dict[str, Any]) -> Any:
        self.storable(key, params)
        try:
            return get_dataset(name, **params)
        except UnknownDatasetError as error:
            raise self.fail(f"{key}.name", str(error)) from error
        except (ParameterError, TypeError) as error:
            raise self.fail(key, str(error)) from error

    def storable(self, key: str, params: Mapping[str, Any]) -> None:
        try:
            canonical(params)
        except TypeError as error:
            raise self.fail(key, f"parameters must be text, numbers, booleans or lists: {error}") from error

    def integer(self, key: str, value: Any, least: int, most: float = math.inf) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            bound = "" if most == math.inf else f" and at most {most}"
            raise self.fail(key, f"must be an integer of at least {least}{bound}, got {value!r}")
        return value

    def some(self, key: str, value: Any) -> list[Any]:
        """A list with something in it; one value is a list of one."""
        listed = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        if not listed:
            raise self.fail(key, "is an empty list, so nothing would be run")
        return listed

    def names(self, key: str, value: Any) -> list[str]:
        listed = self.some(key, value)
        for name in listed:
            if not isinstance(name, str):
                raise self.fail(key, f"must be text, got {name!r}")
        return listed


def _as_entry(given: Any) -> dict[str, Any] | None:
    """A test as a table: one that is a table already, or from a class or an instance; else ``None``."""
    if isinstance(given, Mapping):
        return dict(given)
    cls = given if isinstance(given, type) else type(given)
    if not issubclass(cls, BaseCITest):
        return None
    params = {} if given is cls else changed_parameters(given, without=("random_state", "progress"))
    return {"method": registered_name(cls), **params}
