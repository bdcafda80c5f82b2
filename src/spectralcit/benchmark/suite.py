"""`Suite`: which tests meet which data sets, with which parameters, how often."""

from __future__ import annotations

import json
import sys
import tomllib
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from ..errors import SpectralCITError, SuiteError, suggestion
from .record import TrialKey

__all__ = ["Cell", "Suite", "canonical", "list_suites", "load_suite"]


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
    label
        What the suite calls the data in its own pages; no part of what makes the cell itself.
    """

    test: str
    method: str
    test_params: Mapping[str, Any]
    dataset: str
    dataset_params: Mapping[str, Any]
    n: int
    dependent: bool
    replicates: int
    label: str = ""

    def key(self) -> tuple[str, str, str, str, str, int, bool]:
        """What makes a cell itself: all of it but replicates and label, in plain types."""
        test, dataset = canonical(self.test_params), canonical(self.dataset_params)
        return self.test, self.method, test, self.dataset, dataset, self.n, self.dependent


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
    >>> suite.only(tests=["gcm"], nulls=True, replicates=5).size
    10
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

    def key(self, cell: Cell, replicate: int) -> TrialKey:
        """Name of a replicate in a store."""
        return TrialKey(*cell.key(), self.seed, replicate)

    def only(
        self,
        *,
        tests: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        nulls: bool = False,
        seed: int | None = None,
        replicates: int | None = None,
    ) -> Suite:
        """Return a part of the suite, or the same cells on other seeds.

        Parameters
        ----------
        tests
            What the tests are called that are kept; all when not given.
        labels
            Keep cells whose label contains one of these texts; all when not given.
        nulls
            Keep null hypotheses only.
        seed, replicates
            Instead of those of the suite.

        Raises
        ------
        SuiteError
            For an unknown test, and when no cell is left.
        """
        for test in tests or ():
            if test not in self.tests:
                raise SuiteError(f"suite {self.name} has no test {test!r}.{suggestion(test, self.tests)}")
        cells = tuple(
            cell if replicates is None else replace(cell, replicates=replicates)
            for cell in self.cells
            if (tests is None or cell.test in tests)
            and (labels is None or any(part in cell.label for part in labels))
            and not (nulls and cell.dependent)
        )
        if not cells:
            raise SuiteError(f"suite {self.name} has no cell that is asked for")
        return replace(self, cells=cells, seed=self.seed if seed is None else seed)

    @classmethod
    def define(cls, *, source: str = "suite", **content: Any) -> Suite:
        """Make a suite from what a suite file would hold.

        Parameters
        ----------
        source
            Where the content comes from; error messages begin with it.
        **content
            ``name``, ``tests`` and ``datasets``, and optionally ``n`` (a number or a list), ``replicates``,
            ``seed``, ``hypotheses``, ``description``, ``imports`` (modules that register tests or data
            sets), ``groups`` (names for several tests) and ``usual`` (tests of data sets that name none).

        Raises
        ------
        SuiteError
            Names the source, the key, and the nearest valid name.
        """
        return _read(content, source)


def canonical(params: Mapping[str, Any]) -> str:
    """Return parameters as JSON in one fixed form, to compare and to store."""
    return json.dumps(dict(params), sort_keys=True, ensure_ascii=False)


def _read(content: Mapping[str, Any], source: str) -> Suite:
    from .suite_reader import read_content  # which makes suites itself

    return read_content(content, source)


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
    """Names of the suites that come with the package."""
    folder = resources.files(__package__) / "suites"
    return sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml"))


def _shipped(name: str) -> Any:
    return resources.files(__package__) / "suites" / f"{name}.toml"


def _from_toml(content: bytes, source: str) -> Suite:
    try:
        parsed = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SuiteError(f"{source}: not valid TOML: {error}") from error
    return _read(parsed, source)


def _from_python(content: bytes, path: Path) -> Suite:
    """Run the file and take its ``suite``."""
    module = types.ModuleType(f"spectralcit_suite_{path.stem}")
    module.__file__ = str(path)
    # There only while it runs: what it defines is then sent to workers by value, as they cannot import it.
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
        return _read(found, str(path))
    if not isinstance(found, Suite):
        raise SuiteError(f"{path}: must define 'suite', a Suite or a mapping with the content of one")
    return found
