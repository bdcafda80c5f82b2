"""``spectralcit bench``: run a benchmark suite, see how far it is, and report it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from .bundle import bundled
from .options import Alpha, Running, comma_separated, runs_replicates
from .shell import Commands, console

if TYPE_CHECKING:
    from ..benchmark import Suite

__all__ = ["bench"]

bench = typer.Typer(
    name="bench",
    cls=Commands,
    help="Compare tests on data whose truth is known.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@dataclass(frozen=True)
class _Part:
    """The options that name a suite, a part of it, and the file of its results."""

    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="A .toml or .py file, or the name of a shipped suite.")
    ]
    store: Annotated[
        Path | None,
        typer.Option("--store", help="The file of results; NAME.sqlite of the suite if not given."),
    ] = None
    tests: Annotated[
        str | None, typer.Option("--tests", help="Only these tests of the suite, comma-separated.")
    ] = None
    only: Annotated[
        str | None,
        typer.Option("--only", help="Only data whose label contains one of these, comma-separated."),
    ] = None
    nulls: Annotated[bool, typer.Option("--nulls", help="Only null hypotheses.")] = False
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Other samples than those of the suite's own seed.")
    ] = None
    replicates: Annotated[
        int | None, typer.Option("--replicates", min=1, help="Of every cell, instead of what the suite says.")
    ] = None

    def load(self) -> tuple[Suite, Path]:
        """The part of the suite, and where its results are."""
        from ..benchmark import load_suite

        suite = load_suite(self.suite).only(
            tests=None if self.tests is None else comma_separated(self.tests),
            labels=None if self.only is None else comma_separated(self.only),
            nulls=self.nulls,
            seed=self.seed,
            replicates=self.replicates,
        )
        return suite, self.store or Path(f"{suite.name}.sqlite")


_of_a_suite = bundled("part", _Part)


@bench.command()
@_of_a_suite
@runs_replicates
def run(part: _Part, *, running: Running) -> None:
    """Run what the store does not have yet; stopped at any moment, the same command goes on from there."""
    from ..benchmark import run_suite
    from ..benchmark.progress import live_progress

    chosen, path = part.load()
    with live_progress(console(stderr=True)) as progress:
        done = run_suite(chosen, path, running.runner(progress))
    typer.echo(
        f"{path}: {done.added} replicates added, {done.kept} were there, {done.failures} of the new failed"
    )
    _say_why(chosen, path)
    if done.interrupted:
        raise KeyboardInterrupt
    other = "" if part.seed is None else f" --seed {part.seed}"
    typer.echo(f"next: spectralcit bench report {part.suite} --store {path}{other}")


@bench.command()
@_of_a_suite
def status(part: _Part) -> None:
    """Show how much of a suite is done, test by test."""
    from ..benchmark import Store
    from ..benchmark.metrics import of_suite

    chosen, path = part.load()
    with Store(path, read_only=True) as opened:
        records = of_suite(opened.records(), chosen)
    wanted: Counter[str] = Counter()
    for cell in chosen.cells:
        wanted[cell.test] += cell.replicates
    finished = Counter(record.test for record in records)
    failed = Counter(record.test for record in records if record.error)
    seconds: dict[str, list[float]] = defaultdict(list)
    for record in records:
        if record.seconds is not None:
            seconds[record.test].append(record.seconds)
    table = Table(title=f"{chosen.name}: {len(records)} of {chosen.size} replicates")
    table.add_column("test")
    for heading in ("done", "of", "failed", "seconds each"):
        table.add_column(heading, justify="right")
    for test in chosen.tests:
        each = f"{fmean(seconds[test]):.3g}" if seconds[test] else ""
        table.add_row(test, str(finished[test]), str(wanted[test]), str(failed[test]), each)
    console().print(table)


@bench.command()
@_of_a_suite
def report(
    part: _Part,
    out: Annotated[Path | None, typer.Option("--out", help="Folder; NAME-report if not given.")] = None,
    alpha: Alpha = 0.05,
) -> None:
    """Write tables, figures and one HTML page; also of a run that is not finished."""
    from ..benchmark import write_report

    chosen, path = part.load()
    folder = out or Path(f"{chosen.name}-report")
    page = write_report(path, folder, suite=chosen, alpha=alpha)
    typer.echo((folder / "ranking.csv").read_text(encoding="utf-8").rstrip())
    typer.echo(f"report: {page}")


@bench.command()
def merge(
    target: Annotated[Path, typer.Argument(help="The store that receives.")],
    sources: Annotated[list[Path], typer.Argument(help="Stores to read.")],
) -> None:
    """Add the rows of other stores; what is there already is left alone."""
    from ..benchmark import Store

    with Store(target) as receiver:
        for source in sources:
            typer.echo(f"{source}: {receiver.merge(source)} new rows")


@bench.command("list")
def list_all() -> None:
    """List the shipped suites, the data sets and the backends."""
    from ..benchmark import list_suites, load_suite
    from ..benchmark.backends import BACKENDS
    from ..datasets import list_datasets

    screen = console()
    suites = Table("suite", "replicates", "what", title="Suites")
    for name in list_suites():
        suite = load_suite(name)
        suites.add_row(name, str(suite.size), suite.description)
    datasets = Table("data set", "model", "parameters", "paper", title="Data sets")
    for info in list_datasets():
        datasets.add_row(info.name, info.summary, ", ".join(info.parameters), info.paper)
    screen.print(suites)
    screen.print(datasets)
    screen.print(f"Backends: {', '.join(BACKENDS)}. Tests: see `spectralcit tests`.", highlight=False)


def _say_why(suite: Suite, path: Path) -> None:
    """Name the tests that failed, with their first reason: a wrong value of a parameter shows only here."""
    from ..benchmark import Store
    from ..benchmark.metrics import of_suite

    with Store(path, read_only=True) as opened:
        failures = [record for record in of_suite(opened.records(), suite) if record.error]
    for test, count in Counter(record.test for record in failures).items():
        reason = next(record.error for record in failures if record.test == test)
        typer.echo(f"  {test}: {count} failed in all, the first with {reason.splitlines()[0]}")
