"""Are rows alike that should be independent? Quick looks at copies, at the order of the rows, and at labels.

What harms a test is a tie between rows on both sides at once: sums of products of residuals given Z vary
``1 + sum of (correlation in x) * (correlation in y)`` times as much as those of independent rows, the sum
being over the other rows that go with one. That number, the design effect, is estimated here for rows near
each other and for rows that share a label. Rows sorted by z, by x or by y are alike in one of them, and no
harm is done: so each side is judged by what is left of it given z and the other side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from .copies import copied_rows
from .data import Block
from .left import Basis, Left, Together, orthonormal, runs
from .order import is_sorted, is_sorted_on_both_sides

__all__ = ["warnings_of"]

_LEAST_ROWS = 50  # by hand: fewer cannot tell correlation from chance
_MOST_ROWS = 5_000  # looked at, from the first on: enough to see what harms, however long the table is
_LEAST_EFFECT = 1.07  # design effect, by hand: below it a level of .05 stays below about .07
# Standard errors that the tie of rows must be above. On rows alike on neither side the design effect decides;
# these are for rows alike on one side, which do no harm, all the more so if they were sorted by it.
_SURPRISE, _SURPRISE_IF_SORTED = 2.2, 2.7
_SURPRISE_OF_LABELS = 1.8  # of columns that play no role: one look each, and often labels of subjects indeed
_WINDOWS = (1, 3, 10, 30)  # lags that are added up; by hand: pairs of rows, groups of a few, long memory
_SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)  # of groups of rows in a row, as many from each subject; by hand
_COSINES = 12  # of the ranks of a column, at most; by hand: six periods over its range
# Of a column by which the rows are sorted, half waves per row: nothing then tells rough functions of it from
# memory, unless this is short. By hand.
_WAVES_PER_ROW = 1 / 12
_MOST_WAVES = 60  # for the time
_MOST_FUNCTIONS = 80  # of the columns of one block; for the time
_SMOOTH_LEVEL = 0.01  # by hand: of the test whether rows follow a label as a number, which a covariate is
_COLUMNS_PER_ROW = 1 / 16  # of the functions that z and the other side may explain a column with; by hand
_MOST_COLUMNS = 10  # of one side, by hand: rows that are alike are so in most columns
_FEWEST_LABELS = 8  # by hand: a column with fewer is a covariate, not a list of subjects
_FEWEST_OWN_LABELS = 20  # of a side's own column, which is all alike within them: by hand, few deceive easily
_MOST_LABELLED = 40  # columns looked at as labels; by hand, for the time
# Said of time and of sorted groups alike, which cannot be told apart.
_NEIGHBOURS = (
    "neighbouring rows are alike in x and in y, given the rest; the test takes rows to be independent, and "
    "its p-value is too small if they are not: give time= if they follow each other in time, groups= if "
    "several are of one subject or site"
)


def warnings_of(
    x: Block,
    y: Block,
    z: Block | None,
    *,
    labels: Mapping[str, np.ndarray],
    declared: frozenset[str] = frozenset(),
) -> tuple[str, ...]:
    """Warnings about rows that are not independent, each with the argument that helps.

    Parameters
    ----------
    x, y, z
        The data in the order of the rows as given.
    labels
        Columns that might say which rows belong together, by what to call them; as codes or numbers.
    declared
        Arguments about the rows that were given, of ``"groups"`` and ``"time"``: nothing is said about what
        they settle.
    """
    if len(x.values) < _LEAST_ROWS or "groups" in declared:
        return ()
    blocks = [block.values for block in (x, y, z) if block is not None]
    copies = copied_rows(np.hstack(blocks))
    if copies:
        return (
            f"{copies} of {len(x.values)} rows are copies of other rows, which count as new evidence here; "
            "remove them, or say with groups= which rows are of one origin",
        )
    first = slice(_MOST_ROWS)
    look = _Look(x.subset(first), y.subset(first), None if z is None else z.subset(first))
    found = look.labelled(labels)
    if found is None and "time" not in declared:
        found = look.ordered()
    return () if found is None else (found,)


@dataclass(frozen=True, eq=False)
class _Look:
    """Both sides of a table, each with what z and the other side explain of it removed."""

    x: Block
    y: Block
    z: Block | None

    @cached_property
    def sides(self) -> tuple[list[Left], list[Left]]:
        """For each side what is left of its columns, and of the squares of that."""
        x, y = (
            _residuals(one, _beside(self.z, other)) for one, other in ((self.x, self.y), (self.y, self.x))
        )
        return x, y

    def ordered(self) -> str | None:
        """Judge rows that are near each other in the order given."""
        if is_sorted_on_both_sides(self.x, self.y, self.z):
            return None
        n = len(self.x.values)
        own = np.hstack([self.x.values, self.y.values])
        surprise = _SURPRISE_IF_SORTED if any(is_sorted(column) for column in own.T) else _SURPRISE
        columns = own.T if self.z is None else np.hstack([own, self.z.values]).T
        in_some_order = any(is_sorted(column) for column in columns)
        for of_x, of_y in zip(*self.sides, strict=True):
            in_x, in_y = (side.at_lags(min(max(_WINDOWS), n // 5)) for side in (of_x, of_y))
            if any(_is_harmful(in_x[:window], in_y[:window], n, surprise) for window in _WINDOWS):
                return _NEIGHBOURS
        sizes = (runs(n, size) for size in _SIZES)
        if any(_alike_within(rows, self.sides, surprise, shrink=in_some_order) for rows in sizes):
            return _NEIGHBOURS
        return None

    def labelled(self, labels: Mapping[str, np.ndarray]) -> str | None:
        """Judge rows that share a value of a column, of those beside the test or in it."""
        n = len(self.x.values)
        candidates = [
            (name, codes[:n], _SURPRISE_OF_LABELS, _FEWEST_LABELS) for name, codes in labels.items()
        ]
        of_z, of_side = (_SURPRISE, _FEWEST_LABELS), (_SURPRISE_IF_SORTED, _FEWEST_OWN_LABELS)
        for block, rule in ((self.z, of_z), (self.x, of_side), (self.y, of_side)):
            if block is None:
                continue
            candidates += [
                (f"the column {name!r}", column, *rule)
                for name, kind, column in zip(block.names, block.kinds, block.values.T, strict=True)
                if kind == "continuous"
            ]
        for name, values, surprise, fewest in candidates[:_MOST_LABELLED]:
            codes = _as_labels(values, fewest)
            if codes is None:
                continue
            if _alike_within(Together(codes), self.sides, surprise, _functions_of_label(codes)):
                return (
                    f"rows with the same value of {name} are alike in x and in y, given the rest; the test "
                    "takes rows to be independent, and its p-value is too small if they are not: give "
                    f"{_advice(name)} if they are of one subject or site"
                )
        return None


def _is_harmful(in_x: np.ndarray, in_y: np.ndarray, n: int, surprise: float) -> bool:
    """Judge autocorrelations; if one side has none, the sum of their products varies about zero.

    Two negative ones do not count: removing functions of z makes rows unlike that are near each other in z.
    """
    total = float(min(np.maximum(in_x, 0.0) @ in_y, in_x @ np.maximum(in_y, 0.0)))
    error = np.sqrt(((in_x**2).sum() + (in_y**2).sum()) / n + len(in_x) / n**2)
    return 1 + 2 * total > _LEAST_EFFECT and total > surprise * error


def _advice(name: str) -> str:
    return f"groups={name.split(' ', 2)[2]}" if name.startswith("the column ") else "groups="


def _alike_within(
    groups: Together,
    sides: tuple[list[Left], list[Left]],
    surprise: float,
    number: np.ndarray | None = None,
    *,
    shrink: bool = False,
) -> bool:
    """Judge rows that share a code.

    `number` are functions of the code as a number, if it might be one. With `shrink` what was removed has
    taken most of what such rows could have in common, as where rows are sorted by it; correlations are then
    those of all pairs, not of the few that are left.
    """
    n = len(groups.codes)
    partners = float(groups.sizes @ (groups.sizes - 1.0)) / n  # of a row
    all_pairs = partners * n / 2
    for of_x, of_y in zip(*sides, strict=True):
        both = (of_x, of_y)
        if number is not None and any(_follows(side, number, groups) for side in both):
            both = (of_x.without(number), of_y.without(number))
        (in_x, pairs_x), (in_y, pairs_y) = (side.within(groups) for side in both)
        if min(in_x, in_y) <= 0:
            continue
        if shrink:
            in_x, in_y = in_x * pairs_x / all_pairs, in_y * pairs_y / all_pairs
            pairs_x = pairs_y = all_pairs
        error = np.sqrt(in_x**2 / pairs_y + in_y**2 / pairs_x + 1 / (pairs_x * pairs_y))
        if in_x * in_y > surprise * error and 1 + partners * in_x * in_y > _LEAST_EFFECT:
            return True
    return False


def _follows(side: Left, number: np.ndarray, groups: Together) -> bool:
    """Whether smooth functions of a label explain more of its levels' means than of any other names."""
    from scipy import stats  # half a second that `spectralcit --help` need not wait

    sums = groups.sums(side.columns)
    between = float((np.square(sums) / groups.sizes[:, None] / side.variance).sum())
    removed = np.square(side.columns).sum(axis=0) - np.square(side.without(number).columns).sum(axis=0)
    smooth, count = float((removed / side.variance).sum()), number.shape[1]
    rest = len(sums) - 1 - count
    ratio = (smooth / count) / max((between - smooth) / rest, 1e-300)
    return bool(stats.f.sf(ratio, count, rest) < _SMOOTH_LEVEL)


