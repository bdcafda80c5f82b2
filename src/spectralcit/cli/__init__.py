"""The command ``spectralcit``; one file per subcommand."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from .demo import demo

__all__ = ["app"]

app = typer.Typer(
    name="spectralcit",
    help="Test whether X is independent of Y once Z is known.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"spectralcit {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Test whether X is independent of Y once Z is known."""
