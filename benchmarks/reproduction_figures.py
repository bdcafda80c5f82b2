"""The panels of the reproduction from committed rates: docs/reproduction-<target>.png.

    python benchmarks/reproduction_figures.py

`spectralcit reproduce` draws the same figures from its store; this draws them from
benchmarks/results/reproduction/, so that the documentation shows what is committed. A target whose published
rows by pruning are in a file of their own, `<target>-published.csv`, has them in the same figure.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

from spectralcit.benchmark.metrics import CellSummary
from spectralcit.benchmark.reproduce import EXPERIMENTS, Experiment
from spectralcit.benchmark.reproduce.figure import draw_experiment

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
    """Rates of a target; published rows come from the newer file where both have them."""
    newer = cells(RATES / f"{experiment.name}-published.csv")
    replaced = {s.test for s in newer}
    return [s for s in cells(RATES / f"{experiment.name}.csv") if s.test not in replaced] + newer


def main() -> None:
    for experiment in EXPERIMENTS.values():
        if experiment.quantity == "seconds":
            continue  # its table says as much
        found = all_cells(experiment)
        order = experiment.suite("full", tuned={"output_dim": 8, "perc_dim_prune": 0.91}).tests
        tests = sorted({s.test for s in found}, key=order.index)
        figure = draw_experiment(experiment, found, tests)
        figure.savefig(ROOT / "docs" / f"reproduction-{experiment.name}.png", dpi=80)
        print(experiment.name, len(found))


if __name__ == "__main__":
    main()