def _functions_of_label(codes: np.ndarray) -> np.ndarray:
    """Smooth functions of a number: if x and y are no more than that, it is a covariate."""
    return _cosines(codes.astype(np.float64), min(_COSINES // 2, int(codes.max() + 1) // _FEWEST_LABELS))


def _as_labels(values: np.ndarray, fewest: int) -> np.ndarray | None:
    """Codes in the order of the values when these repeat as labels of subjects do, else None."""
    levels, codes = np.unique(values, return_inverse=True)
    if len(levels) < fewest or len(levels) > len(values) * 0.8:  # by hand: most rows are alone
        return None
    return codes.ravel()


def _residuals(block: Block, known: Basis) -> list[Left]:
    """Take out of a side what a basis explains."""
    left = Left.of(np.column_stack([_scores(column) for column in block.values[:, :_MOST_COLUMNS].T]), known)
    return [left, left.of_squares()]


def _beside(z: Block | None, other: Block) -> Basis:
    """Return a basis of functions of Z and of the other side."""
    return _remembered_basis(
        _content(other), other.n_columns, *(() if z is None else (_content(z), z.n_columns))
    )


def _content(block: Block) -> bytes:
    return np.ascontiguousarray(block.values).tobytes()


@lru_cache(maxsize=8)  # tests of many columns with one Y given one Z come one after the other
def _remembered_basis(values: bytes, n_columns: int, *before: Any) -> Basis:
    """Return a basis of functions of a block, beside those of another one: all by their contents."""
    block = np.frombuffer(values).reshape(-1, n_columns)
    functions = _functions(block)
    if before:
        return _remembered_basis(*before).beside(functions)
    return orthonormal(functions)


def _scores(column: np.ndarray) -> np.ndarray:
    from scipy import special, stats  # half a second that `spectralcit --help` need not wait

    return special.ndtri((stats.rankdata(column) - 0.5) / len(column))


def _functions(values: np.ndarray) -> np.ndarray:
    """Functions of the columns of a block: themselves, cosines of their ranks, products of the first few."""
    n = len(values)
    room = min(max(int(n * _COLUMNS_PER_ROW), 2), _MOST_FUNCTIONS)
    columns = values[:, : max(room // 2, 1)]
    plain = [_scores(column) for column in columns.T]
    each = min(_COSINES, max((room - len(plain)) // max(len(plain), 1), 0))
    found = [np.column_stack(plain)]
    for column in columns.T:
        count = min(each, (len(np.unique(column)) - 1) // 4)  # by hand: few values are few subjects, perhaps
        if is_sorted(column):
            count = max(count, min(int(n * _WAVES_PER_ROW), _MOST_WAVES))
        if count:
            found.append(_cosines(column, count))
    products = [a * b for j, a in enumerate(plain[:4]) for b in plain[:j]]
    return np.column_stack([*found, *products])


def _cosines(column: np.ndarray, count: int) -> np.ndarray:
    from scipy import stats  # half a second that `spectralcit --help` need not wait

    ranks = (stats.rankdata(column) - 0.5) / len(column)
    return np.cos(np.pi * np.outer(ranks, np.arange(1, count + 1)))
