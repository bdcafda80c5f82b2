"""One query, answered: X and Y given Z as columns, with a decision where columns repeat each other.

A test refuses a column that plays two roles, and rightly so when a person asks one question. A search asks
thousands and must go on, so copies are decided here:

- a column of X or Y that Z also holds is known once Z is known; it is left out, and when nothing is left X
  and Y are independent given Z (p = 1);
- otherwise, when X and Y share a column they are dependent whatever Z is (p = the smallest positive float);
- a column that Z holds twice counts once.

Both decisions are right, and both break faithfulness: with a copy in the table, a search may lose edges that
the original has. The result carries a warning.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..base import BaseCITest
from ..inputs import DataTable, RowArguments
from ..inputs.columns import Column
from ..registry import registered_name
from ..result import CITestResult, NullDistribution
from .copies import Prints, prints

__all__ = ["answer"]


def answer(
    test: BaseCITest,
    x: Sequence[Column],
    y: Sequence[Column],
    z: Sequence[Column],
    *,
    seed: int,
    rows: RowArguments | None = None,
) -> CITestResult:
    """Test x and y given z, which may be empty, or decide when columns repeat each other."""
    complete = _complete_rows([*x, *y, *z]) if test.missing != "raise" else slice(None)
    z = list({prints(column, complete): column for column in z}.values())
    in_z = _union(z, complete)
    x_left, y_left = ([column for column in side if not prints(column, complete) <= in_z] for side in (x, y))
    if not x_left or not y_left:
        known = "Y" if x_left else "X"
        text = f"{known} holds nothing that Z does not hold: independent given Z"
        return _decided(test, seed, len(x[0].values), pvalue=1.0, text=text)
    if any(
        prints(column, complete) <= _union(other, complete)
        for one, other in ((x_left, y_left), (y_left, x_left))
        for column in one
    ):
        text = "X and Y hold the same column: dependent given any Z without it"
        return _decided(test, seed, len(x[0].values), pvalue=sys.float_info.min, text=text)
    seeded = clone(test).set_params(random_state=seed)
    data = seeded.prepare(_table(x_left), _table(y_left), _table(z) if z else None, **(rows or {}))
    return _slim(seeded.run(data))


def _union(columns: Sequence[Column], rows: Any) -> Prints:
    return frozenset().union(*(prints(column, rows) for column in columns))


def _complete_rows(columns: Sequence[Column]) -> np.ndarray:
    return np.flatnonzero(~np.logical_or.reduce([column.missing for column in columns]))


def _decided(test: BaseCITest, seed: int, n: int, *, pvalue: float, text: str) -> CITestResult:
    dependent = float(pvalue < 1.0)
    return CITestResult(
        statistic=dependent,
        pvalue=pvalue,
        effect_size=dependent,
        method=registered_name(type(test)),
        n=n,
        null=NullDistribution("none"),
        warnings=(text,),
        seed=seed,
    )


def _table(columns: Sequence[Column]) -> DataTable:
    return DataTable("data", len(columns[0].values), {column.name: column for column in columns})


def _slim(result: CITestResult) -> CITestResult:
    """Without diagnostics and without long lists in the null distribution: a search keeps thousands."""
    null = result.null
    short: dict[str, float | int | list] = {
        key: value for key, value in null.parameters.items() if not isinstance(value, list)
    }
    return replace(result, null=replace(null, parameters=short), diagnostics={}, question=None)
