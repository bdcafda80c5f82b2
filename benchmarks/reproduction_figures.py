"""The panels of the reproduction from committed rates, and its tables by pruning and of RCIT as published.

    python benchmarks/reproduction_figures.py  # docs/reproduction-*.png, two tables of docs/reproduction.md

`spectralcit reproduce` draws the same figures from its store; this draws them from
benchmarks/results/reproduction/, so that the documentation shows what is committed. Rows that were run later
than the others of a target, by pruning and of RCIT as published, are in `<target>-later.csv`.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

from spectralcit.benchmark.figure_axes import value_of
from spectralcit.benchmark.metrics import CellSummary
from spectralcit.benchmark.reproduce import AUTHORS, EXPERIMENTS, PUBLISHED, Experiment, fill_page
from spectralcit.benchmark.reproduce.figure import draw_experiment
from spectralcit.benchmark.reproduce.labels import RCIT_PUBLISHED, RCIT_WIDE, entry_of, with_pruned

ROOT = Path(__file__).parents[1]
RATES = ROOT / "benchmarks" / "results" / "reproduction"  # committed


def cells(path: Path) -> list[CellSummary]:
    """Read one file of rates; p-values are not in it, so that only their number is made up."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as stream:
        return [_cell(row) for row in csv.DictReader(stream)]


def _cell(row: dict[str, str]) -> CellSummary:
    pairs = (pair.split("=") for pair in row["parameters"].split(", ") if pair)
    rate, low, high = (float(row.get(name) or "nan") for name in ("rate", "low", "high"))
    return CellSummary(
        test=row["test"],
        dataset=row["dataset"],
        params={name: float(value) for name, value in pairs},
        n=int(row["n"]),
        dependent=row.get("hypothesis") == "alternative",
        pvalues=(math.nan,) * int(row["replicates"]),
        failures=int(row.get("failures") or 0),
        rate=rate,
        low=low,
        high=high,
        uniformity=math.nan,
        seconds=math.nan,
        peak_mb=math.nan,
    )


def all_cells(experiment: Experiment) -> list[CellSummary]:
    """Rates of a target; those of 100 samples stay where both files have them."""
    found = cells(RATES / f"{experiment.name}.csv")
    have = {s.test for s in found}
    return found + [s for s in later(experiment) if s.test not in have]


def later(experiment: Experiment) -> list[CellSummary]:
    """The rows that were run later."""
    return cells(RATES / f"{experiment.name}-later.csv")


def table(heads: Sequence[str], labels: Sequence[str]) -> str:
    """Rates of some of the later rows, a line per data set and hypothesis."""
    lines = [f"| data, hypothesis | {' | '.join(heads)} | samples |", "|---|" + "---|" * (len(heads) + 1)]
    for experiment in EXPERIMENTS.values():
        places: dict[tuple[float, bool], dict[str, CellSummary]] = {}
        for s in later(experiment):
            if s.test in labels:
                places.setdefault((value_of(s, experiment.axis), s.dependent), {})[s.test] = s
        for (value, dependent), own in sorted(places.items()):
            name = f"{experiment.name} {value:g}, {'alternative' if dependent else 'null'}"
            rates = [f"{own[label].rate:.2f}" if label in own else "" for label in labels]
            counts = sorted({s.replicates for s in own.values()})
            lines.append(f"| {name} | {' | '.join(rates)} | {' to '.join(map(str, counts))} |")
    return "\n".join(lines)


def main() -> None:
    for experiment in EXPERIMENTS.values():
        if experiment.quantity == "seconds":
            continue  # its table says as much
        order = experiment.suite("full", tuned={"output_dim": 8, "perc_dim_prune": 0.91}).tests
        found = all_cells(experiment)
        tests = sorted({s.test for s in found}, key=order.index)
        figure = draw_experiment(experiment, found, tests)
        figure.savefig(ROOT / "docs" / f"reproduction-{experiment.name}.png", dpi=80)
    page = ROOT / "docs" / "reproduction.md"
    kept = ["r = 10", "r = 9", "r = 8"]
    heads = [f"{program}, {r}" for program in ("text", "program") for r in kept]
    labels = [label for family in (PUBLISHED, AUTHORS) for label in with_pruned(family, entry_of(family))]
    fill_page(page, "table: pruning", table(heads, labels))
    heads = ["100 and 5 features", "200 and 20 features"]
    fill_page(page, "table: rcit", table(heads, [RCIT_PUBLISHED, RCIT_WIDE]))


if __name__ == "__main__":
    main()
