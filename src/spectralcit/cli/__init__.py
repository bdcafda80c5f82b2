"""The command ``spectralcit``; one file per subcommand."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from .bench import bench
from .compare import compare
from .demo import demo
from .discover import discover
from .explain import explain
from .reproduce import reproduce
from .screen import screen
from .shell import Commands
from .suggest import suggest
from .test import run_test
from .tests import list_catalogue
from .tune import tune

__all__ = ["app"]

app = typer.Typer(
    name="spectralcit",
    cls=Commands,
    help="Test whether X is independent of Y once Z is known.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("test")(run_test)
app.command("tests")(list_catalogue)
app.command()(explain)
app.command()(suggest)
app.command()(compare)
app.command()(screen)
app.command()(discover)
app.command()(demo)
app.add_typer(bench)
app.command()(reproduce)
app.command()(tune)


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
