"""One answer from several completions of the same data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..inputs import CIData
from ..inputs.encode import encode
from ..numeric.streams import generator
from ..result import Outcome
from .draws import completed_tables

__all__ = ["N_DRAWS", "pooled_outcome"]

# Odd, so that there is a middle one; by hand: two more change few verdicts, and each costs a test.
N_DRAWS = 5


def pooled_outcome(run: Callable[[CIData, int], Outcome], data: CIData, seed: int) -> Outcome:
    """Run a test on completions of the data; the outcome is the one whose p-value is the middle one.

    Each completion alone has the level of the test when the draws are right. The middle of p-values that hang
    together varies less than each of them, so it errs on the safe side.

    Parameters
    ----------
    run
        The test, on complete data with a seed.
    data
        With ``incomplete`` tables.
    seed
        Of the draws and of every test.
    """
    assert data.incomplete is not None
    rng = generator(seed, "imputation")
    outcomes = [
        run(_complete(data, tables), seed) for tables in completed_tables(data.incomplete, N_DRAWS, rng)
    ]
    order = np.argsort([outcome.pvalue for outcome in outcomes], kind="stable")
    middle = outcomes[order[len(order) // 2]]
    missing = {column.name: float(column.missing.mean()) for t in data.incomplete for column in t.columns}
    drawn = {
        "pvalues": [outcome.pvalue for outcome in outcomes],
        "share": {name: share for name, share in missing.items() if share},
    }
    diagnostics = {**middle.diagnostics, "imputation": drawn}
    if "effect_interval" in middle.diagnostics:
        ends = np.array([outcome.diagnostics["effect_interval"] for outcome in outcomes])
        diagnostics["effect_interval"] = [float(ends[:, 0].min()), float(ends[:, 1].max())]
    return replace(middle, diagnostics=diagnostics)


def _complete(data: CIData, tables: Sequence) -> CIData:
    blocks = {table.role: encode(table)[0] for table in tables}
    return replace(data, x=blocks["x"], y=blocks["y"], z=blocks.get("z"), incomplete=None)
