"""The command ``spectralcit``; one file per subcommand, which is imported when it is asked for."""

from __future__ import annotations

import importlib
from collections import UserDict
from typing import Annotated, Any

import typer

from .. import __version__
from .shell import Commands, existing_file

__all__ = ["app"]

# Module and function, or group, of each command, in the order of the help. A command imports its own module
# only, so that a slip of the pen is answered at once.
_HOMES = {
    "test": ("test", "run_test"),
    "tests": ("tests", "list_catalogue"),
    "explain": ("explain", "explain"),
    "suggest": ("suggest", "suggest"),
    "compare": ("compare", "compare"),
    "screen": ("screen", "screen"),
    "discover": ("discover", "discover"),
    "demo": ("demo", "demo"),
    "reproduce": ("reproduce", "reproduce"),
    "tune": ("tune", "tune"),
    "bench": ("bench", "bench"),
}


_OF_A_TABLE = ("test", "suggest", "compare", "screen", "discover")  # their first argument is a file


class _Lazy(UserDict):
    """Commands by name; one is made when it is first looked up."""

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            module, function = _HOMES[name]
            found = getattr(importlib.import_module(f".{module}", __name__), function)
            if not isinstance(found, typer.Typer):
                alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
                alone.command(name)(found)
                found = alone
            found._add_completion = False
            self.data[name] = typer.main.get_command(found)
        return self.data[name]


class _AllCommands(Commands):
    """The group of all commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Lazy(dict.fromkeys(_HOMES))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command; look for its file, where that comes first, before its options are made."""
        has_file = args[0] in _OF_A_TABLE and args[1:2] and not args[1].startswith("-")
        # A shell that completes a line asks about files that may not be there yet.
        if has_file and "--help" not in args and not ctx.resilient_parsing:
            existing_file(args[1])
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of the help."""
        return list(_HOMES)


app = typer.Typer(
    name="spectralcit",
    cls=_AllCommands,
    help="Test whether X is independent of Y once Z is known.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


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
