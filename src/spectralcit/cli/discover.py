"""``spectralcit discover``: the causal graph behind the columns of a table."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ParameterError, SpectralCITWarning
from ..registry import get_test
from ..tables.reading import Reading
from ..tables.select import columns_matching
from ..verdict import LEVEL
from .options import Data, Missing, Seed, complete_columns, complete_method, parameters, reads_tables
from .shell import busy, console, in_shell_words

if TYPE_CHECKING:
    from ..discovery import DiscoveredGraph

__all__ = ["discover"]

# Method of a graph by the ending of the file.
_WRITERS = {".html": "to_html", ".dot": "to_dot", ".json": "to_json"}


@reads_tables
def discover(
    data: Data,
    columns: Annotated[
        str,
        typer.Option(
            "--columns",
            help="Names, patterns, ranges; '*,!id' for all but id.",
            autocompletion=complete_columns,
        ),
    ] = "*",
    tiers: Annotated[
        str,
        typer.Option(
            "--tiers",
            help="What comes before what: 'age,sex < stage < gene_* < relapse'. No arrow points back.",
            autocompletion=complete_columns,
        ),
    ] = "",
    forbid: Annotated[
        list[str] | None,
        typer.Option("--forbid", help="Arrow that cannot be: 'relapse -> gene_*'; may be repeated."),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option("--require", help="Arrow that is there: 'dose -> response'; may be repeated."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method", "--test", help="The test; see spectralcit tests.", autocompletion=complete_method
        ),
    ] = "spectral",
    alpha: Annotated[float, typer.Option("--alpha", help="Level of each test, between 0 and 1.")] = LEVEL,
    max_depth: Annotated[
        int | None, typer.Option("--max-depth", help="Largest size of conditioning sets.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Number of processes; -1 for all cores.")] = 1,
    seed: Seed = 0,
    out: Annotated[
        list[Path] | None, typer.Option("--out", help="File to write: .html, .dot or .json; may be repeated.")
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option("--store", help="File for finished tests. Default: next to the first --out."),
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", help="Parameter of the test, name=value; may be repeated.")
    ] = None,
    missing: Missing = "raise",
    groups: Annotated[
        str | None, typer.Option("--groups", help="Column of rows that belong together.")
    ] = None,
    time: Annotated[str | None, typer.Option("--time", help="Column of times of the rows.")] = None,
    weights: Annotated[str | None, typer.Option("--weights", help="Column of sampling weights.")] = None,
    *,
    reading: Reading,
) -> None:
    """Search for the causal graph of a table (stable PC).

    Every finished test is stored: after an interruption, the same command goes on where it was.
    """
    from ..discovery import (  # scikit-learn takes a second that `spectralcit --help` need not wait
        Knowledge,
        pc,
    )
    from ..files import write_atomically
    from ..tables.read import read_as

    outputs = out or []
    settings = parameters(param or [], get_test(method))
    knowledge = Knowledge(tiers, forbid or (), require or ())
    for path in outputs:
        _check_output(path)
    if store is None and outputs:
        store = outputs[0].with_name(outputs[0].name + ".pvalues.jsonl")
    with busy(f"reading {data}"):
        table = read_as(data, reading)
        about = {"groups": groups, "time": time, "weights": weights}
        rows: dict[str, Any] = {role: name for role, name in about.items() if name}
        wanted = columns_matching(columns, table.names)
        picked = table.pick((*(name for name in wanted if name not in rows.values()), *rows.values()))
    screen = console(stderr=True)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: screen.print(
            in_shell_words(f"note: {message}"), markup=False, highlight=False, soft_wrap=True
        )
        warnings.simplefilter("always", SpectralCITWarning)
        try:
            found = pc(
                picked,
                method,
                alpha,
                n_jobs=jobs,
                random_state=seed,
                max_depth=max_depth,
                knowledge=knowledge,
                store=store,
                missing=missing,
                **rows,
                **settings,
            )
        except KeyboardInterrupt:
            screen.print(_how_to_go_on(store), markup=False, highlight=False, soft_wrap=True)
            raise
    for path in outputs:
        write_atomically(path, getattr(found, _WRITERS[path.suffix.lower()])())
    _show(found, outputs)


def _how_to_go_on(store: Path | None) -> str:
    if store is None:
        return "stopped: what was finished is lost; with --out or --store it would have been kept"
    return f"stopped: finished tests are in {store}; run the same command to go on"


def _check_output(path: Path) -> None:
    """Complain before hours of tests, not after."""
    if path.suffix.lower() not in _WRITERS:
        raise ParameterError(f"--out {path}: the name must end in {', '.join(_WRITERS)}")
    if not path.parent.is_dir():
        raise ParameterError(f"--out {path}: there is no folder {path.parent}")


def _show(found: DiscoveredGraph, outputs: list[Path]) -> None:
    screen = console()
    screen.print(str(found), markup=False, highlight=False, soft_wrap=True)
    reused = len(found.pvalues) - found.n_computed
    if reused:
        screen.print(f"{reused} of {len(found.pvalues)} tests were known from the store", highlight=False)
    for path in outputs:
        screen.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)
