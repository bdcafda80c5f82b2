"""``spectralcit reproduce``: the experiments of the paper, with its figures and tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import ParameterError
from .options import comma_separated
from .shell import console

__all__ = ["reproduce"]


def reproduce(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="post-nonlinear, nonsmooth, kernel-comparison, cost, high-dimensional, sensitivity, "
            "signal-strength, sachs, multimodal; or all.",
        ),
    ],
    scale: Annotated[
        str, typer.Option(help="quick: all in half an hour; full: 100 replicates, three days of a core.")
    ] = "quick",
    out: Annotated[Path, typer.Option("--out", help="Folder of the results and figures.")] = Path(
        "reproduction"
    ),
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Workers; -1 for one per core.")] = 1,
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
    report_only: Annotated[bool, typer.Option(help="Run nothing; report what is there.")] = False,
) -> None:
    """Run an experiment of the paper and draw its figure; stopped at any moment, it goes on from there."""
    from ..benchmark import reproduce as paper
    from ..benchmark.progress import duration, live_progress

    names = list(paper.EXPERIMENTS) if target == "all" else [paper.get_experiment(target).name]
    params = _tuned(tuned)
    chosen = None if methods is None else comma_separated(methods)
    screen = console(stderr=True)
    if not report_only:
        seconds = sum(
            paper.expected_seconds(one, one.suite(scale, tuned=params, methods=chosen, replicates=replicates))
            for one in map(paper.get_experiment, names)
        )
        screen.print(f"about {duration(seconds)} of one core when nothing is done yet", highlight=False)
    for name in names:
        screen.print(f"{name}: {paper.EXPERIMENTS[name].title}", highlight=False)
        with live_progress(screen) as progress:
            done = paper.reproduce(
                name,
                out,
                scale=scale,
                n_jobs=jobs,
                tuned=params,
                methods=chosen,
                replicates=replicates,
                progress=progress,
                run=not report_only,
            )
        if page is not None:
            paper.fill_page(page, name, done.table)
        counts = ""
        if done.summary is not None:
            counts = f" ({done.summary.added} replicates added, {done.summary.failures} of them failed)"
        typer.echo(f"{done.folder / 'figure.png'}{counts}")


def _tuned(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["method"] != "spectral-paper":
            raise ParameterError(
                f"{path}: holds parameters of {content['method']!r}, not of 'spectral-paper'"
            )
        return dict(content["params"])
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"{path}: not a file that `spectralcit tune spectral-paper` wrote") from error
