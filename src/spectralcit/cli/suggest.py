"""``spectralcit suggest``: which tests suit these columns, and why."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from ..abilities import able_tests
from ..tables.reading import Reading
from .options import AsJson, Asking, Missing, asks, reads_tables
from .shell import busy, console, print_json
from .test import show_question, show_warnings

if TYPE_CHECKING:
    from ..suggest import Suggestion

__all__ = ["suggest"]

# Verdicts of `Suggestion` in colours that a glance can read.
_WORDS = {"good": "[green]suits[/green]", "care": "[yellow]with care[/yellow]", "no": "[red]no[/red]"}
_FALLBACK = 4  # by hand: how many to show when none suits without reservation


@asks
@reads_tables
def suggest(
    asking: Asking,
    everything: Annotated[
        bool, typer.Option("--all", help="List every test, also those that cannot be used.")
    ] = False,
    as_json: AsJson = False,
    missing: Missing = "drop",
    *,
    reading: Reading,
) -> None:
    """Say which tests suit these columns and this number of rows, and why."""
    from ..inputs import prepare
    from ..suggest import profile_of, rank_tests

    with busy(f"reading {asking.data}"):
        asked = asking.read(reading)
        prepared = prepare(asked.x, asked.outcome, asked.z, missing=missing, min_rows=1, **asked.rows)
        profile = profile_of(prepared)
    ranked = rank_tests(profile)
    if prepared.design is not None:
        ranked = [one for one in ranked if one.name in able_tests(prepared.design.given)]
    if as_json:
        print_json(
            {**asked.to_dict(), "profile": asdict(profile), "suggestions": [asdict(one) for one in ranked]}
        )
        return
    screen = console()
    show_question(screen, asked)
    show_warnings(screen, [("warning", note) for note in prepared.notes])
    shown = ranked if everything else _best(ranked)
    screen.print(_table(shown))
    hidden = len(ranked) - len(shown)
    more = f"; {hidden} more tests with --all" if hidden else ""
    screen.print(f"{profile.n} rows without missing values{more}.", highlight=False)


def _best(ranked: list[Suggestion]) -> list[Suggestion]:
    good = [one for one in ranked if one.verdict == "good"]
    return good or [one for one in ranked if one.verdict == "care"][:_FALLBACK]


def _table(suggestions: list[Suggestion]) -> Table:
    table = Table()
    table.add_column("test", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("why")
    for one in suggestions:
        table.add_row(one.name, _WORDS[one.verdict], Text("; ".join(one.reasons)))
    return table
