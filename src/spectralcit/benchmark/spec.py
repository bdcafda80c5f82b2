"""`Suite`: which tests meet which data sets, with which parameters, how often."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Cell", "Suite", "canonical"]


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
        from .suite_content import read_content

        return read_content(content, source)


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
