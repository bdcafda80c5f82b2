"""What the quick look of a screen loses: its answer beside the whole test, on alternatives of the registry.

Each line is one replicate of one data set: the p-value of the whole test, the quick one, and whether the
column would be sent on. Lines are appended, and what is there is not run again. Under a null hypothesis there
is nothing to measure: two stages reject a part of what the whole test rejects.

    OMP_NUM_THREADS=1 python benchmarks/screen_power.py [--replicates 30]
    python benchmarks/screen_power.py --summary
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from appended import append_row, rows_of

from spectralcit import SpectralCIT, prepare
from spectralcit.datasets import get_dataset
from spectralcit.screening.run import _THRESHOLD
from spectralcit.spectral import quick

# Committed; docs/screening.md quotes it.
RESULTS = Path(__file__).parent / "results" / "screen_power.csv"
FIELDS = ("dataset", "replicate", "whole", "quick", "alarming", "sent")
ROWS = 500
FIRST_SEED = 5_511_000  # by hand; replicate k is drawn from this plus k
NOISE_COLUMNS = 128  # of the quick look, to save time: they hardly move what is at most the threshold
# By hand, of those with single columns: lines, curves, waves, spreads, slopes that average out, heavy tails.
DATASETS: dict[str, dict[str, Any]] = {
    "attack-mixed-columns": {},
    "attack-sine": {},
    "attack-slope": {},
    "easy-even": {"strength": 0.7},
    "easy-heavy": {},
    "easy-linear": {"strength": 0.15},
    "easy-sign-change": {"strength": 0.5},
    "easy-smooth": {"strength": 0.3},
    "hard-additive-10": {"strength": 0.2},
    "hard-binary-y": {"strength": 0.35},
    "hard-interaction-2": {"strength": 0.3},
    "hard-nonlinear-2": {"strength": 0.12},
    "hard-post-nonlinear-2": {"strength": 0.2},
    "hard-quadratic-3": {"strength": 0.15},
    "hard-shared-variance": {},
    "hard-variance-2": {},
}


def measure(name: str, replicate: int) -> dict[str, object]:
    """Run both on one sample."""
    sample = get_dataset(name, **DATASETS[name]).draw(ROWS, FIRST_SEED + replicate, dependent=True)
    data = prepare(*sample)
    shared = SpectralCIT().share({"x": data.x, "y": data.y}, data.z, seed=0)
    assert shared is not None
    whole, (answer,) = shared.pvalue("x", "y"), shared.quick([data.x], "y")
    sent = answer is None or answer.alarming or answer.pvalue <= _THRESHOLD
    looked = ("", "") if answer is None else (f"{answer.pvalue:.4g}", int(answer.alarming))
    return dict(zip(FIELDS, (name, replicate, f"{whole:.4g}", *looked, int(sent)), strict=True))


def run(replicates: int) -> None:
    """Run what is missing, replicate by replicate, so that all data sets have as many."""
    quick._NOISE_COLUMNS = NOISE_COLUMNS
    there = {(row["dataset"], int(row["replicate"])) for row in rows_of(RESULTS)}
    for name, replicate in ((name, k) for k in range(replicates) for name in DATASETS):
        if (name, replicate) in there:
            continue
        append_row(RESULTS, measure(name, replicate))


def summary() -> None:
    """Print power of the whole test and what of it is lost because a column was not sent on."""
    print(f"{'data set':<24}{'samples':>8}{'whole <= .05':>14}{'lost':>6}{'whole <= .01':>14}{'lost':>6}")
    rows = rows_of(RESULTS)
    for name in (*DATASETS, "all"):
        mine = [row for row in rows if name in ("all", row["dataset"])]
        counts = []
        for level in (0.05, 0.01):
            found = [row for row in mine if float(row["whole"]) <= level]
            counts += [len(found), sum(row["sent"] == "0" for row in found)]
        print(f"{name:<24}{len(mine):>8}{counts[0]:>14}{counts[1]:>6}{counts[2]:>14}{counts[3]:>6}")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--replicates", type=int, default=30)
    arguments.add_argument("--summary", action="store_true")
    chosen = arguments.parse_args()
    if not chosen.summary:
        run(chosen.replicates)
    summary()
