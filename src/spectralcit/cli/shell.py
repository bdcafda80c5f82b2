"""What all commands share: where text goes, how errors end a command, and a sign of life."""

from __future__ import annotations

import os
import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from typer.core import TyperGroup

from ..errors import InputError, SpectralCITError, TooManyCategoriesError, no_such_file

if TYPE_CHECKING:
    from ..base import BaseCITest

__all__ = [
    "BAD_INPUT",
    "Commands",
    "busy",
    "can_report",
    "console",
    "existing_file",
    "in_shell_words",
    "print_json",
    "print_text",
    "report_to",
]

BAD_INPUT = 2  # as of wrong usage in most programs
_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
_PLAIN_WIDTH = 110  # a file or a pipe has no width of its own; what fits a page of documentation

_READABLE_WIDTH = 100  # by hand: the eye finds the next line

# Messages of the library speak Python: missing='drop'. The options of the commands have the same names.
_ARGUMENT = re.compile(
    r"\b(missing|delimiter|encoding|decimal|format|sheet|categorical|numeric|ordinal|max_levels)="
    r"(?:'([^']*)'|(\d+))"
)
# What only the command line knows.
_LEAVE_OUT = "To leave a column out of a pattern, put ! before its name: --given '*,!id'."


class Commands(TyperGroup):
    """Runs a command and turns every expected failure into a sentence on standard error and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that `ctx` names, whose class depends on the version of typer."""
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
    screen.print(in_shell_words(str(error)), markup=False, highlight=False, soft_wrap=True)
    # Several columns with several problems are an InputError and none of its kinds.
    if isinstance(error, TooManyCategoriesError) or type(error) is InputError:
        screen.print(_LEAVE_OUT, markup=False, highlight=False, soft_wrap=True)


def existing_file(data: str) -> str:
    """Complain about a wrong path at once, before anything is imported that reads tables."""
    if data != "-" and not Path(data).exists():
        raise no_such_file(Path(data))
    return data


def in_shell_words(text: str) -> str:
    """A message of the library with its arguments as options."""
    return _ARGUMENT.sub(
        lambda found: f"--{found[1].replace('_', '-')} {shlex.quote(found[2] or found[3] or '')}", text
    )


def console(*, stderr: bool = False) -> Console:
    """A console for standard output or error, with colours on a terminal and a fixed width elsewhere."""
    screen = Console(stderr=stderr)
    return screen if screen.is_terminal else Console(stderr=stderr, width=_PLAIN_WIDTH)


def print_text(screen: Console, text: str, indent: str = "") -> None:
    """Print paragraphs in lines that are pleasant to read, whatever the width of the screen."""
    width = min(screen.width, _READABLE_WIDTH)
    for paragraph in text.split("\n\n"):
        words = " ".join(paragraph.split())
        filled = textwrap.fill(words, width, initial_indent=indent, subsequent_indent=indent)
        screen.print(filled, markup=False, highlight=False)


def print_json(content: Any) -> None:
    """Write plain JSON types, indented and without colours, to standard output."""
    import json

    typer.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def busy(what: str, total: float | None = None) -> Iterator[Callable[..., None]]:
    """Show a spinner on standard error while the block runs; nothing when that is not a terminal.

    With a `total` of steps there is a bar too, and ``advance_to(done, what)``, which is yielded, moves it.
    """
    screen = console(stderr=True)
    columns = [SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()]
    if total is not None:
        columns.insert(2, BarColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        task = progress.add_task(what, total=total)

        def advance_to(done: float, text: str = what) -> None:
            progress.update(task, completed=done, description=text)

        yield advance_to


def can_report(test: BaseCITest) -> bool:
    """Whether a test tells how far it is."""
    return "progress" in test.get_params(deep=False)


def report_to(follow: Callable[[float], None], test: BaseCITest) -> None:
    """Let `test` tell the share that is done, if it can, so that it draws no bar of its own."""
    if can_report(test):
        test.set_params(progress=lambda done, total: follow(done / total))
