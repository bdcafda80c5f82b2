"""Table, figure and page of the study of real data.

Draws ``docs/real-data.png`` and fills the marked parts of ``docs/real-data.md``. A level counts as broken by
the rule of every report of this package (`spectralcit.benchmark.metrics.broken_levels`).
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from statistics import median

from study import RESULTS, Study

from spectralcit.benchmark import CellSummary, Store, Suite
from spectralcit.benchmark.metrics import broken_levels
from spectralcit.benchmark.reproduce import fill_page
from spectralcit.files import write_atomically

PAGE = Path(__file__).parents[1] / "docs" / "real-data.md"
FIGURE = PAGE.with_name("real-data.png")
VERSIONS = RESULTS / "real_versions.txt"  # of the packages behind the committed p-values
LIBRARY = re.compile(r"^(causal-learn|dowhy|hyppo|pgmpy|pingouin|tigramite) ")  # of a test, from its label
ENOUGH = 40  # redraws, by hand: with fewer, a level of .2 is not told from one of .05

Cell = tuple[CellSummary | None, CellSummary | None, bool]  # null, alternative, whether the level breaks


def write(study: Study) -> None:
    """Draw the figure, fill the page and print the table."""
    if not study.cells:
        print("no cell yet: run the suite, then give its store with --store")
        return
    figure(study)
    for name, content in marked_parts(study).items():
        fill_page(PAGE, name, content)
    print(leaderboard(study))


def keep_versions(store: Path, suite: Suite) -> None:
    """Write down the versions of all packages behind the replicates of a store."""
    with Store(store, read_only=True) as opened:
        lines = {record.versions for record in opened.records() if record.suite_seed == suite.seed}
    found = sorted({part for line in lines for part in line.split(", ")})
    write_atomically(VERSIONS, "\n".join(found) + "\n")


def marked_parts(study: Study) -> dict[str, str]:
    return {"overall": overall(study), "leaderboard": leaderboard(study), "provenance": provenance(study)}


def cell(study: Study, broken: set, label: str, test: str) -> Cell:
    null, alternative = (study.cells.get((label, test, dependent)) for dependent in (False, True))
    return null, alternative, null is not None and (test, null.workload) in broken


def tests(study: Study) -> list[str]:
    return list(dict.fromkeys(test for _, test, _ in study.cells))


def seconds(study: Study, test: str) -> float:
    own = [c.seconds for (_, name, _), c in study.cells.items() if name == test and c.replicates]
    return median(own) if own else math.nan


def rate(summary: CellSummary | None) -> str:
    """Share of rejections among answers; with a star where some redraws had none."""
    if summary is None or not summary.replicates:
        return "–" if summary is None else "fails"
    text = f"{summary.rate:.2f}".removeprefix("0") if summary.rate < 1 else "1"
    return f"{text}*" if summary.failures else text


def leaderboard(study: Study) -> str:
    """Type I error, then power; struck out where the level breaks."""
    broken = broken_levels(list(study.cells.values()))
    lines = ["| test | " + " | ".join(study.labels) + " | seconds |"]
    lines.append("|---" * (len(study.labels) + 2) + "|")
    for test in tests(study):
        row = []
        for label in study.labels:
            null, alternative, breaks = cell(study, broken, label, test)
            text = f"{rate(null)} / {rate(alternative)}" if null or alternative else ""
            row.append(f"~~{text}~~" if breaks else text)
        lines.append(f"| {test} | " + " | ".join(row) + f" | {seconds(study, test):.2g} |")
    return "\n".join(lines)


def overall(study: Study) -> str:
    """How many tests of how many libraries on how many tables, and where the default stands."""
    broken = broken_levels(list(study.cells.values()))
    libraries = {match[1] if (match := LIBRARY.match(test)) else "spectralcit" for test in tests(study)}
    nulls = {label: study.cells.get((label, "default", False)) for label in study.labels}
    worst = max((c.rate, label) for label, c in nulls.items() if c is not None and c.replicates)
    held = [label for label, c in nulls.items() if c is not None and ("default", c.workload) in broken]
    says = f"breaks on {', '.join(held)}" if held else "is not seen to break on any table"
    failures = sum(c.failures for c in study.cells.values())
    fewest = min(map(_redraws, study.cells.values()))
    warning = (
        f"**A first look, {fewest} redraws in some cells:** it shows that every program runs, and levels "
        "that are far off. It neither shows that a level holds nor ranks tests.\n\n"
        if fewest < ENOUGH
        else ""
    )
    return (
        f"{warning}{len(tests(study))} tests of {len(libraries)} libraries on {len(study.labels)} real "
        f"tables. The level of the default {says}: at most {worst[0]:.3f} ({worst[1]}) at a nominal 0.05. Of "
        f"{sum(not dependent for _, _, dependent in study.cells)} nulls of all tests {len(broken)} are "
        f"rejected more often than chance explains; {failures} replicates failed.\n\n"
        f"![Tests by tables: type I error and power, struck out where the level breaks; time]({FIGURE.name})"
    )


def _redraws(cell: CellSummary) -> int:
    """How many data sets a test was given; not all of them got an answer."""
    return cell.replicates + cell.failures


def provenance(study: Study) -> str:
    """Seeds, replicates and versions."""
    counts = sorted(set(map(_redraws, study.cells.values())))
    text = VERSIONS.read_text(encoding="utf-8").split("\n") if VERSIONS.exists() else []
    return (
        f"Seed of the suite: {study.suite.seed}. Redraws a cell: {', '.join(map(str, counts))}. "
        f"Versions: {', '.join(filter(None, text)) or 'not kept'}."
    )


def figure(study: Study) -> None:
    """Tests by tables: darker for more power, struck out where the level breaks, time beside."""
    import matplotlib.pyplot as plt

    broken = broken_levels(list(study.cells.values()))
    names, labels = tests(study), study.labels
    drawn, (axis, clock) = plt.subplots(
        1, 2, sharey=True, width_ratios=(5, 1), figsize=(9.5, 0.34 * len(names) + 1.2), layout="constrained"
    )
    for row, test in enumerate(names):
        for column, label in enumerate(labels):
            null, alternative, breaks = cell(study, broken, label, test)
            if null is None and alternative is None:
                continue
            power = alternative.rate if alternative is not None and alternative.replicates else 0.0
            colour = "#eeeeee" if breaks else plt.get_cmap("Blues")(0.05 + 0.75 * power)
            axis.add_patch(plt.Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, color=colour))
            dark = power > 0.6 and not breaks
            ink = "white" if dark else "#999999" if breaks else "black"
            text = f"{rate(null)} / {rate(alternative)}"
            axis.text(column, row, text, ha="center", va="center", color=ink, fontsize=8.5)
            if breaks:
                ends = (column - 0.46, column + 0.46), (row + 0.4, row - 0.4)
                axis.plot(*ends, color="#c44e52", linewidth=1.5)
        clock.barh(row, seconds(study, test), color="#937860", height=0.6)
    axis.set(xlim=(-0.5, len(labels) - 0.5), ylim=(len(names) - 0.5, -0.5))
    axis.set_xticks(range(len(labels)), labels, fontsize=9)
    axis.set_yticks(range(len(names)), names, fontsize=9)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    clock.set_xscale("log")
    clock.set_xlabel("seconds", fontsize=9)
    clock.tick_params(axis="y", length=0)
    for side in (*axis.spines.values(), clock.spines["top"], clock.spines["right"]):
        side.set_visible(False)
    axis.set_xlabel("type I error / power; struck out: the level breaks", fontsize=9)
    drawn.savefig(FIGURE, dpi=140)
    plt.close(drawn)
