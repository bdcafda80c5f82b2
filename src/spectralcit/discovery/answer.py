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

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from ..base import BaseCITest
from ..errors import ParameterError, suggestion
from ..inputs import DataTable
from ..inputs.columns import Column
from ..inputs.encode import encode
from ..inputs.read import Table
from ..registry import get_test, registered_name
from ..result import CITestResult, NullDistribution

__all__ = ["answer", "make_test", "prints"]

Prints: TypeAlias = frozenset[bytes]


def make_test(test: str | BaseCITest, params: dict[str, Any]) -> BaseCITest:
    """Make an instance from the name of a test, or copy an instance, with `params` set.

    Parameters
    ----------
    test
        A registered name, or an instance (which is not changed).
    params
        Parameters of the test.

    Examples
    --------
    >>> make_test("gcm", {"missing": "drop"}).missing
    'drop'
    """
    if isinstance(test, str):
        cls = get_test(test)
        given = cls()
    elif isinstance(test, BaseCITest):
        given, cls = clone(test), type(test)
    else:
        raise ParameterError(f"test must be the name of a test or an instance of one, got {test!r}")
    known = cls._get_param_names()
    for name in params:
        if name not in known:
            raise ParameterError(
                f"{registered_name(cls)!r} has no parameter {name!r}.{suggestion(name, known)} "
                f"It has: {', '.join(known)}"
            )
    return given.set_params(**params)


def answer(
    test: BaseCITest, x: Sequence[Column], y: Sequence[Column], z: Sequence[Column], *, seed: int
) -> CITestResult:
    """Test x and y given z, or decide when columns repeat each other.

    Parameters
    ----------
    test
        The test; its own ``random_state`` is ignored.
    x, y, z
        Columns of the three roles; `z` may be empty.
    seed
        Seed of this query.

    Returns
    -------
    CITestResult
        Without diagnostics and without long lists in the null distribution: a search keeps thousands.

    Examples
    --------
    >>> from spectralcit.inputs.read import read
    >>> x, y, copy_of_x = read(np.random.default_rng(0).normal(size=(50, 2))[:, [0, 1, 0]], "data").columns
    >>> answer(make_test("gcm", {}), [x], [y], [copy_of_x], seed=0).pvalue
    1.0
    >>> answer(make_test("gcm", {}), [x], [copy_of_x], [y], seed=0).pvalue < 1e-300
    True
    """
    complete = _complete_rows([*x, *y, *z]) if test.missing == "drop" else slice(None)
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
    return _slim(seeded.test(_table(x_left), _table(y_left), _table(z) if z else None))


def prints(column: Column, rows: Any = slice(None)) -> Prints:
    """Digest of each encoded column that `column` turns into: equal for equal values, whatever the type.

    Parameters
    ----------
    column
        A column that is not constant.
    rows
        The rows that count.
    """
    kept = column.take(rows)
    if not len(kept.values) or kept.missing.any():  # the test itself will complain
        return frozenset([repr(column.where).encode()])
    values = encode(Table("data", (kept,)))[0].values + 0.0  # adding zero: -0.0 and 0.0 have the same bits
    return frozenset(hashlib.blake2b(one.tobytes(), digest_size=16).digest() for one in values.T)


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
    null = result.null
    short: dict[str, float | int | list] = {
        key: value for key, value in null.parameters.items() if not isinstance(value, list)
    }
    return replace(result, null=replace(null, parameters=short), diagnostics={})
