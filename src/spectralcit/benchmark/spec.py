"""`Suite`: which tests meet which data sets, with which parameters, how often; from Python or from a file.

A suite in TOML::

    name = "demo"
    seed = 1
    replicates = 50
    n = [200, 400]
    tests = ["fisher-z", "gcm"]

    [[datasets]]
    name = "sin-cos"
    d_z = [5, 20]  # a list is a grid
    b = 1.0

Tests with parameters are a table: ``[tests."gcm, forest"]`` with ``method = "gcm"`` and its parameters.
"""

from __future__ import annotations

import importlib
import itertools
import json
import math
import sys
import tomllib
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from ..datasets import get_dataset
from ..errors import ParameterError, SpectralCITError, SuiteError, UnknownDatasetError, suggestion
from ..registry import get_test

__all__ = ["Cell", "Suite", "canonical", "list_suites", "load_suite"]

HYPOTHESES = {"null": False, "alternative": True}
_TOP_KEYS = (
    "name",
    "description",
    "seed",
    "replicates",
    "n",
    "hypotheses",
    "tests",
    "datasets",
    "imports",
)
_DATASET_KEYS = ("name", "n", "replicates", "hypotheses", "tests")


@dataclass(frozen=True)
class Cell:
    """One test on one data set, with all parameters fixed; it is repeated `replicates` times.

    Parameters
    ----------
    test
        What the test is called in tables and figures.
    method, test_params
        The registered test and its parameters.
    dataset, dataset_params
        The registered data set and the parameters that the suite states.
    n
        Number of rows.
    dependent
        ``False`` for the null hypothesis, ``True`` for the alternative.
    replicates
        How often.
    """

    test: str
    method: str
    test_params: Mapping[str, Any]
    dataset: str
    dataset_params: Mapping[str, Any]
    n: int
    dependent: bool
    replicates: int

    def key(self) -> tuple[str, str, str, str, str, int, bool]:
        """What makes a cell itself: all of it but the number of replicates, in plain types."""
        return (
            self.test,
            self.method,
            canonical(self.test_params),
            self.dataset,
            canonical(self.dataset_params),
            self.n,
            self.dependent,
        )


@dataclass(frozen=True)
class Suite:
    """A benchmark: cells, and the seed that all randomness derives from.

    Parameters
    ----------
    name
        Of the suite; the store is called after it.
    seed
        From which the seeds of all replicates derive.
    cells
        What is run.
    description
        For people.

    Examples
    --------
    >>> suite = Suite.define(
    ...     name="small",
    ...     tests=["fisher-z", "gcm"],
    ...     datasets=[{"name": "sin-cos", "d_z": [2, 5]}],
    ...     n=100,
    ...     replicates=3,
    ... )
    >>> len(suite.cells), suite.size
    (8, 24)
    """

    name: str
    seed: int
    cells: tuple[Cell, ...]
    description: str = ""

    @property
    def size(self) -> int:
        """Number of replicates of all cells together."""
        return sum(cell.replicates for cell in self.cells)

    @property
    def tests(self) -> list[str]:
        """What the tests are called, in the order of the suite."""
        return list(dict.fromkeys(cell.test for cell in self.cells))

    @classmethod
    def define(cls, *, source: str = "suite", **content: Any) -> Suite:
        """Make a suite from what a suite file would hold.

        Parameters
        ----------
        source
            Where the content comes from; error messages begin with it.
        **content
            ``name``, ``tests`` and ``datasets``, and optionally ``n`` (a number or a list), ``replicates``,
            ``seed``, ``hypotheses``, ``description`` and ``imports`` (modules that register tests or data
            sets).

        Raises
        ------
        SuiteError
            Names the source, the key, and the nearest valid name.
        """
        return _Reader(source).suite(content)


