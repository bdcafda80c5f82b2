"""`prepare`: the one door through which data enters a test."""

from __future__ import annotations

from typing import Any

from ..errors import ParameterError
from .check import check_constant, check_infinite, check_lengths, check_overlap, check_rows, index_note
from .data import CIData
from .encode import encode
from .missing import handle_missing
from .read import read

__all__ = ["prepare"]


def prepare(x: Any, y: Any, z: Any = None, *, missing: str = "raise", min_rows: int = 20) -> CIData:
    """Read, check and encode the inputs of a conditional independence test.

    Values are not standardised: a test that learns must fit a `Standardizer` on its training rows only.

    Parameters
    ----------
    x, y, z
        1-d or 2-d arrays, lists, frames or series with one row per observation; ``z=None`` for an
        unconditional test. Rows are matched by position.
    missing
        ``"raise"``, or ``"drop"`` to delete every row with a missing value in any of the three.
    min_rows
        Fewest rows to accept, counted after deletion.

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
    tables = [read(given, role) for role, given in (("x", x), ("y", y), ("z", z)) if given is not None]
    check_lengths(tables)
    notes = index_note(tables)
    check_infinite(tables)
    tables, n_dropped, dropped_note = handle_missing(tables, missing)
    n = tables[0].n
    check_rows(n, max(min_rows, 1), n_dropped)
    check_constant(tables)
    blocks = []
    notes += dropped_note
    for table in tables:
        block, block_notes = encode(table)
        blocks.append(block)
        notes += block_notes
    x_block, y_block = blocks[:2]
    z_block = blocks[2] if len(blocks) == 3 else None
    check_overlap(x_block, y_block, ("x", "y"))
    if z_block is not None:
        check_overlap(x_block, z_block, ("x", "z"))
        check_overlap(y_block, z_block, ("y", "z"))
    return CIData(x_block, y_block, z_block, n, n_dropped, notes)
