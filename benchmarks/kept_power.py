"""Power of the default now and of its first edition, on the same samples.

    python benchmarks/kept_power.py --jobs 2  # resumes, appends to results/kept_power.csv, fills the page
    python benchmarks/kept_power.py --only "sin/cos 50 weak,linear_20"  # these first
    python benchmarks/kept_power.py --report  # the page alone

The alternatives of the calibration study that the first edition did not always find (those it found in more
than 199 of 200 samples have no power to lose that shows in so many), with N = 1000 or less. Its p-values were
committed with its study and are in results/first_edition_power.csv; its samples are drawn again by the rule
it had. On the same samples a difference has a small error: only those in which one edition rejects alone
count.
"""

from __future__ import annotations

import argparse
import csv
import math
import warnings
import zlib
from pathlib import Path

import numpy as np
from appended import append_row, rows_of
from joblib import Parallel, delayed

from spectralcit import ci_test
from spectralcit.benchmark import load_suite
from spectralcit.benchmark.reproduce import fill_page
from spectralcit.benchmark.suite import Cell
from spectralcit.datasets import get_dataset

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "kept_power.csv"  # committed
PAGE = HERE.parent / "docs" / "calibration.md"
FIRST_EDITION = HERE / "results" / "first_edition_power.csv"
SEED = 500_000
LEVEL = 0.05

Sample = tuple[str, int]  # workload and replicate


def first_edition() -> dict[Sample, float]:
    with FIRST_EDITION.open(newline="") as stream:
        lines = csv.DictReader(stream)
        return {
            (line["workload"], k): float(p) for line in lines for k, p in enumerate(line["pvalues"].split())
        }


def present() -> dict[Sample, float]:
    return {(row["workload"], int(row["replicate"])): float(row["pvalue"]) for row in rows_of(RESULTS)}


def alternatives() -> dict[str, Cell]:
    suite = load_suite(HERE / "suites" / "calibration.toml").only(tests=["default"])
    return {cell.label: cell for cell in suite.cells if cell.dependent}


def run(workload: str, cell: Cell, replicate: int) -> dict[str, str | int]:
    seed = SEED + replicate
    rng = np.random.default_rng([seed, 1, zlib.crc32(workload.encode())])  # the first edition's rule
    x, y, z = get_dataset(cell.dataset, **cell.dataset_params).draw(cell.n, rng, True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pvalue = ci_test(x, y, z, random_state=seed).pvalue
    return {"workload": workload, "replicate": replicate, "pvalue": f"{pvalue:.6g}"}


def table() -> str:
    """Power of both editions and their difference, a line for each workload."""
    before, now = first_edition(), present()
    lines = [
        "| workload | first edition | now | difference ± standard error | samples |",
        "|---|---|---|---|---|",
    ]
    for workload in dict.fromkeys(label for label, _ in before):
        keys = [key for key in before if key[0] == workload and key in now]
        if keys:
            first, present_one = ([p[key] <= LEVEL for key in keys] for p in (before, now))
            lines.append(_line(workload, np.array(first), np.array(present_one)))
    return "\n".join(lines)


def _line(workload: str, first: np.ndarray, now: np.ndarray) -> str:
    difference = now.astype(float) - first
    error = difference.std() / math.sqrt(len(difference))
    return (
        f"| {workload} | {first.mean():.3f} | {now.mean():.3f} | {difference.mean():+.3f} ± {error:.3f} |"
        f" {len(difference)} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--only", help="workloads, comma-separated; all when not given")
    options = parser.parse_args()
    if not options.report:
        cells, done = alternatives(), present()
        only = options.only.split(",") if options.only else list(cells)
        todo = [key for key in first_edition() if key not in done and key[0] in only]
        todo.sort(key=lambda key: key[1])  # all advance together
        calls = (delayed(run)(workload, cells[workload], k) for workload, k in todo)
        for row in Parallel(n_jobs=options.jobs, return_as="generator_unordered")(calls):
            append_row(RESULTS, row)
    fill_page(PAGE, "kept power", table())


if __name__ == "__main__":
    main()