def load_suite(where: str | Path) -> Suite:
    """Read a suite: a TOML file, a Python file that defines ``suite``, or the name of a shipped one.

    Parameters
    ----------
    where
        Path of the file, or a name from `list_suites`.

    Examples
    --------
    >>> load_suite("demo").name
    'demo'
    """
    path = Path(where)
    if str(where) in list_suites() and not path.exists():
        return _from_toml(_shipped(str(where)).read_bytes(), str(where))
    if path.suffix not in (".toml", ".py"):
        known = list_suites()
        raise SuiteError(
            f"{where}: neither a .toml or .py file nor a shipped suite.{suggestion(where, known)} "
            f"Shipped suites: {', '.join(known)}"
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SuiteError(f"{path}: cannot be read: {error.strerror or error}") from error
    return _from_toml(content, str(path)) if path.suffix == ".toml" else _from_python(content, path)


def list_suites() -> list[str]:
    """Names of the suites that come with the package.

    Examples
    --------
    >>> "demo" in list_suites()
    True
    """
    folder = resources.files(__package__) / "suites"
    return sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml"))


def canonical(params: Mapping[str, Any]) -> str:
    """Return parameters as JSON in one fixed form, to compare and to store.

    Parameters
    ----------
    params
        Of a test or a data set.

    Examples
    --------
    >>> canonical({"b": 1.0, "a": "x"})
    '{"a": "x", "b": 1.0}'
    """
    return json.dumps(dict(params), sort_keys=True, ensure_ascii=False)


def _shipped(name: str) -> Any:
    return resources.files(__package__) / "suites" / f"{name}.toml"


def _from_toml(content: bytes, source: str) -> Suite:
    try:
        parsed = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SuiteError(f"{source}: not valid TOML: {error}") from error
    return Suite.define(source=source, **parsed)


def _from_python(content: bytes, path: Path) -> Suite:
    """Run the file and take its ``suite``.

    The module is in ``sys.modules`` only while it runs: what it defines is then sent to workers by value, as
    they cannot import the file.
    """
    module = types.ModuleType(f"spectralcit_suite_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        exec(compile(content, str(path), "exec"), module.__dict__)
    except SpectralCITError as error:
        raise SuiteError(f"{path}: {error}") from error
    except Exception as error:
        raise SuiteError(f"{path}: failed with {type(error).__name__}: {error}") from error
    finally:
        del sys.modules[module.__name__]
    found = module.__dict__.get("suite")
    if isinstance(found, Mapping):
        return Suite.define(source=str(path), **found)
    if not isinstance(found, Suite):
        raise SuiteError(f"{path}: must define 'suite', a Suite or a mapping with the content of one")
    return found


@dataclass(frozen=True)
class _Reader:
    """Checks the content of a suite; every complaint begins with where it is."""

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
        self.imports(content.get("imports", []))
        tests = self.tests(content["tests"])
        datasets = content["datasets"]
        if isinstance(datasets, (str, Mapping)) or not isinstance(datasets, Sequence):
            raise self.fail("datasets", "must be a list of tables, [[datasets]] in TOML")
        cells: list[Cell] = []
        for position, entry in enumerate(datasets):
            cells += self.cells(f"datasets[{position}]", entry, content, tests)
        for cell, count in _repeated(cells):
            raise self.fail(
                "datasets", f"{count} entries give the same cell: {cell.dataset} {dict(cell.dataset_params)}"
            )
        return Suite(
            name,
            self.integer("seed", content.get("seed", 0), 0),
            tuple(cells),
            content.get("description", ""),
        )

    def imports(self, modules: Any) -> None:
        for module in self.listed(modules):
            try:
                importlib.import_module(module)
            except Exception as error:
                raise self.fail(
                    "imports", f"cannot import {module!r}: {type(error).__name__}: {error}"
                ) from error

    def tests(self, given: Any) -> dict[str, tuple[str, dict[str, Any]]]:
        if isinstance(given, Mapping):
            entries = {
                label: dict(entry) if isinstance(entry, Mapping) else None for label, entry in given.items()
            }
        else:
            entries = {label: {} for label in self.listed(given)}
        return {label: self.test(f"tests.{label}", label, entry) for label, entry in entries.items()}

    def test(self, key: str, label: Any, entry: dict[str, Any] | None) -> tuple[str, dict[str, Any]]:
        if entry is None or not isinstance(label, str):
            raise self.fail(key, "must be a table with 'method' and parameters, or {}")
        method = entry.pop("method", label)
        try:
            known = get_test(method)._get_param_names()
        except SpectralCITError as error:
            raise self.fail(key, str(error)) from error
        known = [name for name in known if name != "random_state"]  # the seeds belong to the runner
        for name in entry:
            if name not in known:
                listing = ", ".join(known)
                raise self.fail(
                    f"{key}.{name}",
                    f"{method!r} has no such parameter.{suggestion(name, known)} It has: {listing}",
                )
        self.storable(key, entry)
        return method, entry

    def cells(
        self,
        key: str,
        entry: Any,
        content: Mapping[str, Any],
        tests: Mapping[str, tuple[str, dict[str, Any]]],
    ) -> Iterator[Cell]:
        if not isinstance(entry, Mapping) or "name" not in entry:
            raise self.fail(key, "must be a table with at least a 'name'")
        settings = {**content, **entry}
        replicates = self.integer(f"{key}.replicates", settings.get("replicates", 100), 1)
        sizes = [self.integer(f"{key}.n", n, 2) for n in self.listed(settings.get("n", 1000))]
        hypotheses = self.listed(settings.get("hypotheses", list(HYPOTHESES)))
        for name in hypotheses:
            if name not in HYPOTHESES:
                raise self.fail(f"{key}.hypotheses", f"unknown {name!r}.{suggestion(name, HYPOTHESES)}")
        chosen = self.listed(entry.get("tests", list(tests)))
        for label in chosen:
            if label not in tests:
                raise self.fail(
                    f"{key}.tests", f"{label!r} is not among the tests.{suggestion(label, tests)}"
                )
        grid = {name: self.listed(value) for name, value in entry.items() if name not in _DATASET_KEYS}
        for values in itertools.product(*grid.values()):
            params = dict(zip(grid, values, strict=True))
            dataset = self.dataset(key, entry["name"], params)
            wanted = [
                h for h in hypotheses if (dataset.has_alternative if HYPOTHESES[h] else dataset.has_null)
            ]
            for n, hypothesis, label in itertools.product(sizes, wanted, chosen):
                method, test_params = tests[label]
                yield Cell(
                    label, method, test_params, entry["name"], params, n, HYPOTHESES[hypothesis], replicates
                )

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

    def integer(self, key: str, value: Any, least: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < math.inf:
            raise self.fail(key, f"must be an integer of at least {least}, got {value!r}")
        return value

    def listed(self, value: Any) -> list[Any]:
        return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _repeated(cells: Sequence[Cell]) -> Iterator[tuple[Cell, int]]:
    seen: dict[Any, int] = {}
    for cell in cells:
        seen[cell.key()] = seen.get(cell.key(), 0) + 1
    return ((cell, seen[cell.key()]) for cell in cells if seen[cell.key()] > 1)
