"""False discoveries of a screen: correlated columns of which 5 % matter, over and over.

Each repetition draws a table, screens it, and appends a line to the results; what is there is not run again.
Full mode, whose rows are those of a loop over `ci_test`, runs on the first of the tables. All of it takes
about a quarter of an hour of CPU time.

    OMP_NUM_THREADS=1 python benchmarks/screen_fdr.py [--repetitions 50] [--full 20]
    python benchmarks/screen_fdr.py --summary
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from appended import append_row, rows_of

from spectralcit import screen
from spectralcit.screening.discoveries import inflation

# Committed; docs/screening.md quotes it.
RESULTS = Path(__file__).parent / "results" / "screen_fdr.csv"
FIELDS = ("repetition", "mode", "found", "false", "cpu_seconds", "found_names", "null_pvalues")
ROWS, COLUMNS, EFFECTS, GIVEN, FACTORS = 400, 200, 10, 3, 3  # by hand: seconds for a repetition
OWN, EFFECT, NOISE = 2.5, 0.5, 0.5  # by hand: so that most of the effects can be found
FIRST_SEED = 5_512_000  # by hand; repetition k is drawn from this plus k
LEVEL = 0.1  # of the q-values


def table(repetition: int) -> tuple[pa.Table, set[str]]:
    """Columns that share three factors and follow Z in lines and curves; the names of those that matter."""
    rng = np.random.default_rng(FIRST_SEED + repetition)
    z, factors = rng.normal(size=(ROWS, GIVEN)), rng.normal(size=(ROWS, FACTORS))
    signal = rng.normal(size=(ROWS, EFFECTS))
    columns = {f"z{k}": z[:, k] for k in range(GIVEN)}
    true = rng.choice(COLUMNS, EFFECTS, replace=False)
    outcome = np.sin(2 * z[:, 0]) + z[:, 1] * z[:, 2] + NOISE * rng.normal(size=ROWS)
    for k in range(COLUMNS):
        x = z @ (0.5 * rng.normal(size=GIVEN)) + np.tanh(2 * z[:, k % GIVEN]) * (k % 2)
        x += factors @ (0.6 * rng.normal(size=FACTORS)) + rng.normal(size=ROWS)
        at = np.flatnonzero(true == k)
        if len(at):
            own = signal[:, at[0]]
            x += OWN * own
            outcome += EFFECT * (own if at[0] % 2 else own**2 - 1.0)
        columns[f"x{k}"] = x
    columns["y"] = outcome
    return pa.table(columns), {f"x{k}" for k in true}


def measure(repetition: int, mode: str) -> dict[str, object]:
    """Screen one table; the loop and the screen see the same one."""
    data, true = table(repetition)
    started = time.process_time()
    found = screen(data, x="x*", y="y", z="z*", fdr="bh", mode=mode)
    seconds = time.process_time() - started
    hits = {row.x for row in found.hits(LEVEL)}
    nulls = [row.pvalue for row in found.rows if row.x not in true and row.pvalue is not None]
    values = (
        repetition,
        mode,
        len(hits),
        len(hits - true),
        f"{seconds:.2f}",
        " ".join(sorted(hits)),
        " ".join(f"{p:.4g}" for p in nulls),
    )
    return dict(zip(FIELDS, values, strict=True))


def run(repetitions: int, full: int) -> None:
    """Run what is missing."""
    there = {(int(row["repetition"]), row["mode"]) for row in rows_of(RESULTS)}
    wanted = [(k, "two-stage") for k in range(repetitions)] + [(k, "full") for k in range(full)]
    for repetition, mode in wanted:
        if (repetition, mode) in there:
            continue
        row = measure(repetition, mode)
        append_row(RESULTS, row)
        print(*(row[name] for name in FIELDS[:5]), flush=True)


def summary() -> None:
    """Print rates of each mode, and what two stages find of what the loop finds."""
    by_mode: dict[str, dict[int, dict[str, str]]] = {}
    for row in rows_of(RESULTS):
        by_mode.setdefault(row["mode"], {})[int(row["repetition"])] = row
    for mode, rows in by_mode.items():
        shares = np.array([int(r["false"]) / max(int(r["found"]), 1) for r in rows.values()])
        nulls = [np.array(r["null_pvalues"].split(), dtype=float) for r in rows.values()]
        pooled, each = np.concatenate(nulls), np.array([inflation(p) for p in nulls])
        print(
            f"{mode:<10} {len(rows)} repetitions: false discovery rate {shares.mean():.3f} ± "
            f"{shares.std() / np.sqrt(len(shares)):.3f}; λ of null columns "
            f"{inflation(pooled):.3f} pooled, "
            f"from {np.quantile(each, 0.05):.2f} to {np.quantile(each, 0.95):.2f} in nine of ten; "
            f"null p <= .05: {(pooled <= 0.05).mean():.4f}, <= .01: {(pooled <= 0.01).mean():.4f}"
        )
        found = [(int(r["found"]) - int(r["false"])) / EFFECTS for r in rows.values()]
        seconds = sum(float(r["cpu_seconds"]) for r in rows.values())
        print(f"{'':<10} finds {np.mean(found):.3f} of the effects, in {seconds / 60:.1f} CPU minutes")
    both = by_mode.get("two-stage", {}).keys() & by_mode.get("full", {}).keys()
    loop, ours = (
        [set(by_mode[mode][k]["found_names"].split()) for k in sorted(both)] for mode in ("full", "two-stage")
    )
    if both:
        kept = sum(len(a & b) for a, b in zip(loop, ours, strict=True))
        print(f"of {sum(map(len, loop))} that the loop finds in {len(both)} tables, two stages find {kept}")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--repetitions", type=int, default=50)
    arguments.add_argument("--full", type=int, default=20)
    arguments.add_argument("--summary", action="store_true")
    chosen = arguments.parse_args()
    if not chosen.summary:
        run(chosen.repetitions, chosen.full)
    summary()
