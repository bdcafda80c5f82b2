"""Do cells go missing in a way that depends on X and Y? Quick tests of the pattern of the missing cells.

Rows with all their values are a fair sample for a test of X and Y given Z when the chance to be complete is
a product of a function of (x, z) and one of (y, z). It is not when cells of Z are missing because of x and y,
nor when x is missing because of y in some rows and y because of x in others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .columns import Column
from .read import Table

__all__ = ["depends_on_both", "mutual_dependence"]

# P-value of either side given the other, by hand: if one side matters, the other is below it this often.
_CLEAR = 0.03
_CLEAR_PRODUCT = 0.005  # that of the products, which alone suffice
_FEWEST = 10  # rows that lack something, and rows that do not: fewer show nothing
_MOST_COLUMNS = 20  # of one side that are looked at, by hand: a pattern shows in the first ones or hardly


def depends_on_both(tables: Sequence[Table]) -> bool:
    """Tell whether cells of Z are missing in a way that visibly depends on X and on Y."""
    x, y, z = _columns(tables)
    seen = ~np.logical_or.reduce([column.missing for column in (*x, *y)])
    gone = np.logical_or.reduce([np.zeros(len(seen), dtype=bool), *(column.missing for column in z)])[seen]
    if min(gone.sum(), (~gone).sum()) < _FEWEST:
        return False
    known = [column for column in z if not column.missing.any()]
    of_x, of_y = _scores(x, seen), _scores(y, seen)
    all_x, all_y, all_z = (_scores(part, seen, degree=4) for part in (x, y, known))
    sides = (of_x, all_y), (of_y, all_x)
    if max(_pvalue(gone, one, np.hstack([other, all_z])) for one, other in sides) < _CLEAR:
        return True
    products = (of_x[:, :2, None] * of_y[:, None, :2]).reshape(len(gone), -1)
    return _pvalue(gone, products, np.hstack([all_x, all_y, all_z])) < _CLEAR_PRODUCT


def mutual_dependence(tables: Sequence[Table], below: float = _CLEAR) -> bool:
    """Tell whether x is missing because of y while y is missing because of x, by p-values `below` a bound."""
    x, y, z = _columns(tables)
    known = [column for column in z if not column.missing.any()]
    for one, other in ((x, y), (y, x)):
        seen = ~np.logical_or.reduce([column.missing for column in other])
        gone = np.logical_and.reduce([column.missing for column in one])[seen]
        if min(gone.sum(), (~gone).sum()) < _FEWEST:
            return False
        if _pvalue(gone, _scores(other, seen), _scores(known, seen, degree=4)) >= below:
            return False
    return True


def _columns(tables: Sequence[Table]) -> tuple[tuple[Column, ...], ...]:
    by_role = {table.role: table.columns for table in tables}
    return by_role["x"], by_role["y"], by_role.get("z", ())


def _scores(columns: Sequence[Column], rows: np.ndarray, degree: int = 2) -> np.ndarray:
    """Powers of the normal scores of numbers, and indicators of categories, at some rows.

    What is to be accounted for needs the higher ones: a chance that rises from none to all bends twice.
    """
    from scipy import stats  # half a second that `spectralcit --help` need not wait

    found = [np.empty((int(rows.sum()), 0))]
    for column in columns[:_MOST_COLUMNS]:
        values = column.values[rows]
        if column.levels is None:
            scores = stats.norm.ppf((stats.rankdata(values) - 0.5) / len(values))
            found.append(scores[:, None] ** np.arange(1, degree + 1))
        else:
            levels, counts = np.unique(values, return_counts=True)
            frequent = levels[np.argsort(-counts, kind="stable")][: min(_FEWEST, len(levels) - 1)]
            found.append((values[:, None] == frequent).astype(np.float64))
    return np.hstack(found)


def _pvalue(gone: np.ndarray, columns: np.ndarray, known: np.ndarray) -> float:
    """P-value, by least squares, of whether `columns` tell that a cell is gone when `known` is known."""
    from scipy import stats

    n = len(gone)
    known = np.hstack([np.ones((n, 1)), known])
    target = gone.astype(np.float64)
    before = _squares(target, known)
    both = np.hstack([known, columns])
    after, used = _squares(target, both), columns.shape[1]
    free = n - both.shape[1]
    if free < _FEWEST or not used or after <= 0:
        return 1.0
    return float(stats.f.sf((before - after) / used / (after / free), used, free))


def _squares(target: np.ndarray, design: np.ndarray) -> float:
    left = target - design @ np.linalg.lstsq(design, target, rcond=1e-10)[0]
    return float(left @ left)
