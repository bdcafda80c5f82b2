"""Options that say how rows belong together and how much each counts."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["BlockLength", "Groups", "Times", "WeightKind", "Weights"]

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
