"""``spectralcit reproduce``: the experiments of the paper, its breast-cancer question, figures and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import ParameterError, suggestion
from .options import Running, comma_separated, runs_replicates
from .shell import console

__all__ = ["reproduce"]

BREAST_CANCER = "breast-cancer"  # the one target that is no suite of replicates


@runs_replicates
def reproduce(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="post-nonlinear, nonsmooth, kernel-comparison, cost, high-dimensional, sensitivity, "
            "signal-strength, sachs, multimodal; or all. breast-cancer: the study of real patients.",
        ),
    ],
    scale: Annotated[
        str, typer.Option(help="quick: all in half an hour; full: 50 replicates, a day of one core.")
    ] = "quick",
    out: Annotated[Path, typer.Option("--out", help="Folder of the results and figures.")] = Path(
        "reproduction"
    ),
    tuned: Annotated[
        Path | None,
        typer.Option(help="Run the published test as tuned too: the JSON file of `spectralcit tune`."),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Run these tests only, comma-separated: spectral, spectral-paper, kcit, ..."),
    ] = None,
    replicates: Annotated[
        int | None, typer.Option(min=1, help="Replicates of every cell; what the scale says when not given.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="Markdown file whose marked places receive the tables.")
    ] = None,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Run nothing; report what is there.")
    ] = False,
    *,
    running: Running,
) -> None:
    """Run an experiment of the paper and draw its figure; stopped at any moment, it goes on from there."""
    from ..benchmark import reproduce as paper
    from ..benchmark.progress import live_progress
    from ..progress import duration

    if target == BREAST_CANCER:
        if tuned is not None or methods is not None or report_only:
            raise ParameterError(
                f"{BREAST_CANCER} takes --out, --page and --replicates (redrawn outcomes of each test); "
                "the other options are for the experiments"
            )
        _study(out, page, replicates)
        return
    params = None if tuned is None else paper.read_tuned(tuned)
    chosen = None if methods is None else comma_separated(methods)
    plan = _targets(target, chosen)
    screen = console(stderr=True)
    if page is not None:
        paper.check_page(page, list(plan))
    if not report_only:
        seconds = sum(
            paper.expected_seconds(one, one.suite(scale, tuned=params, methods=own, replicates=replicates))
            for one, own in ((paper.get_experiment(name), own) for name, own in plan.items())
        )
        screen.print(f"about {duration(seconds)} of one core when nothing is done yet", highlight=False)
    for name, own in plan.items():
        screen.print(f"{name}: {paper.EXPERIMENTS[name].title}", highlight=False)
        if report_only and target == "all" and not paper.has_results(name, out):
            screen.print("  no results yet", highlight=False)
            continue
        with live_progress(screen) as progress:
            done = paper.reproduce(
                name,
                out,
                scale=scale,
                tuned=tuned,
                methods=own,
                replicates=replicates,
                run=not report_only,
                runner=running.runner(progress),
            )
        if page is not None:
            paper.fill_page(page, name, done.table)
        counts = ""
        if done.summary is not None:
            counts = f" ({done.summary.added} replicates added, {done.summary.failures} of them failed)"
        typer.echo(f"{done.folder / 'figure.png'}{counts}")


def _study(out: Path, page: Path | None, replicates: int | None) -> None:
    """Run the study of patients; stopped at any moment, it goes on with the part that was not done."""
    from ..benchmark.reproduce import check_page, fill_page
    from ..studies import write_study

    screen = console(stderr=True)
    if page is not None:
        check_page(page, [BREAST_CANCER])
    screen.print("about nine minutes of one core when nothing is done yet", highlight=False)
    chosen = {} if replicates is None else {"redraws": replicates}
    written = write_study(out, **chosen, say=lambda text: screen.print(f"  {text}", highlight=False))
    if page is not None:
        fill_page(page, BREAST_CANCER, written.beside(page))
    typer.echo(str(written.page))


def _targets(target: str, methods: list[str] | None) -> dict[str, list[str] | None]:
    """Return the experiments to run, each with the methods to run in it: of all nine, those that have any."""
    from ..benchmark.reproduce import EXPERIMENTS, get_experiment

    if target != "all":
        return {get_experiment(target).name: methods}
    if methods is None:
        return dict.fromkeys(EXPERIMENTS)
    known = list(dict.fromkeys(method for one in EXPERIMENTS.values() for method in one.methods))
    for method in methods:
        if method not in known:
            raise ParameterError(f"no experiment has a test {method!r}.{suggestion(method, known)}")
    shared = {one.name: [m for m in methods if m in one.methods] for one in EXPERIMENTS.values()}
    return {name: own for name, own in shared.items() if own}
