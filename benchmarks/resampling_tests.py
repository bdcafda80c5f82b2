"""Type I error, power and CPU time of the tests that resample or learn P(X|Z), on the post-nonlinear model.

    python benchmarks/resampling_tests.py run --tests ccit nnlscit --replicates 40 --d-z 50
    python benchmarks/resampling_tests.py report

Every p-value is appended to ``results/resampling_tests_pvalues.csv`` as it is computed: the run may be killed
at any moment and started again. ``report`` writes ``results/resampling_tests.md``. Any registered test can be
named; ``VARIANTS`` gives names to tests with other parameters. Seeds start at 210 000; nothing was tuned for
the rates on them (the trees of nnlscit were changed once, for speed, after eight of its replicates).
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from pathlib import Path

# One thread, set before NumPy is loaded: CPU seconds are then those of the algorithm.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

from spectralcit import get_test  # noqa: E402
from spectralcit.datasets import post_nonlinear  # noqa: E402

RESULTS = Path(__file__).parent / "results"
PVALUES = RESULTS / "resampling_tests_pvalues.csv"
TABLE = RESULTS / "resampling_tests.md"
COLUMNS = ["test", "n", "d_z", "hypothesis", "replicate", "pvalue", "cpu_seconds"]
FIRST_SEED = 210_000
ALPHA = 0.05
VARIANTS = {
    "nnlscit-lightgbm": ("nnlscit", {"library": "lightgbm"}),
    "nnlscit-authors-trees": ("nnlscit", {"n_trees": 100, "learning_rate": 0.01}),
    "nnlscit-all-draws": ("nnlscit", {"early_stop": None}),
    "ccit-lightgbm": ("ccit", {"library": "lightgbm"}),
}
# CPU seconds of one call of the authors' implementation, n = 1000, d_Z = 50, on the same kind of machine.
AUTHORS_SECONDS = {"nnlscit": 93, "ccit": 50, "cmi-knn": 700, "gcit": 14, "cdcit": 47, "dgcit": 130}


def one_call(name: str, n: int, d_z: int, hypothesis: str, replicate: int) -> tuple[float, float]:
    method, params = VARIANTS.get(name, (name, {}))
    rng = np.random.default_rng([FIRST_SEED + replicate, d_z, int(hypothesis == "H1")])
    x, y, z = post_nonlinear(n, rng, dependent=hypothesis == "H1", d_z=d_z)
    test = get_test(method)(random_state=replicate, **params)
    started = time.process_time()
    pvalue = test.test(x, y, z).pvalue
    return pvalue, time.process_time() - started


def read() -> list[dict]:
    if not PVALUES.exists():
        return []
    with PVALUES.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [row for row in rows if None not in row.values()]  # a killed run may leave half a line


def append(row: list) -> None:
    fresh = not PVALUES.exists()
    # One write per line, so that two runs may share the file.
    with PVALUES.open("a", newline="") as file:
        writer = csv.writer(file)
        if fresh:
            writer.writerow(COLUMNS)
        writer.writerow(row)


def run(options: argparse.Namespace) -> None:
    RESULTS.mkdir(exist_ok=True)
    done = {tuple(row[c] for c in COLUMNS[:5]) for row in read()}
    for replicate in range(options.replicates):
        for name in options.tests:
            for d_z in options.d_z:
                for hypothesis in options.hypotheses:
                    key = (name, str(options.n), str(d_z), hypothesis, str(replicate))
                    if key in done:
                        continue
                    pvalue, seconds = one_call(name, options.n, d_z, hypothesis, replicate)
                    append([*key, repr(pvalue), f"{seconds:.3f}"])
                    print(*key, f"{pvalue:.4f}", f"{seconds:.1f} s", flush=True)


def rate(pvalues: list[float]) -> str:
    share = float(np.mean(np.array(pvalues) <= ALPHA))
    error = (share * (1 - share) / len(pvalues)) ** 0.5
    return f"{share:.3f} ± {error:.3f} ({len(pvalues)})"


def report() -> None:
    cells: dict[tuple, dict[str, list[dict]]] = {}
    for row in read():
        key = (row["test"], int(row["n"]), int(row["d_z"]))
        cells.setdefault(key, {"H0": [], "H1": []})[row["hypothesis"]].append(row)
    lines = [
        "# Tests that resample or learn P(X|Z): post-nonlinear model, level 0.05",
        "",
        "Rates ± Monte-Carlo standard error (replicates). CPU seconds per call are medians, one thread, on a",
        "machine that did other work too. Authors: CPU seconds of the authors' implementation on such data,",
        "as measured before on the same kind of machine. Made by `benchmarks/resampling_tests.py`.",
        "",
        "| test | n | d_Z | type I error | power | CPU s, H0 | CPU s, H1 | authors | ratio, H0 | ratio, H1 |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (name, n, d_z), both in sorted(cells.items()):
        authors = AUTHORS_SECONDS.get(VARIANTS.get(name, (name,))[0]) if (n, d_z) == (1000, 50) else None
        rates, seconds, ratios = [], [], []
        for hypothesis in ("H0", "H1"):
            rows = both[hypothesis]
            median = float(np.median([float(r["cpu_seconds"]) for r in rows])) if rows else None
            rates.append(rate([float(r["pvalue"]) for r in rows]) if rows else "")
            seconds.append(f"{median:.2f}" if median else "")
            ratios.append(f"{authors / median:.0f}x" if authors and median else "")
        lines.append(
            f"| {name} | {n} | {d_z} | {' | '.join(rates)} | {' | '.join(seconds)} | {authors or ''} | "
            f"{' | '.join(ratios)} |"
        )
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--tests", nargs="+", default=["ccit", "nnlscit"])
    parser.add_argument("--replicates", type=int, default=40)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--hypotheses", nargs="+", choices=["H0", "H1"], default=["H0", "H1"])
    parser.add_argument("--d-z", type=int, nargs="+", default=[50])
    options = parser.parse_args()
    run(options) if options.command == "run" else report()


if __name__ == "__main__":
    main()
