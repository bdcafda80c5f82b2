"""Options that several commands share, and the question they add up to."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ParameterError
from ..parameters import parameters_of
from ..tables.reading import FORMATS, Reading
from ..tables.select import columns_matching
from .bundle import bundled
from .columns import described
from .complete import complete_columns, complete_method
from .row_options import BlockLength, Event, Groups, Times, WeightKind, Weights
from .shell import existing_file

if TYPE_CHECKING:
    from ..benchmark import Runner
    from ..inputs import CensoredTimes, DataTable
    from ..question import Question

__all__ = [
    "Alpha",
    "AsJson",
    "Asked",
    "Asking",
    "Backend",
    "Data",
    "Jobs",
    "Missing",
    "Running",
    "Seed",
    "asks",
    "comma_separated",
    "complete_columns",
    "complete_method",
    "parameters",
    "reads_tables",
    "runs_replicates",
]


def comma_separated(text: str) -> list[str]:
    """Return the names in a list separated by commas, each once."""
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _level(alpha: float) -> float:
    if not 0.0 < alpha < 1.0:
        raise ParameterError(f"--alpha must be strictly between 0 and 1, got {alpha:g}")
    return alpha


def _seed(seed: int) -> int:
    if not 0 <= seed < 2**32:
        raise ParameterError(f"--seed must be from 0 to {2**32 - 1}, got {seed}")
    return seed


Data = Annotated[
    str,
    typer.Argument(
        callback=existing_file,
        metavar="DATA",
        help="CSV, TSV, Excel, Parquet or Feather file, also gzipped; - for standard input.",
    ),
]
Alpha = Annotated[
    float, typer.Option("--alpha", callback=_level, help="Level of the verdict, between 0 and 1.")
]
Backend = Annotated[str, typer.Option(help="Where replicates run: serial, joblib, dask or ray.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Workers; -1 for one per core.")]
Seed = Annotated[int, typer.Option("--seed", callback=_seed, help="Same seed, same result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Missing = Annotated[
    str,
    typer.Option(
        "--missing", help="Missing values: raise (an error), drop (leave rows out) or impute (draw them)."
    ),
]
# The fields of `Reading` as options, in the order of the help.
_READING = {
    "categorical": Annotated[
        str,
        typer.Option("--categorical", help="Columns to read as categories though they look like numbers."),
    ],
    "numeric": Annotated[str, typer.Option("--numeric", help="Columns that must be numbers.")],
    "ordinal": Annotated[
        str, typer.Option("--ordinal", help="Columns that are scales: grade, or pain='low<medium<high'.")
    ],
    "delimiter": Annotated[
        str | None, typer.Option("--delimiter", help="comma, tab, semicolon, pipe, space, or a character.")
    ],
    "encoding": Annotated[
        str, typer.Option("--encoding", help="Encoding of the text, for instance latin-1.")
    ],
    "decimal": Annotated[
        str, typer.Option("--decimal", help="Decimal mark of the numbers: . or , (auto: recognised).")
    ],
    "sheet": Annotated[
        str, typer.Option("--sheet", help="Sheet of an Excel workbook, by name or number; default: first.")
    ],
    "max_levels": Annotated[
        int, typer.Option("--max-levels", help="Most levels of a category; of more, the rarest are one.")
    ],
    "format": Annotated[
        str | None,
        typer.Option("--format", help=f"{', '.join(FORMATS)}; found from the file when not given."),
    ],
}
for _option in _READING.values():
    _option.__metadata__[0].rich_help_panel = "How the file is read"  # type: ignore[attr-defined]


#: Gives a command the options of `Reading`, which it gets as one argument `reading`.
reads_tables = bundled("reading", Reading, _READING)


@dataclass(frozen=True)
class Asked:
    """A question about the columns of a table, and these columns."""

    question: Question
    x: DataTable
    y: DataTable
    z: DataTable | None
    reading: Reading
    rows: dict[str, Any]  # what was said about the rows: groups, time, weights
    event: DataTable | None = None

    @property
    def outcome(self) -> DataTable | CensoredTimes:
        """What a test gets as y."""
        from ..inputs import CensoredTimes

        return self.y if self.event is None else CensoredTimes(self.y, self.event)

    @property
    def roles(self) -> list[tuple[str, DataTable]]:
        """The tables with the names of their roles, as on the command line."""
        tables = {"x": self.x, "y": self.y, "event": self.event, "given": self.z}
        return [(role, table) for role, table in tables.items() if table is not None]

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain JSON types."""
        return {
            "question": self.question.in_words(),
            "source": self.question.source,
            **{"x": list(self.question.x), "y": list(self.question.y), "given": list(self.question.z)},
            **({} if self.event is None else {"event": self.question.event}),
            "columns": {name: described(one) for _, t in self.roles for name, one in t.columns.items()},
        }


