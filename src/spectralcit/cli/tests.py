"""``spectralcit tests``: the catalogue."""

from __future__ import annotations

from dataclasses import asdict

from rich.table import Table

from ..registry import list_tests
from .options import AsJson
from .shell import console, print_json

__all__ = ["list_catalogue"]


def list_catalogue(as_json: AsJson = False) -> None:
    """List every test: what it can do and how its time grows with the rows."""
    infos = list_tests()
    if as_json:
        print_json([{"name": info.name, **asdict(info.tags)} for info in infos])
        return
    table = Table()
    table.add_column("test", no_wrap=True)
    for heading in ("given Z", "several\ncolumns", "mixed\nkinds"):
        table.add_column(heading, justify="center")
    table.add_column("cost", no_wrap=True)
    table.add_column("what it is")
    for info in infos:
        tags = info.tags
        marks = ["yes" if tag else "-" for tag in (tags.conditional, tags.multivariate, tags.mixed)]
        table.add_row(info.name, *marks, tags.cost, tags.summary)
    screen = console()
    screen.print(table)
    screen.print("spectralcit explain NAME says more; spectralcit suggest DATA says which suit your table.")
