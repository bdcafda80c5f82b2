"""How rows belong together: their groups, order in time and weights, checked once and carried along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypedDict, cast

import numpy as np

from ..errors import LengthMismatchError, MissingValuesError, ParameterError, TooFewRowsError
from ..numeric.grouped import members_of
from .columns import Column
from .read import read

__all__ = ["DeclaredRows", "RowArguments", "RowDesign", "declare_rows", "few_rows_note", "said_of_rows"]

_FEW_EFFECTIVE = 30  # by hand: with fewer rows, p-values hang on how single ones are distributed
_FEWEST_GROUPS = 6  # of five groups all signs alike have a chance of 2 / 32: nothing could be rejected at .05
_KINDS = ("probability", "frequency")  # of weights, as people call them


class RowArguments(TypedDict, total=False):
    """What may be said about the rows of a test."""

    groups: Any  # one label per row: rows of one patient, site, slide belong together
    time: Any  # one time per row, or True for rows in order
    weights: Any  # one weight per row
    block_length: int | None  # rows per block of time; chosen from the data when not given
    weight_kind: str  # "probability", or "frequency" for rows that stand for that many


@dataclass(frozen=True, eq=False)
class RowDesign:
    """Rows that are not independent or do not count alike.

    Parameters
    ----------
    clusters
        Code of the group or block of time of each row; rows of different ones are independent. ``None`` when
        all rows are.
    weights
        Positive, with mean one; ``None`` when all rows count alike.
    inflation
        Factor, at least one, by which the variance of sums over blocks of time falls short, because adjacent
        blocks are not quite independent.
    given
        Which of groups, time and weights the user gave.
    facts
        What a result tells about the rows.
    """

    clusters: np.ndarray | None = None
    weights: np.ndarray | None = None
    inflation: float = 1.0
    given: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def members(self) -> list[np.ndarray] | None:
        """The rows of each cluster."""
        return None if self.clusters is None else members_of(self.clusters)

    @cached_property
    def root(self) -> np.ndarray | None:
        """Roots of the weights: rows multiplied by them turn weighted sums of products into plain ones."""
        return None if self.weights is None else np.sqrt(self.weights)

    @property
    def degrees_of_freedom(self) -> float:
        """Clusters that the largest leave room for, minus one: with unequal ones, fewer than there are."""
        assert self.members is not None
        sizes = np.array([len(rows) for rows in self.members], dtype=float)
        if self.weights is not None:
            sizes = np.array([self.weights[rows].sum() for rows in self.members])
        square = np.square(sizes)
        return max(float(square.sum() ** 2 / np.square(square).sum()) - 1.0, 1.0)

    def subset(self, rows: Any) -> RowDesign:
        """Return the design restricted to `rows`."""
        clusters = None if self.clusters is None else self.clusters[rows]
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, clusters=clusters, weights=weights)


@dataclass(frozen=True, eq=False)
class DeclaredRows:
    """What the user said about the rows, checked; blocks of time are yet to be made."""

    groups: np.ndarray | None
    time: np.ndarray | None
    weights: np.ndarray | None
    block_length: int | None
    rows: (
        np.ndarray | None
    )  # positions to take from the inputs first: without weight zero, repeated by counts

    @property
    def given(self) -> tuple[str, ...]:
        """Names of what was given."""
        parts = {"groups": self.groups, "time": self.time, "weights": self.weights}
        return tuple(name for name, part in parts.items() if part is not None)

    def subset(self, rows: Any) -> DeclaredRows:
        """Return what was said of some of the rows."""
        groups, time, weights = (
            None if part is None else part[rows] for part in (self.groups, self.time, self.weights)
        )
        return DeclaredRows(groups, time, weights, self.block_length, None)


def declare_rows(
    n: int,
    *,
    groups: Any = None,
    time: Any = None,
    weights: Any = None,
    block_length: int | None = None,
    weight_kind: str = "probability",
) -> DeclaredRows | None:
    """Check what was said about `n` rows; ``None`` when nothing was.

    Examples
    --------
    >>> declare_rows(3) is None, declare_rows(8, groups=list("aabbcdef")).groups.tolist()
    (True, [0, 0, 1, 1, 2, 3, 4, 5])
    """
    if weight_kind not in _KINDS:
        raise ParameterError(f"weight_kind must be one of {_KINDS}, got {weight_kind!r}")
    whole = isinstance(block_length, int | np.integer) and not isinstance(block_length, bool)
    if block_length is not None and not (whole and 1 <= block_length <= n // _FEWEST_GROUPS):
        raise ParameterError(
            f"block_length must be a whole number from 1 to {n // _FEWEST_GROUPS} ({_FEWEST_GROUPS} "
            f"blocks of {n} rows), got {block_length!r}"
        )
    if time is None and block_length is not None:
        raise ParameterError("block_length needs time=, the time of each row, or time=True for rows in order")
    if groups is None and time is None and weights is None:
        return None
    codes = None if groups is None else _codes(_column(groups, "groups", n))
    moments = None if time is None else _times(time, n, codes)
    counted = None if weights is None else _checked_weights(_column(weights, "weights", n), weight_kind)
    rows = None
    if counted is not None and weight_kind == "frequency":
        rows, counted = np.repeat(np.arange(n), counted.astype(np.int64)), None
        if moments is not None:
            raise ParameterError("frequency weights do not go with time=: a moment happens once")
    elif counted is not None and (counted == 0).any():
        rows = np.flatnonzero(counted > 0)
    declared = DeclaredRows(codes, moments, counted, block_length, None)
    return declared if rows is None else replace(declared.subset(rows), rows=rows)


def _column(given: Any, role: str, n: int) -> Column:
    """Read one value per row."""
    table = read(given, role)
    if len(table.columns) != 1:
        raise ParameterError(f"{role} must be one column, got {len(table.columns)}")
    column = table.columns[0]
    if table.n != n:
        raise LengthMismatchError(f"{role} must have one value per row: x has {n} rows, {role} has {table.n}")
    if column.missing.any():
        raise MissingValuesError(
            f"{role} is missing in {int(column.missing.sum())} row(s), first in "
            f"{column.place(int(np.argmax(column.missing)))}; fill it in or leave these rows out"
        )
    return column


def _codes(column: Column) -> np.ndarray:
    codes = np.unique(column.values, return_inverse=True)[1].ravel()
    count = int(codes.max()) + 1
    if count < _FEWEST_GROUPS:
        found = "only one group" if count == 1 else f"only {count} groups"
        raise TooFewRowsError(
            f"groups holds {found}: groups are what is independent, and {_FEWEST_GROUPS} are the fewest "
            "whose signs can speak against chance at level 0.05; a few sites or batches belong into z instead"
        )
    return codes


def _times(given: Any, n: int, groups: np.ndarray | None) -> np.ndarray:
    if given is True:
        return np.arange(n, dtype=float)
    column = _column(given, "time", n)
    values = column.values
    if column.levels is not None:
        try:  # dates of a text file
            values = np.array(column.levels, dtype="datetime64[ms]").astype(float)[values]
        except ValueError as error:
            raise ParameterError("time must be numbers or dates, or True for rows in order") from error
    if not np.isfinite(values).all():
        raise ParameterError("time must be finite numbers or dates, or True for rows in order")
    keys = np.column_stack([np.zeros(n) if groups is None else groups, values])
    if len(np.unique(keys, axis=0)) < n:
        where = " within a group" if groups is not None else "; several series need groups= as well"
        raise ParameterError(f"time holds the same moment twice{where}: which row came first?")
    return values


def _checked_weights(column: Column, kind: str) -> np.ndarray:
    weights = column.values.astype(float)
    if column.levels is not None and column.levels != ("False", "True"):
        raise ParameterError("weights must be numbers")
    if not np.isfinite(weights).all():
        raise ParameterError(f"weights must be finite, row {int(np.argmin(np.isfinite(weights)))} is not")
    if (weights < 0).any():
        raise ParameterError(
            f"weights must not be negative: row {int(np.argmax(weights < 0))} has "
            f"{weights[int(np.argmax(weights < 0))]:g}"
        )
    if not weights.any():
        raise ParameterError("weights are all zero: no row would count")
    if kind == "frequency" and (weights != np.round(weights)).any():
        row = int(np.argmax(weights != np.round(weights)))
        raise ParameterError(
            f"frequency weights count rows and must be whole: row {row} has {weights[row]:g}"
        )
    return weights


def few_rows_note(design: RowDesign | None) -> tuple[str, ...]:
    """A note when weights leave few rows to speak."""
    worth = np.inf if design is None else design.facts.get("effective_sample_size", np.inf)
    if worth >= _FEW_EFFECTIVE:
        return ()
    return (f"the weights are so unequal that the rows are worth {worth:.0f} of equal weight: few decide",)


def said_of_rows(params: dict[str, Any]) -> tuple[RowArguments, dict[str, Any]]:
    """Part keyword arguments into those about rows and the parameters of a test.

    The test "wgcm" has a parameter ``weights`` of its own, whose values are words.
    """
    words = isinstance(params.get("weights"), str) and params["weights"] in ("fixed", "estimated")
    names = [name for name in RowArguments.__annotations__ if not (words and name == "weights")]
    rows = {name: params[name] for name in names if params.get(name) is not None}
    return cast(RowArguments, rows), {name: value for name, value in params.items() if name not in names}
