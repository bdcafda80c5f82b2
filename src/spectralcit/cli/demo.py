"""``spectralcit demo``: a one-minute tour on two small synthetic data sets whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ..errors import MissingExtraError
from ..result import CITestResult
from .shell import busy, console, report_to

if TYPE_CHECKING:
    import numpy as np

__all__ = ["demo"]

N_ROWS = 600  # by hand: enough for both tests to see the tie, few enough for a minute
METHODS = ("spectral", "spectral-paper")  # the default and the published test


@dataclass(frozen=True)
class Story:
    """A data set of the tour: how it is made, and what is true about it."""

    title: str
    recipe: str
    dependent: bool
    generate: Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray, np.ndarray]]


def dependent_triple(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a triple whose X and Y depend on each other beyond Z: Y feels the size of X's own noise."""
    import numpy as np

    z, noise_x, noise_y = rng.normal(size=(3, n))
    x = np.sin(z) + noise_x
    y = np.cos(z) + noise_x**2 + 0.5 * noise_y
    return x, y, z


def confounded_triple(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a triple whose X and Y are correlated only because Z drives both."""
    import numpy as np

    z, noise_x, noise_y = rng.normal(size=(3, n))
    x = np.tanh(z) + 0.5 * noise_x
    y = z + 0.25 * z**2 + 0.5 * noise_y
    return x, y, z


# One data set of each truth, each with what misleads a plain correlation.
STORIES = (
    Story(
        "dependent", "Y feels the size of X's own noise, which Z knows nothing about", True, dependent_triple
    ),
    Story("confounded", "Z drives both X and Y, and nothing else ties them", False, confounded_triple),
)


def demo(
    out: Annotated[
        Path, typer.Option("--out", help="Where to write the picture (PNG).", dir_okay=False, writable=True)
    ] = Path("demo.png"),
    method: Annotated[
        list[str] | None,
        typer.Option("--method", help="Test to run; may be repeated. Default: both spectral tests."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the data and of the tests.", min=0)] = 0,
) -> None:
    """Run a one-minute tour: two data sets whose truth is known, a table, and a picture."""
    screen = console()
    screen.print("Is X independent of Y once Z is known? Two data sets, and what the tests say.\n")
    for story in STORIES:
        truth = "dependent" if story.dependent else "independent"
        screen.print(f"  [bold]{story.title}[/bold]: {story.recipe}. Truth: {truth} given Z.")
    screen.print()
    methods = tuple(method) if method else METHODS
    results = _run_all(methods, seed)
    screen.print(_table(results))
    screen.print(_reading(results))
    try:
        draw(results, methods, out)
    except MissingExtraError as error:
        screen.print(f"No picture: {error}.")
    else:
        screen.print(f"Picture of each statistic against its null distribution: {out}", highlight=False)


def _run_all(methods: tuple[str, ...], seed: int) -> list[tuple[Story, CITestResult]]:
    import numpy as np

    from ..base import make_test

    results: list[tuple[Story, CITestResult]] = []
    # An unknown name is an error before anything runs.
    tests = {name: make_test(name, random_state=seed) for name in methods}
    with busy("testing", total=len(STORIES) * len(methods)) as advance_to:
        for number, story in enumerate(STORIES):
            # One stream of randomness per data set, so that neither depends on the length of the other.
            x, y, z = story.generate(np.random.default_rng([seed, number]), N_ROWS)
            for name, test in tests.items():
                label = f"{story.title} data, {name} test"
                advance_to(len(results), label)

                def follow(share: float, done: int = len(results), label: str = label) -> None:
                    advance_to(done + share, label)

                report_to(follow, test)
                results.append((story, test.run(test.prepare(x, y, z))))
    return results


def _table(results: list[tuple[Story, CITestResult]]) -> Table:
    table = Table(title=f"{N_ROWS} rows, level 0.05")
    for heading in ("data", "test"):
        table.add_column(heading)
    for heading in ("statistic", "p-value", "seconds"):
        table.add_column(heading, justify="right")
    for heading in ("verdict", "that is"):
        table.add_column(heading)
    for story, result in results:
        table.add_row(
            story.title,
            result.method,
            f"{result.statistic:.4g}",
            f"{result.pvalue:.3g}",
            f"{result.seconds:.1f}",
            "tied beyond Z" if result.reject() else "no tie beyond Z seen",
            "[green]right[/green]" if result.reject() == story.dependent else "[red]wrong[/red]",
        )
    return table


def _reading(results: list[tuple[Story, CITestResult]]) -> str:
    right = sum(result.reject() == story.dependent for story, result in results)
    return (
        f"\n{right} of {len(results)} verdicts agree with the truth. A small p-value speaks against "
        "independence; a large one means that\nthe data show no dependence, not that there is none."
    )


def draw(results: list[tuple[Story, CITestResult]], methods: tuple[str, ...], out: Path) -> None:
    """Write a picture (PNG) with one row of panels per data set and one column per test."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib: install spectralcit[plot]") from error
    from ..report.plots import plot_null

    figure = Figure(figsize=(5.5 * len(methods), 3.6 * len(STORIES)), layout="constrained")
    panels = figure.subplots(len(STORIES), len(methods), squeeze=False)
    for panel, (story, result) in zip(panels.flat, results, strict=True):
        plot_null(result, ax=panel)
        truth = "dependent" if story.dependent else "independent"
        panel.set_title(f"{story.title} data (truth: {truth})\n{result.method}: p = {result.pvalue:.3g}")
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=130)
