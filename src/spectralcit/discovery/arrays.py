"""`ArrayTester`: queries whose columns arrive as arrays, for hosts that do not say which columns they are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import SpectralCITWarning
from ..inputs.check import check_lengths
from ..inputs.columns import Column
from ..inputs.design import said_of_rows
from ..inputs.read import Table, read
from ..making import Method, chosen_method, make_test
from ..numeric.digest import column_digest, digest
from ..numeric.streams import resolve_seed
from ..parameters import check_parameters
from ..result import CITestResult
from .answer import answer

__all__ = ["ArrayTester"]


class ArrayTester:
    """Answers queries that are given as arrays; the same values always get the same answer.

    The sides of a query and the columns of its conditioning set are put into an order that only their values
    decide, and the seed is a hash of `random_state` and these values. Exchanging x and y, permuting the
    columns of z, or asking in another order therefore changes nothing. Answers are kept under the values.
    """

    def __init__(
        self,
        *,
        test: Method | None = None,
        method: Method | None = None,
        random_state: int | np.random.Generator | None = 0,
        **params: Any,
    ):
        self.rows, params = said_of_rows(params)
        self.test = make_test(chosen_method(test, method), **params)
        check_parameters(self.test)
        self.random_state = resolve_seed(random_state)
        self.cache: dict[bytes, CITestResult] = {}

    def result(self, x: Any, y: Any, z: Any = None) -> CITestResult:
        """The answer, without diagnostics; an array `z` without columns is none."""
        tables = [read(x, "x"), read(y, "y")]
        if z is not None and not (getattr(z, "ndim", 1) == 2 and z.shape[1] == 0):
            tables.append(read(z, "z"))
        check_lengths(tables)
        first, second = sorted((_by_value(table) for table in tables[:2]), key=_digest)
        given = _by_value(tables[2]) if len(tables) == 3 else []
        key = digest(str(self.random_state).encode(), *map(_digest, (first, second, given)))
        if key not in self.cache:
            seed = int.from_bytes(key[:4], "big")
            self.cache.setdefault(key, answer(self.test, first, second, given, seed=seed, rows=self.rows))
            if self.cache[key].null.name == "none":
                warnings.warn(self.cache[key].warnings[0], SpectralCITWarning, stacklevel=3)
        return self.cache[key]


def _by_value(table: Table) -> list[Column]:
    return sorted(table.columns, key=lambda column: column_digest(column.values, column.levels))


def _digest(columns: Sequence[Column]) -> bytes:
    return digest(*(column_digest(column.values, column.levels) for column in columns))
