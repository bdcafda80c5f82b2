"""What all commands share: where text goes, how errors end a command, and a sign of life."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from typer.core import TyperGroup

from ..errors import MissingValuesError, SpectralCITError, TooManyCategoriesError

__all__ = ["BAD_INPUT", "Commands", "busy", "console", "print_json"]

BAD_INPUT = 2
_INTERRUPTED = 130
_PLAIN_WIDTH = 110  # a file or a pipe has no width of its own

# Messages of the library speak Python; these say the same at the command line.
_HINTS: dict[type[Exception], str] = {
    MissingValuesError: "--missing drop leaves out the rows with missing values.",
    TooManyCategoriesError: "To leave a column out of a pattern, put ! before its name: --given '*,!id'.",
}


class Commands(TyperGroup):
    """Runs a command and turns every expected failure into a sentence on standard error and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that `ctx` names.

        Parameters
        ----------
        ctx
            The context of the whole command line; its class depends on the version of typer.
        """
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # now, so that a reader who has gone away is noticed here
            return result
        except BrokenPipeError:
            # The reader (head, less) has seen enough. What is still buffered must not fail at exit either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except KeyboardInterrupt:
            console(stderr=True).print("interrupted")
            raise typer.Exit(_INTERRUPTED) from None
        except (SpectralCITError, OSError) as error:
            _print_error(error)
            raise typer.Exit(BAD_INPUT) from error


def _print_error(error: Exception) -> None:
    screen = console(stderr=True)
    screen.print("[bold red]error:[/bold red]", end=" ")
    screen.print(str(error), markup=False, highlight=False, soft_wrap=True)
    hint = next((text for kind, text in _HINTS.items() if isinstance(error, kind)), "")
    if hint:
        screen.print(hint, markup=False, highlight=False, soft_wrap=True)


def console(*, stderr: bool = False) -> Console:
    """Return a console; it has colours on a terminal and a fixed width elsewhere.

    Parameters
    ----------
    stderr
        Write to standard error instead of standard output.
    """
    screen = Console(stderr=stderr)
    return screen if screen.is_terminal else Console(stderr=stderr, width=_PLAIN_WIDTH)


def print_json(content: Any) -> None:
    """Write `content` as indented JSON, without colours, to standard output.

    Parameters
    ----------
    content
        Plain JSON types.
    """
    import json

    typer.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def busy(what: str, total: float | None = None) -> Iterator[Callable[[float, str | None], None]]:
    """Show a spinner on standard error while the block runs; nothing when that is not a terminal.

    Parameters
    ----------
    what
        What is going on.
    total
        How many steps there are, for a bar.

    Yields
    ------
    callable
        ``advance_to(done, what)`` moves the bar and changes the text.
    """
    screen = console(stderr=True)
    columns = [SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()]
    if total is not None:
        columns.insert(2, BarColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        task = progress.add_task(what, total=total)

        def advance_to(done: float, text: str | None = None) -> None:
            progress.update(task, completed=done, description=text or what)

        yield advance_to
