"""``spectralcit screen``: which of many columns still speak about an outcome once others are known."""

from __future__ import annotations

import time as clocks
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ..errors import ParameterError
from ..registry import get_test
from ..tables.reading import Reading
from .options import Data, Jobs, Missing, Seed, complete_method, parameters, reads_tables
from .row_options import BlockLength, Event, Groups, Times, WeightKind, Weights
from .shell import busy, console

if TYPE_CHECKING:
    from rich.console import Console

    from ..screening import ScreenResult

__all__ = ["screen"]

_LINE_SECONDS = 60.0  # between lines of progress, when the output is not a terminal
_SHOWN = 20  # by hand: columns in the printed table; files hold all of them


@reads_tables
def screen(
    data: Data,
    y: Annotated[str | None, typer.Option("--y", help="The outcome; of several, each is tested.")] = None,
    x: Annotated[
        str | None,
        typer.Option("--x", help="Columns to test: names, patterns (gene_*), ranges. Default: all others."),
    ] = None,
    pairs: Annotated[
        str | None, typer.Option("--pairs", help="In place of --x and --y: every pair of these columns.")
    ] = None,
    event: Event = "",
    given: Annotated[str, typer.Option("--given", help="What is known, likewise.")] = "",
    fdr: Annotated[str, typer.Option("--fdr", help="q-values: bh, by (any dependence) or none.")] = "bh",
    level: Annotated[
        float,
        typer.Option("--level", help="q-value (with --fdr none: p-value) up to which a column is a hit."),
    ] = 0.1,
    mode: Annotated[
        str, typer.Option("--mode", help="two-stage: a quick look first; full: the whole test for all.")
    ] = "two-stage",
    method: Annotated[
        str,
        typer.Option(
            "--method", "--test", help="The test; see spectralcit tests.", autocompletion=complete_method
        ),
    ] = "spectral",
    out: Annotated[
        list[Path] | None,
        typer.Option("--out", help="File to write: .csv, .tsv, .json or .parquet; may be repeated."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write an HTML report to this file.", dir_okay=False)
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option("--store", help="File for finished columns. Default: next to the first --out."),
    ] = None,
    jobs: Jobs = 1,
    backend: Annotated[
        str, typer.Option(help="Where columns are tested: joblib, dask, ray or spark.")
    ] = "joblib",
    address: Annotated[
        str | None, typer.Option(help="Of a running Dask scheduler, Ray head or Spark master.")
    ] = None,
    seed: Seed = 0,
    missing: Missing = "raise",
    groups: Groups = "",
    time: Times = "",
    weights: Weights = "",
    block_length: BlockLength = None,
    weight_kind: WeightKind = "probability",
    param: Annotated[
        list[str] | None, typer.Option("--param", help="Parameter of the test, name=value; may be repeated.")
    ] = None,
    *,
    reading: Reading,
) -> None:
    """Test many columns, each by itself, against an outcome once the given columns are known.

    Every finished batch of columns is stored: after an interruption, the same command goes on where it was.
    """
    from ..screening import screen as run_screen  # scikit-learn takes a second that --help need not wait
    from ..screening.files import check_output, write_table

    if not 0.0 < level < 1.0:
        raise ParameterError(f"--level must be strictly between 0 and 1, got {level:g}")
    settings = parameters(param or [], get_test(method))
    about = {"groups": groups, "time": time, "weights": weights, "block_length": block_length}
    rows: dict[str, Any] = {name: given for name, given in about.items() if given}
    if weights:
        rows["weight_kind"] = weight_kind
    outputs = out or []
    for path in outputs:
        check_output(path)
    if report is not None and not report.parent.is_dir():
        raise ParameterError(f"--report {report}: there is no folder {report.parent}")
    written = [*outputs, *([] if report is None else [report])]
    if store is None and written:
        store = written[0].with_name(written[0].name + ".sqlite")
    with _progress(f"screening {data}") as advance:
        found = run_screen(
            data,
            x,
            _outcome(y, event),
            given,
            pairs=pairs,
            fdr=None if fdr == "none" else fdr,
            mode=mode,
            test=method,
            n_jobs=jobs,
            backend=backend,
            address=address,
            random_state=seed,
            missing=missing,
            progress=advance,
            store=store,
            reading=reading,
            **rows,
            **settings,
        )
    for path in outputs:
        write_table(found, path)
    if report is not None:
        from ..screening.page import write_page

        write_page(found, report, source=data, level=level)
    _show(console(), found, level)
    for path in written:
        console().print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


def _outcome(y: str | None, event: str) -> str | tuple[str, str] | None:
    """What `screen` gets as y: with an event, a censored time."""
    if not event:
        return y
    if y is None:
        raise ParameterError("--event tells which times in --y are events: name the column of times as --y")
    return y, event


@contextmanager
def _progress(what: str) -> Iterator[Callable[[float, float], None]]:
    """Yield what `screen` reports to: a bar on a terminal, elsewhere a line a minute with the time left."""
    screen = console(stderr=True)
    if screen.is_terminal:
        with busy(what, total=1.0) as advance_to:
            yield lambda done, total: advance_to(done / total, f"{what} ({done:.0f} of {total:.0f})")
        return
    yield _lines(screen)


def _lines(screen: Console, clock: Callable[[], float] = clocks.monotonic) -> Callable[[float, float], None]:
    from ..benchmark.progress import duration

    started = last = clock()
    first: float | None = None

    def show(done: float, total: float) -> None:
        nonlocal last, first
        now = clock()
        first = done if first is None else first
        if now - last < _LINE_SECONDS:
            return
        last = now
        pace = (done - first) / (now - started)
        left = f", about {duration((total - done) / pace)} left" if pace > 0 and done < total else ""
        screen.print(f"{done:.0f} of {total:.0f} columns{left}", highlight=False)

    return show


def _show(screen: Console, found: ScreenResult, level: float) -> None:
    hits, qs = found.hits(level), dict(zip(found.rows, found.qvalues, strict=True))
    judged = "p" if found.fdr is None else "q"
    untested = [row for row in found.rows if row.pvalue is None]
    screen.print(
        f"{len(found.rows)} columns: {len(hits)} with {judged} at most {level:g}, {len(untested)} without a "
        f"p-value; λ = {found.inflation:.2f}, seed {found.seed}",
        highlight=False,
        soft_wrap=True,
    )
    known = len(found.rows) - found.n_computed
    if known:
        screen.print(f"{known} of {len(found.rows)} columns were known from the store", highlight=False)
    if hits:
        from ..screening.rows import hundredths

        table = Table(box=None, pad_edge=False)
        for heading in ("column", "outcome", "p", "q", "effect", "kind of dependence"):
            table.add_column(heading, justify="right" if heading in ("p", "q", "effect") else "left")
        for row in hits[:_SHOWN]:
            q = qs[row]
            shown = "" if q is None else f"{q:.2g}"
            effect = hundredths(row.signed_effect)
            table.add_row(row.x, row.y, f"{row.pvalue:.2g}", shown, effect, row.kind or "")
        screen.print(table)
        if len(hits) > _SHOWN:
            screen.print(f"... and {len(hits) - _SHOWN} more", highlight=False)
    for row in untested[:3]:
        screen.print(f"no p-value for {row.x}: {row.reason}", markup=False, highlight=False, soft_wrap=True)
    if len(untested) > 3:
        screen.print(f"... and {len(untested) - 3} more without a p-value", highlight=False)