@dataclass(frozen=True)
class Asking:
    """The options that ask a question: a table, and the columns of each role."""

    data: Data
    x: Annotated[
        str,
        typer.Option(
            "--x",
            help="Column, or columns: names, patterns (img_*), ranges (c3:c9).",
            autocompletion=complete_columns,
        ),
    ]
    y: Annotated[str, typer.Option("--y", help="Likewise.", autocompletion=complete_columns)]
    given: Annotated[
        str,
        typer.Option(
            "--given",
            help="What is known; '*' for all other columns, '*,!id' for all but id.",
            autocompletion=complete_columns,
        ),
    ] = ""
    event: Event = ""
    groups: Groups = ""
    time: Times = ""
    weights: Weights = ""
    block_length: BlockLength = None
    weight_kind: WeightKind = "probability"

    def read(self, reading: Reading) -> Asked:
        """Read the table and pick the columns of each role; an empty `given` asks for plain independence."""
        from ..question import Question  # brings what a list of tests or a completion can do without
        from ..tables.read import read_as

        table = read_as(self.data, reading)
        about = {"groups": self.groups, "time": self.time, "weights": self.weights}
        rows: dict[str, Any] = {role: table.pick(name) for role, name in about.items() if name}
        apart = tuple(name for name in about.values() if name)
        if self.block_length is not None:
            rows["block_length"] = self.block_length
        if self.weights:
            rows["weight_kind"] = self.weight_kind
        in_x = columns_matching(self.x, table.names, without=apart)
        in_y = columns_matching(self.y, table.names, without=(*in_x, *apart))
        known = self.given.strip()
        in_event: tuple[str, ...] = ()
        if self.event:
            in_event = columns_matching(self.event, table.names, without=(*in_x, *in_y, *apart))
        if len(in_event) > 1:
            raise ParameterError(f"--event must be one column, got {', '.join(in_event)}")
        taken = (*in_x, *in_y, *in_event)
        in_z = columns_matching(self.given, table.names, without=(*taken, *apart)) if known else ()
        table.pick(dict.fromkeys((*taken, *in_z)))  # so that one error tells all that is wrong
        source = "standard input" if self.data == "-" else str(Path(self.data))
        picked_z = table.pick(in_z) if in_z else None
        event = table.pick(in_event) if in_event else None
        said = {**about, "block_length": self.block_length, "weight_kind": self.weight_kind}
        told = tuple((name, said[name]) for name in said if name in rows)
        question = Question(in_x, in_y, in_z, source, "".join(in_event), told)
        return Asked(question, table.pick(in_x), table.pick(in_y), picked_z, reading, rows, event)


#: Gives a command the options of `Asking`, which it gets as one argument `asking`.
asks = bundled("asking", Asking)


@dataclass(frozen=True)
class Running:
    """The options of `benchmark.Runner`, whose import would keep every command waiting."""

    backend: Backend = "joblib"
    jobs: Jobs = 1
    address: Annotated[str | None, typer.Option(help="Of a running Dask scheduler or Ray head.")] = None
    time_limit: Annotated[float | None, typer.Option(help="Seconds that one replicate may take.")] = None
    memory_limit: Annotated[float | None, typer.Option(help="Megabytes that one replicate may hold.")] = None
    retry_failures: Annotated[
        bool, typer.Option("--retry-failures", help="Run again what failed before.")
    ] = False

    def runner(self, progress: Callable | None) -> Runner:
        """The runner that these options ask for."""
        from ..benchmark import Runner

        options = asdict(self)
        return Runner(n_jobs=options.pop("jobs"), progress=progress, **options)


#: Gives a command the options of `Running`, which it gets as one argument `running`.
runs_replicates = bundled("running", Running)


def parameters(given: Sequence[str], cls: type) -> dict[str, Any]:
    """Turn ``["n_draws=500", "null=bootstrap"]`` into parameters of the test class `cls`.

    A value that the test declares as one of its words is that word; one that reads as a Python literal is
    one; ``none``, ``true`` and ``false`` are what they say; anything else is text.

    Examples
    --------
    >>> parameters(["n_draws=500", "null=bootstrap", "width=none"], Reading)
    {'n_draws': 500, 'null': 'bootstrap', 'width': None}
    """
    declared = parameters_of(cls)
    constants = {"none": None, "true": True, "false": False}
    out: dict[str, Any] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise ParameterError(f"--param {text!r}: write name=value, for instance --param n_draws=500")
        out[name] = value
        if name in declared and value in declared[name][1].choices:
            continue
        if value.lower() in constants:
            out[name] = constants[value.lower()]
            continue
        with contextlib.suppress(ValueError, SyntaxError):
            out[name] = ast.literal_eval(value)
    return out
