"""Type I error and power of the default test, its variants and its rivals: the paper's models and hard cases.

    python benchmarks/calibration.py run --replicates 200         # resumes where it stopped
    python benchmarks/calibration.py report                       # table, uniformity and figure

Every p-value is appended to ``benchmarks/results/calibration_pvalues.csv`` as it is computed, so the run may
be killed at any moment and started again. Seeds start at 500 000; what earlier designs did on lower ones was
thrown away. Only the slow rivals KCIT and GCM stay on seeds from 90 000. Nothing was tuned on either.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import zlib
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

# One thread per worker, set before NumPy is loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
from calibration_report import RIVALS, bound, write_pages  # noqa: E402
from joblib import Parallel, delayed  # noqa: E402
from scipy import stats  # noqa: E402

from spectralcit import datasets, get_test  # noqa: E402
from spectralcit.benchmark.metrics import wilson  # noqa: E402

RESULTS = Path(__file__).parent / "results"
PVALUES = RESULTS / "calibration_pvalues.csv"
SUMMARY = RESULTS / "calibration.csv"
FIRST_SEED = 500_000
EARLIER_SEED = 90_000
ON_EARLIER_SEEDS = ("kcit", "gcm")
BATCH = 20


@dataclass(frozen=True)
class Workload:
    """A generator with its parameters; `alternative` tells whether it has one."""

    name: str
    draw: object
    n: int = 1000
    alternative: bool = True
    group: str = "hard"
    tests: tuple[str, ...] = ("default",)
    slow: bool = False


@dataclass(frozen=True)
class Contestant:
    """A registered test with parameters."""

    method: str
    parameters: dict = field(default_factory=dict)

    @property
    def first_seed(self) -> int:
        return EARLIER_SEED if self.method in ON_EARLIER_SEEDS else FIRST_SEED


CONTESTANTS = {
    "default": Contestant("spectral"),
    "witness": Contestant("spectral", {"statistic": "witness"}),
    "frobenius": Contestant("spectral", {"statistic": "frobenius"}),
    "mixture null": Contestant("spectral", {"null": "mixture"}),
    "published": Contestant("spectral-paper"),
    "published, projector": Contestant("spectral-paper", {"statistic": "projector"}),
    "KCIT": Contestant("kcit"),
    "RCoT": Contestant("rcot"),
    "Fisher z": Contestant("fisher-z"),
    "GCM": Contestant("gcm"),
}
VARIANTS = ("witness", "frobenius", "mixture null")
WEAK = (
    "linear_20",
    "nonlinear_2",
    "interaction_2",
    "quadratic_3",
    "variance_2",
    "shared_variance",
    "binary_y",
    "sparse_50",
    "staircase_1",
    "thresholds_5",
    "thresholds_trend_4",
)


def workloads() -> list[Workload]:
    found = []
    for d_z in (50, 100, 150, 200, 250, 300):
        compared = (*RIVALS, *VARIANTS) if d_z in (50, 200) else ()
        for name, draw in (("post-nonlinear", datasets.post_nonlinear), ("sin/cos", datasets.sin_cos)):
            found.append(
                Workload(
                    f"{name} {d_z}",
                    partial(draw, d_z=d_z),
                    group="paper",
                    tests=("default", *compared),
                )
            )
        draw = partial(datasets.high_dimensional, d_z=d_z)
        found.append(Workload(f"high-dimensional {d_z}", draw, group="paper", slow=True))
    for n in (500, 1000, 1500):
        found.append(
            Workload(f"nonsmooth n={n}", datasets.nonsmooth, n=n, alternative=False, group="paper", slow=True)
        )
    for query in (1, 2, 3):
        draw = partial(datasets.sachs_query, query=query)
        found.append(Workload(f"Sachs query {query}", draw, alternative=query < 3, group="paper"))
    for strength in (0.05, 0.15, 0.5):
        draw = partial(datasets.high_dimensional, d_z=3, str_cond_dep=strength)
        found.append(Workload(f"d_Z=3 signal {strength}", draw, group="paper"))
    weak_sin_cos = partial(datasets.sin_cos, d_z=50, strength=0.6)
    found.append(Workload("sin/cos 50 weak", weak_sin_cos, tests=("default", *RIVALS)))
    found.append(Workload("linear-Gaussian 5", datasets.LinearGaussian(d_z=5).draw))
    for name, draw in datasets.HARD_CASES.items():
        if name.endswith("_of_300"):  # below, with fewer rows
            continue
        tests = ("default", *RIVALS, *VARIANTS) if name in WEAK else ("default",)
        vector = name.startswith("vector")
        found.append(Workload(name, draw, tests=tests, alternative=name in WEAK or vector, slow=vector))
    for name, strength in (("quadratic_3", 0.12), ("variance_2", 0.14)):  # where the best rival is not blind
        draw = partial(datasets.HARD_CASES[name], strength=strength)
        found.append(Workload(f"{name} strength {strength}", draw, tests=("default", *RIVALS)))
    for n in (50, 100, 200):
        for name in ("linear_20", "nonlinear_2", "heavy_tails", "binary_y", "mixed_types", "independent"):
            found.append(
                Workload(f"{name} n={n}", datasets.HARD_CASES[name], n=n, group="small n", alternative=False)
            )
    for name, n in (("three_of_300", 150), ("three_of_300", 300), ("all_of_300", 300), ("all_of_300", 400)):
        found.append(Workload(f"{name} n={n}", datasets.HARD_CASES[name], n=n, group="wide Z"))
    for name in ("nonlinear_2", "single_index_10", "additive_10", "post_nonlinear_2"):
        found.append(
            Workload(f"{name} n=10000", datasets.HARD_CASES[name], n=10_000, group="large n", slow=True)
        )
    published = ("published", "published, projector")
    paper = {f"{model} {d_z}" for model in ("post-nonlinear", "sin/cos") for d_z in (50, 200)}
    compared_with_published = paper | {"nonlinear_2", "variance_2", "linear_20"}
    return [
        replace(w, tests=(*w.tests, *published)) if w.name in compared_with_published else w for w in found
    ]


def one(workload: Workload, contestant: str, dependent: bool, replicate: int) -> tuple[float, float, str]:
    """Return p-value, seconds and error text of one replicate."""
    chosen = CONTESTANTS[contestant]
    seed = chosen.first_seed + replicate
    rng = np.random.default_rng([seed, int(dependent), zlib.crc32(workload.name.encode())])
    x, y, z = workload.draw(workload.n, rng, dependent=dependent)
    started = time.perf_counter()
    try:
        result = get_test(chosen.method)(random_state=seed, **chosen.parameters).test(x, y, z)
    except Exception as error:
        return float("nan"), time.perf_counter() - started, f"{type(error).__name__}: {error}"[:200]
    return result.pvalue, time.perf_counter() - started, ""


def stored() -> dict[tuple[str, str, int], dict[int, tuple[float, float]]]:
    cells: dict[tuple[str, str, int], dict[int, tuple[float, float]]] = {}
    if PVALUES.exists():
        with PVALUES.open(newline="") as file:
            for row in csv.DictReader(file):
                key = (row["workload"], row["test"], int(row["dependent"]))
                cells.setdefault(key, {})[int(row["replicate"])] = (
                    float(row["pvalue"]),
                    float(row["seconds"]),
                )
    return cells


def wanted_cell(workload: Workload, test: str, options: argparse.Namespace) -> bool:
    named = not options.only or any(part in workload.name for part in options.only)
    return named and (not options.tests or test in options.tests)


def run(options: argparse.Namespace) -> None:
    RESULTS.mkdir(exist_ok=True)
    done = stored()
    fresh = not PVALUES.exists()
    tasks = []
    for workload in workloads():
        for test in workload.tests:
            if not wanted_cell(workload, test, options):
                continue
            for dependent in (False, True)[: 1 + (workload.alternative and not options.nulls)]:
                have = done.get((workload.name, test, int(dependent)), {})
                wanted = options.slow_replicates if workload.slow else options.replicates
                missing = [r for r in range(wanted) if r not in have]
                tasks += [
                    (i, workload, test, dependent, missing[i : i + BATCH])
                    for i in range(0, len(missing), BATCH)
                ]
    tasks.sort(
        key=lambda task: task[0]
    )  # all cells advance together, so that an early stop leaves a whole table
    with PVALUES.open("a", newline="") as file, Parallel(options.jobs) as pool:
        writer = csv.writer(file)
        if fresh:
            writer.writerow(["workload", "test", "dependent", "n", "replicate", "pvalue", "seconds", "error"])
        for position, (_, workload, test, dependent, rows) in enumerate(tasks):
            outcomes = pool(delayed(one)(workload, test, dependent, replicate) for replicate in rows)
            for replicate, (pvalue, seconds, error) in zip(rows, outcomes, strict=True):
                writer.writerow(
                    [
                        workload.name,
                        test,
                        int(dependent),
                        workload.n,
                        replicate,
                        f"{pvalue:.6g}",
                        f"{seconds:.3f}",
                        error,
                    ]
                )
            file.flush()
            print(
                f"{position + 1}/{len(tasks)} {workload.name} {test} {'H1' if dependent else 'H0'}",
                flush=True,
            )


def summarise(workload: Workload, test: str, dependent: int, values: dict[int, tuple[float, float]]) -> dict:
    """Return one line of the table."""
    pvalues = np.array([p for p, _ in values.values()])
    failures = int(np.isnan(pvalues).sum())
    pvalues = pvalues[~np.isnan(pvalues)]
    count, rejected = len(pvalues), int((pvalues <= 0.05).sum())
    low, high = wilson(rejected, count) if count else (0.0, 1.0)
    return {
        "group": workload.group,
        "workload": workload.name,
        "n": workload.n,
        "test": test,
        "hypothesis": "H1" if dependent else "H0",
        "replicates": count,
        "failures": failures,
        "rejected_0.05": round(rejected / max(count, 1), 4),
        "ci_low": round(low, 4),
        "ci_high": round(high, 4),
        "rejected_0.01": round(float((pvalues <= 0.01).mean()), 4) if count else float("nan"),
        "ks_uniform": ""
        if dependent or not count
        else round(float(stats.kstest(pvalues, "uniform").pvalue), 4),
        "median_seconds": round(float(np.median([s for _, s in values.values()])), 3),
    }


def report() -> None:
    """Write the summary, the figure and the pages, and print the table."""
    cells = stored()
    rows = [
        summarise(workload, test, dependent, cells[workload.name, test, dependent])
        for workload in workloads()
        for test in workload.tests
        for dependent in (0, 1)
        if (workload.name, test, dependent) in cells
    ]
    with SUMMARY.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        above = row["hypothesis"] == "H0" and row["rejected_0.05"] > bound(row["replicates"])
        flag = " <-- above the bound" if above else ""
        print(
            f"{row['workload']:24s} {row['test']:20s} {row['hypothesis']} {row['rejected_0.05']:.3f} "
            f"[{row['ci_low']:.3f}, {row['ci_high']:.3f}] of {row['replicates']}{flag}"
        )
    write_pages(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--slow-replicates", type=int, default=200, help="for workloads with many columns of X and Y"
    )
    parser.add_argument("--nulls", action="store_true", help="type I error only")
    parser.add_argument("--only", nargs="*", default=[], help="parts of workload names")
    parser.add_argument("--tests", nargs="*", default=[], help=f"of {', '.join(CONTESTANTS)}")
    options = parser.parse_args()
    unknown = set(options.tests) - set(CONTESTANTS)
    if unknown:
        sys.exit(f"unknown tests: {sorted(unknown)}; choose from {list(CONTESTANTS)}")
    if options.command == "run":
        run(options)
    report()


if __name__ == "__main__":
    main()
