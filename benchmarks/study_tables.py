"""Tables and figure of the studies of single tests: the classical, the resampling and the generative ones."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

from study import RESULTS, Study

from spectralcit.benchmark import CellSummary
from spectralcit.files import write_atomically

# Of the classical table, as its test and the pages of the tests read it.
COLUMNS = ["test", "workload", "n", "replicates", "type_1_error", "power", "seconds_per_call"]
# CPU seconds of one call of the authors' implementation, n = 1000, d_Z = 50, on the same kind of machine.
AUTHORS_SECONDS = {"nnlscit": 93, "ccit": 50, "cmi-knn": 700, "gcit": 14, "cdcit": 47, "dgcit": 130}
STATEMENTS = {  # of the papers, to stand beside what was measured
    "gcit": "this package's paper, tuned on this model: high power, fails to control the type I error",
    "dgcit": "this package's paper, tuned on this model: completely loses control of the type I error",
    "cdcit": "its authors, on models of this kind: controls the type I error with high power",
    "dr-generative": "its authors, on the sin/cos model: close to the level, with larger networks",
}


def write_classical(study: Study) -> None:
    """Write one line per test, and the figure."""
    rows = []
    for test in study.suite.tests:
        for label in study.labels:
            null, alternative = (study.cells.get((label, test, dependent)) for dependent in (False, True))
            if null is not None and alternative is not None:
                seconds = (null.seconds + alternative.seconds) / 2
                rates = f"{null.rate:.3f}", f"{alternative.rate:.3f}", f"{seconds:.4f}"
                rows.append([test, label, null.n, null.replicates, *rates])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows])
    write_atomically(RESULTS / "classical_calibration.csv", text.getvalue())
    draw_classical(rows, RESULTS / "classical_calibration.png")
    print(text.getvalue())


def draw_classical(rows: list[list], path: Path) -> None:
    from matplotlib.figure import Figure

    names = [row[0] for row in rows][::-1]
    size, power = ([float(row[k]) for row in rows][::-1] for k in (4, 5))
    figure = Figure(figsize=(8, 4.2), layout="tight")
    left, right = figure.subplots(1, 2, sharey=True)
    left.axvspan(0, 0.09, color="0.9", label="accepted range")
    left.axvline(0.05, color="0.5", lw=1)
    left.plot(size, names, "o", color="tab:red")
    left.set(xlabel="type I error", xlim=(0, max(0.15, max(size) + 0.02)))
    left.legend(frameon=False, loc="upper right")
    right.axvspan(0.9, 1, color="0.9")
    right.plot(power, names, "o", color="tab:blue")
    right.set(xlabel="power", xlim=(0, 1.02))
    counts = sorted({row[3] for row in rows})
    replicates = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    figure.suptitle(f"Easy null and easy alternative per test, level 0.05, {replicates} replicates")
    figure.savefig(path, dpi=110)


def write_resampling(study: Study) -> None:
    """Write the table of the tests that resample."""
    title = "Tests that resample or learn P(X|Z): post-nonlinear model, level 0.05"
    write_markdown("resampling_tests.md", title, study)


def write_generative(study: Study) -> None:
    """Write the table of the generative tests, with what the papers say next to what was measured."""
    statements = ["", "What the papers say:", ""]
    statements += [f"- `{name}`: {text}." for name, text in STATEMENTS.items()]
    title = "Tests that learn to draw X given Z: post-nonlinear model, level 0.05"
    write_markdown("generative_tests.md", title, study, statements)


def write_markdown(name: str, title: str, study: Study, more: list[str] | None = None) -> None:
    lines = [
        f"# {title}",
        "",
        "Rates ± Monte-Carlo standard error (replicates). Seconds per call are medians, one thread, on a",
        "machine that did other work too (CPU seconds where the seed is 210000). Authors: CPU seconds of the",
        "authors' implementation on such data, as measured before on the same kind of machine.",
        f"Made by `python benchmarks/page.py {study.suite.name}`.",
        "",
        "| test | n | d_Z | type I error | power | s, H0 | s, H1 | authors | ratio, H0 | ratio, H1 |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    methods = {cell.test: cell.method for cell in study.suite.cells}
    for test in sorted(study.suite.tests):
        for label in study.labels:
            both = [study.cells.get((label, test, dependent)) for dependent in (False, True)]
            if any(both):
                lines.append(line(test, methods[test], both))
    text = "\n".join([*lines, *(more or [])]) + "\n"
    write_atomically(RESULTS / name, text)
    print(text)


def line(test: str, method: str, both: list[CellSummary | None]) -> str:
    known = next(cell for cell in both if cell is not None)
    d_z = known.params["d_z"]
    authors = AUTHORS_SECONDS.get(method) if (known.n, d_z) == (1000, 50) else None
    rates = ["" if cell is None else rate(cell) for cell in both]
    seconds = ["" if cell is None else f"{cell.seconds:.2f}" for cell in both]
    ratios = ["" if cell is None or not authors else f"{authors / cell.seconds:.0f}x" for cell in both]
    parts = [test, str(known.n), str(d_z), *rates, *seconds, str(authors or ""), *ratios]
    return "| " + " | ".join(parts) + " |"


def rate(cell: CellSummary) -> str:
    error = math.sqrt(cell.rate * (1 - cell.rate) / cell.replicates)
    return f"{cell.rate:.3f} ± {error:.3f} ({cell.replicates})"
