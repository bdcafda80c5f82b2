"""Options that several commands share, and the question they add up to."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ParameterError
from ..inputs import DataTable
from ..inputs.columns import Column
from ..registry import list_tests
from ..tables import FORMATS, columns_matching, read_table

if TYPE_CHECKING:
    from ..report.question import Question

__all__ = [
    "Address",
    "Alpha",
    "AsJson",
    "Asked",
    "Backend",
    "Categorical",
    "Data",
    "Decimal",
    "Delimiter",
    "Encoding",
    "Format",
    "Given",
    "Jobs",
    "MemoryLimit",
    "Missing",
    "Numeric",
    "RetryFailures",
    "Seed",
    "TimeLimit",
    "X",
    "Y",
    "ask",
    "comma_separated",
    "complete_method",
    "described",
    "parameters",
]


def comma_separated(text: str) -> list[str]:
    """Return the names in a list separated by commas, each once.

    Parameters
    ----------
    text
        As the user typed it.
    """
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def complete_method(incomplete: str) -> list[tuple[str, str]]:
    """Complete the name of a test, for the shell.

    Parameters
    ----------
    incomplete
        What was typed so far.
    """
    return [(one.name, one.tags.summary) for one in list_tests() if one.name.startswith(incomplete)]


def _level(alpha: float) -> float:
    if not 0.0 < alpha < 1.0:
        raise ParameterError(f"--alpha must be strictly between 0 and 1, got {alpha:g}")
    return alpha


Data = Annotated[str, typer.Argument(help="CSV, TSV, Parquet or Feather file; - for standard input.")]
X = Annotated[str, typer.Option("--x", help="Column, or columns: names, patterns (img_*), ranges (c3:c9).")]
Y = Annotated[str, typer.Option("--y", help="Likewise.")]
Given = Annotated[
    str,
    typer.Option("--given", help="What is known; '*' for all other columns, '*,!id' for all but id."),
]
Alpha = Annotated[
    float, typer.Option("--alpha", callback=_level, help="Level of the verdict, between 0 and 1.")
]
Backend = Annotated[str, typer.Option(help="Where replicates run: serial, joblib, dask or ray.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Workers; -1 for one per core.")]
Address = Annotated[str | None, typer.Option(help="Of a running Dask scheduler or Ray head.")]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds that one replicate may take.")]
MemoryLimit = Annotated[float | None, typer.Option(help="Megabytes that one replicate may hold.")]
RetryFailures = Annotated[bool, typer.Option("--retry-failures", help="Run again what failed before.")]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Same seed, same result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Missing = Annotated[
    str, typer.Option("--missing", help="Rows with missing values: raise (an error) or drop (leave out).")
]
Categorical = Annotated[
    str, typer.Option("--categorical", help="Columns to read as categories though they look like numbers.")
]
Numeric = Annotated[str, typer.Option("--numeric", help="Columns that must be numbers.")]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", help="comma, tab, semicolon, pipe, space, or a character.")
]
Encoding = Annotated[str, typer.Option("--encoding", help="Encoding of the text, for instance latin-1.")]
Decimal = Annotated[str, typer.Option("--decimal", help="Decimal mark of the numbers: . or ,")]
Format = Annotated[
    str | None, typer.Option("--format", help=f"{', '.join(FORMATS)}; found from the file when not given.")
]


@dataclass(frozen=True)
class Asked:
    """A question about the columns of a table.

    Parameters
    ----------
    question
        The names in each role.
    x, y, z
        The columns themselves; ``z`` is ``None`` when nothing is known.
    notes
        How the file was read, as far as it concerns these columns.
    reading
        Options of `read_table` that are not its defaults; whoever repeats the test needs them.
    """

    question: Question
    x: DataTable
    y: DataTable
    z: DataTable | None
    notes: tuple[str, ...]
    reading: dict[str, str] = field(default_factory=dict)

    @property
    def roles(self) -> list[tuple[str, DataTable]]:
        """The tables with the names of their roles, as on the command line."""
        return [("x", self.x), ("y", self.y), *([] if self.z is None else [("given", self.z)])]

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain JSON types."""
        return {
            "question": self.question.in_words(),
            "source": self.question.source,
            **{"x": list(self.question.x), "y": list(self.question.y), "given": list(self.question.z)},
            "columns": {name: described(one) for _, t in self.roles for name, one in t.columns.items()},
        }


def ask(
    data: str,
    x: str,
    y: str,
    given: str,
    *,
    categorical: str = "",
    numeric: str = "",
    delimiter: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
    format: str | None = None,
) -> Asked:
    """Read the table and pick the columns of each role.

    Parameters
    ----------
    data
        Path, or ``"-"``.
    x, y, given
        Selections as in `columns_matching`; an empty `given` asks for unconditional independence.
    categorical, numeric, delimiter, encoding, decimal, format
        As in `read_table`.
    """
    from ..report.question import (
        Question,  # brings SciPy, which a list of tests or a completion can do without
    )

    table = read_table(
        data,
        format=format,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        categorical=categorical,
        numeric=numeric,
    )
    in_x = columns_matching(x, table.names)
    in_y = columns_matching(y, table.names, without=in_x)
    in_z = columns_matching(given, table.names, without=(*in_x, *in_y)) if given.strip() else ()
    used = {*in_x, *in_y, *in_z}
    notes = tuple(note for name, note in table.notes.items() if name in used)
    source = "standard input" if data == "-" else str(Path(data))
    picked_z = table.pick(in_z) if in_z else None
    options = {"categorical": categorical, "numeric": numeric, "delimiter": delimiter, "format": format}
    reading = {name: value for name, value in options.items() if value}
    reading |= {"encoding": encoding} if encoding != "utf-8" else {}
    reading |= {"decimal": decimal} if decimal != "." else {}
    question = Question(in_x, in_y, in_z, source)
    return Asked(question, table.pick(in_x), table.pick(in_y), picked_z, notes, reading)


def described(column: Column) -> str:
    """Say how a column was read.

    Parameters
    ----------
    column
        A column of a table.
    """
    if column.levels is None:
        return "number"
    short = [level if len(level) <= 20 else level[:19] + "…" for level in column.levels]
    levels = [repr(level) if "," in level else level for level in short]
    shown = ", ".join(levels[:5]) + (", ..." if len(levels) > 5 else "")
    return f"category, {len(levels)} {'level' if len(levels) == 1 else 'levels'}: {shown}"


def parameters(given: Sequence[str]) -> dict[str, Any]:
    """Turn ``["n_draws=500", "null=bootstrap"]`` into parameters of a test.

    Parameters
    ----------
    given
        Texts of the form ``name=value``; a value that reads as a Python literal is one, ``none``, ``true``
        and ``false`` are what they say, anything else is text.

    Examples
    --------
    >>> parameters(["n_draws=500", "null=bootstrap", "width=none"])
    {'n_draws': 500, 'null': 'bootstrap', 'width': None}
    """
    constants = {"none": None, "true": True, "false": False}
    out: dict[str, Any] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise ParameterError(f"--param {text!r}: write name=value, for instance --param n_draws=500")
        if value.lower() in constants:
            out[name] = constants[value.lower()]
            continue
        try:
            out[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            out[name] = value
    return out
