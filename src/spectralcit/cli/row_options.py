"""Options that say how rows belong together, how much each counts, and which times are events."""

from __future__ import annotations

from typing import Annotated

import typer

from .complete import complete_columns

__all__ = ["BlockLength", "Event", "Groups", "Times", "WeightKind", "Weights"]

Event = Annotated[
    str,
    typer.Option(
        "--event",
        help="Column that is 1 where the time in --y ends with the event, else 0.",
        autocompletion=complete_columns,
    ),
]
Groups = Annotated[
    str, typer.Option("--groups", help="Column of rows that belong together: patient, site, slide.")
]
Times = Annotated[str, typer.Option("--time", help="Column of times: rows near in time are not independent.")]
Weights = Annotated[str, typer.Option("--weights", help="Column of sampling weights.")]
BlockLength = Annotated[
    int | None, typer.Option("--block-length", help="Rows per block of time; default: from the data.")
]
WeightKind = Annotated[
    str, typer.Option("--weight-kind", help="probability, or frequency: a row stands for that many.")
]
