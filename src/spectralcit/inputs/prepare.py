"""`prepare`: the one door through which data enters a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from ..errors import ParameterError
from ..numeric.threads import single_threaded
from ..question import Question
from .alike import warnings_of
from .blocks import block_design
from .censored import as_censored, event_flags
from .check import check_infinite, check_lengths, check_overlap, check_rows, check_usable, index_note
from .data import Block, CIData
from .design import DeclaredRows, RowArguments, declare_rows, few_rows_note
from .encode import encode
from .labels import labels_beside
from .missing import handle_missing
from .read import Selection, Table, read
from .table import DataTable

__all__ = ["prepare"]


@single_threaded  # what it looks at, whatever the number of rows, is a few thousand of them
def prepare(
    x: Any,
    y: Any,
    z: Any = None,
    *,
    missing: str = "raise",
    min_rows: int = 20,
    **rows: Unpack[RowArguments],
) -> CIData:
    """Read, check and encode the inputs of a conditional independence test.

    Values are not standardised: a test that learns must fit a `Standardizer` on its training rows only.

    Parameters
    ----------
    x, y, z
        1-d or 2-d arrays, lists, frames or series with one row per observation; ``z=None`` for an
        unconditional test. Rows are matched by position. A tuple ``(times, events)`` or a structured array
        with a boolean and a numeric field as ``y`` is a time of which some are censored (event 0 or False);
        the block ``y`` then holds the times and, as ``y.event``, which of them are events.
    missing
        ``"raise"``; ``"drop"`` to delete every row with a missing value in any of the three; or ``"impute"``
        to keep the gaps in `CIData.incomplete`, to be drawn when the test runs.
    min_rows
        Fewest rows to accept, counted after deletion.
    **rows
        ``groups``, ``time``, ``weights``, ``block_length`` and ``weight_kind``: how rows belong together
        and how much each counts, see `ci_test`.

    Returns
    -------
    CIData
        Finite float64 blocks without constant columns.

    Raises
    ------
    InputError
        One of its subclasses in `spectralcit.errors`, which names the column and the row.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> data = prepare(rng.normal(size=30), rng.normal(size=(30, 2)), ["a", "b", "c"] * 10)
    >>> data.n, data.y.names, data.z.names
    (30, ('y[0]', 'y[1]'), ('z[a]', 'z[b]', 'z[c]'))
    """
    for role, given in (("x", x), ("y", y)):
        if given is None:
            raise ParameterError(f"{role} must be given, got None")
    censored = as_censored(y)
    y = y if censored is None else censored.time
    tables = [read(given, role) for role, given in (("x", x), ("y", y), ("z", z)) if given is not None]
    if censored is not None:
        tables.append(read(censored.event, "event"))
    check_lengths(tables)
    declared = declare_rows(tables[0].n, **rows)
    as_given = tables
    tables, positions, told = _rows_that_count(tables, declared)
    notes = (*index_note(as_given, rows), *_reading_notes(tables))
    check_infinite(tables)
    if censored is not None and missing == "impute":
        raise ParameterError("missing='impute' cannot draw times that may be censored; use missing='drop'")
    tables_as_given, handled = tables, handle_missing(tables, missing)
    declared = None if declared is None else declared.subset(handled.rows)
    tables, n = handled.tables, handled.tables[0].n
    event = None if censored is None else event_flags(tables[1], tables.pop())
    check_rows(n, max(min_rows, 1), handled.n_dropped)
    check_usable(tables)
    blocks = []
    notes += handled.notes
    for table in tables:
        block, block_notes = encode(table)
        blocks.append(block)
        notes += block_notes
    x_block, y_block = blocks[0], replace(blocks[1], event=event)
    z_block = blocks[2] if len(blocks) == 3 else None
    kept = positions[handled.rows]
    labels = {name: codes[kept] for name, codes in labels_beside((x, y, z), tables_as_given).items()}
    notes += warnings_of(x_block, y_block, z_block, labels=labels, declared=told)
    check_overlap(x_block, y_block, ("x", "y"))
    if event is not None:
        flags = Block(event[:, None].astype(float), ("event",), ("indicator",), (0,))
        check_overlap(x_block, flags, ("x", "event"))
    if z_block is not None:
        check_overlap(x_block, z_block, ("x", "z"))
        check_overlap(y_block, z_block, ("y", "z"))
    design = None if declared is None else block_design(declared, x_block, y_block, z_block)
    notes += few_rows_note(design)
    n_dropped, gaps = handled.n_dropped, handled.incomplete
    question = _question(as_given, x, censored is not None, rows)
    return CIData(x_block, y_block, z_block, n, n_dropped, notes, design, gaps, question)


def _question(tables: Sequence[Table], x: Any, censored: bool, rows: Mapping[str, Any]) -> Question:
    """What the columns of the roles x, y, perhaps z and perhaps event are called."""
    names = {table.role: table.names for table in tables}
    return Question(
        names["x"],
        names["y"],
        names.get("z", ()),
        source=x.source if isinstance(x, DataTable) else "",
        event=names["event"][0] if censored else "",
        rows=tuple((name, told) for name, given in rows.items() if (told := _told(given)) is not None),
    )


def _told(given: Any) -> str | int | None:
    """Something said about rows, as one would type it: a word, a number, or the name of a column."""
    if isinstance(given, Selection):
        return given.series[0][0]
    if isinstance(given, DataTable):
        return next(iter(given.columns))
    return given if isinstance(given, str | int) else None


def _reading_notes(tables: Sequence[Table]) -> tuple[str, ...]:
    """What was guessed when columns were read, each remark once."""
    return tuple(dict.fromkeys(note for table in tables for column in table.columns for note in column.notes))


def _rows_that_count(
    tables: Sequence[Table], declared: DeclaredRows | None
) -> tuple[list[Table], np.ndarray, frozenset[str]]:
    """Take the rows that have a weight; also their positions, and what was said about them."""
    positions = np.arange(tables[0].n)
    if declared is None:
        return list(tables), positions, frozenset()
    if declared.rows is None:
        return list(tables), positions, frozenset(declared.given)
    # Rows that stand for several equal ones are repeated: that they are copies needs no warning.
    return [table.take(declared.rows) for table in tables], declared.rows, frozenset(("groups",))
