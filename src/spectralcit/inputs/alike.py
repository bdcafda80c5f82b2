"""Are rows alike that should be independent? Quick looks at copies, at the order of the rows, and at labels.

What harms a test is a tie between rows on both sides at once: sums of products of residuals given Z vary
``1 + sum of (correlation in x) * (correlation in y)`` times as much as those of independent rows, the sum
being over the other rows that go with one. That number, the design effect, is estimated here for rows near
each other and for rows that share a label. Rows sorted by z, by x or by y are alike in one of them, and no
harm is done: so each side is judged by what is left of it given z, and the other side if rows are sorted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from .copies import copied_rows
from .data import Block
from .few_groups import FEWEST_GROUPS, few_are_alike, is_few, uncorrelated_sides
from .functions import basis_of, scores_of
from .left import Left
from .numbers import beside_waves, repeats_by_itself
from .order import is_sorted, is_sorted_on_both_sides
from .together import Together, runs, sharing

__all__ = ["warnings_of"]

_LEAST_ROWS = 50  # by hand: fewer cannot tell correlation from chance
_MOST_ROWS = 5_000  # looked at, from the first on: enough to see what harms, however long the table is
_LEAST_EFFECT = 1.07  # design effect, by hand: below it a level of .05 stays below about .07
# Standard errors that the tie of rows must be above. On rows alike on neither side the design effect decides;
# these are for rows alike on one side, which do no harm, all the more so if they were sorted by it.
_SURPRISE, _SURPRISE_IF_SORTED = 2.2, 2.7
# Where a label may be: a column that plays no role (one look each, and often labels of subjects indeed), of
# Z, or of a side itself, which is all alike within them, so that few deceive easily. Bars by hand.
_Role = Literal["beside", "z", "side"]
_SURPRISE_OF: dict[_Role, float] = {"beside": 1.8, "z": _SURPRISE, "side": _SURPRISE_IF_SORTED}
_FEWEST_OF: dict[_Role, int] = {"beside": FEWEST_GROUPS, "z": FEWEST_GROUPS, "side": 20}
_FEWEST_NUMBERS = 20  # of whole numbers in Z without gaps, by hand: fewer are a count, a grade, an hour
# Product of the chances of both sides, of few groups: of a hundred tables of independent rows, two have a
# label below it, and one or two a run of rows. All labels of a table share it.
_CHANCE_OF_LABELS, _CHANCE_OF_RUNS = 0.002, 0.0012
_WINDOWS = (1, 3, 10, 30)  # lags that are added up; by hand: pairs of rows, groups of a few, long memory
_SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)  # of groups of rows in a row, as many from each subject; by hand
_LABELS_PER_TESTED = 10  # by hand: of few labels only a line and a parabola are found beyond doubt
_SMOOTH_LEVEL = 0.001  # by hand: of the test whether rows follow a label as a number, which a covariate is
_MOST_LABELS_PER_ROW = 0.8  # by hand: beyond, most rows are alone
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
class _Label:
    """A column that might say which rows belong together."""

    name: str
    values: np.ndarray
    role: _Role

    @property
    def groups(self) -> Together:
        """The rows that share a value."""
        return sharing(self.values)

    @cached_property
    def is_plausible(self) -> bool:
        """Whether values repeat as labels of subjects do."""
        count = len(self.groups.sizes)
        if not _FEWEST_OF[self.role] <= count <= _MOST_LABELS_PER_ROW * len(self.values):
            return False
        if self.role == "beside" or not repeats_by_itself(self.values):
            return True
        whole = bool((self.values == np.floor(self.values)).all())
        return self.role == "z" and whole and count >= _FEWEST_NUMBERS


@dataclass(frozen=True, eq=False)
class _Look:
    """Both sides of a table, each with what z explains removed, and so that neither explains the other."""

    x: Block
    y: Block
    z: Block | None

    @cached_property
    def sides(self) -> tuple[list[Left], list[Left]]:
        """For each side what is left of its columns, and of the squares of that.

        Functions of the other side are removed only where rows may be sorted by it, since that costs power;
        elsewhere it is enough that the sides are uncorrelated.
        """
        if self.in_some_order:
            return self._given_each_other
        of_x, of_y = ([side, side.of_squares()] for side in self._uncorrelated)
        return of_x, of_y

    @cached_property
    def _given_each_other(self) -> tuple[list[Left], list[Left]]:
        of_x, of_y = (
            Left.of(scores_of(one), basis_of(len(self.x.values), self.z, other))
            for one, other in ((self.x, self.y), (self.y, self.x))
        )
        return [of_x, of_x.of_squares()], [of_y, of_y.of_squares()]

    @cached_property
    def in_some_order(self) -> bool:
        """Whether the rows are sorted by a column."""
        blocks = [block for block in (self.x, self.y, self.z) if block is not None]
        return any(is_sorted(column) for block in blocks for column in block.values.T)

    @cached_property
    def _uncorrelated(self) -> tuple[Left, Left]:
        """Both sides given z, mixed as little as makes them uncorrelated."""
        return uncorrelated_sides(scores_of(self.x), scores_of(self.y), basis_of(len(self.x.values), self.z))

    def ordered(self) -> str | None:
        """Judge rows that are near each other in the order given."""
        if is_sorted_on_both_sides(self.x, self.y, self.z):
            return None
        n = len(self.x.values)
        own = np.hstack([self.x.values, self.y.values])
        surprise = _SURPRISE_IF_SORTED if any(is_sorted(column) for column in own.T) else _SURPRISE
        for of_x, of_y in zip(*self.sides, strict=True):
            in_x, in_y = (side.at_lags(min(max(_WINDOWS), n // 5)) for side in (of_x, of_y))
            if any(_is_harmful(in_x[:window], in_y[:window], n, surprise) for window in _WINDOWS):
                return _NEIGHBOURS
        rows = [runs(n, size) for size in _SIZES]
        if any(_alike_within(each, self.sides, surprise, shrink=self.in_some_order) for each in rows):
            return _NEIGHBOURS
        if not self.in_some_order and any(
            few_are_alike(each, self._uncorrelated, _CHANCE_OF_RUNS) for each in rows
        ):
            return _NEIGHBOURS
        return None

    def labelled(self, labels: Mapping[str, np.ndarray]) -> str | None:
        """Judge rows that share a value of a column, of those beside the test or in it."""
        found = [_Label(name, codes[: len(self.x.values)], "beside") for name, codes in labels.items()]
        found += [] if self.z is None else _labels_in(self.z, "z")
        found += [*_labels_in(self.x, "side"), *_labels_in(self.y, "side")]
        found = [label for label in found[:_MOST_LABELLED] if label.is_plausible]
        few = sum(label.role == "beside" and is_few(label.groups) for label in found)
        for label in found:
            if self._shares(label) or (
                label.role == "beside"
                and self._few_labels_alike(label.groups, _CHANCE_OF_LABELS / max(few, 1))
            ):
                return (
                    f"rows with the same value of {label.name} are alike in x and in y, given the rest; the "
                    "test takes rows to be independent, and its p-value is too small if they are not: give "
                    f"{_advice(label.name)} if they are of one subject or site"
                )
        return None

    def _shares(self, label: _Label) -> bool:
        """Judge rows that share a label."""
        groups, surprise = label.groups, _SURPRISE_OF[label.role]
        # Rows that share a value of x are alike in y, too, if y follows x.
        sides = _beside_number(self._given_each_other if label.role == "side" else self.sides, groups)
        if not _alike_within(groups, sides, surprise):
            return False
        if label.role == "z" and repeats_by_itself(label.values):
            (x, _), (y, _) = sides
            x, y = beside_waves((x, y), label.values, groups)
            of_x, of_y = beside_waves((x.of_squares(), y.of_squares()), label.values, groups)
            return _alike_within(groups, ([x, of_x], [y, of_y]), surprise)
        return True

    def _few_labels_alike(self, groups: Together, both: float) -> bool:
        """Judge rows that share one of a few labels, which might be numbers."""
        sides = self._uncorrelated
        if any(_follows(side, groups) for side in sides):
            sides = (_without_number(sides[0], groups), _without_number(sides[1], groups))
        return few_are_alike(groups, sides, both)


def _is_harmful(in_x: np.ndarray, in_y: np.ndarray, n: int, surprise: float) -> bool:
    """Judge autocorrelations; if one side has none, the sum of their products varies about zero.

    Two negative ones do not count: removing functions of z makes rows unlike that are near each other in z.
    """
    total = float(min(np.maximum(in_x, 0.0) @ in_y, in_x @ np.maximum(in_y, 0.0)))
    error = np.sqrt(((in_x**2).sum() + (in_y**2).sum()) / n + len(in_x) / n**2)
    return 1 + 2 * total > _LEAST_EFFECT and total > surprise * error


def _labels_in(block: Block, role: _Role) -> list[_Label]:
    """Return the columns of a block that may be labels: of numbers, with more than a few values."""
    columns = zip(block.names, block.kinds, block.values.T, strict=True)
    return [
        _Label(f"the column {name!r}", column, role) for name, kind, column in columns if kind == "continuous"
    ]


def _advice(name: str) -> str:
    return f"groups={name.split(' ', 2)[2]}" if name.startswith("the column ") else "groups="


def _alike_within(
    groups: Together,
    sides: tuple[list[Left], list[Left]],
    surprise: float,
    *,
    shrink: bool = False,
) -> bool:
    """Judge rows that share a code.

    With `shrink` what was removed has taken most of what such rows could have in common, as where rows are
    sorted by it; correlations are then those of all pairs, not of the few that are left.
    """
    n = len(groups.codes)
    partners = float(groups.sizes @ (groups.sizes - 1.0)) / n  # of a row
    all_pairs = partners * n / 2
    for both in zip(*sides, strict=True):
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


def _beside_number(sides: tuple[list[Left], list[Left]], groups: Together) -> tuple[list[Left], list[Left]]:
    """Remove functions of a label from what is left, and then from its squares, where rows follow them."""
    (x, of_x), (y, of_y) = sides
    if any(_follows(side, groups) for side in (x, y)):
        x, y = _without_number(x, groups), _without_number(y, groups)
        of_x, of_y = x.of_squares(), y.of_squares()
    elif any(_follows(side, groups) for side in (of_x, of_y)):
        of_x, of_y = _without_number(of_x, groups), _without_number(of_y, groups)
    return [x, of_x], [y, of_y]


def _without_number(side: Left, groups: Together) -> Left:
    return side.without_codes(groups, groups.smooth.shape[1])


def _follows(side: Left, groups: Together) -> bool:
    """Whether smooth functions of a label explain more of its levels' means than of any other names."""
    from scipy import special  # half a second that `spectralcit --help` need not wait

    sums = groups.sums(side.columns)
    between = float((np.square(sums) / groups.sizes[:, None] / side.variance).sum())
    count = min(max(len(sums) // _LABELS_PER_TESTED, 2), groups.smooth.shape[1])
    beside = side.without_codes(groups, count)
    removed = np.square(side.columns).sum(axis=0) - np.square(beside.columns).sum(axis=0)
    smooth, rest = float((removed / side.variance).sum()), len(sums) - 1 - count
    ratio = (smooth / count) / max((between - smooth) / rest, 1e-300)
    return bool(special.fdtrc(count, rest, ratio) < _SMOOTH_LEVEL)
