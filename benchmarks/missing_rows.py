"""Level and power of the default test when values are missing: rows dropped, or cells drawn under the null.

Adds to ``results/missing_rows.csv``, a line per data set, until the budget of CPU seconds is spent; what is
there is not computed again. ``python benchmarks/missing_rows.py 600`` runs ten minutes; with 0 it only prints
the table of docs/missing-values.md. The first replicates of all cells come first, so a run can end anywhere.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from appended import rows_of

from spectralcit import ci_test

# Committed; docs/missing-values.md quotes it.
RESULTS = Path(__file__).parent / "results" / "missing_rows.csv"
# A line per data set; "complete" is the test before anything went missing, where there is a tie to see.
COLUMNS = ["cell", "tie", "seed", "complete", "drop", "impute", "warned"]
N = 400  # by hand: where a test still has something to lose
REPLICATES = 200  # the acceptance's
FIRST_SEED = 700_000  # nothing was tuned on these
TIES = (0.0, 0.2)  # slope of y on the noise of x: none, and one that the complete rows mostly show
LEVEL = 0.05  # of all tests

Data = tuple[Any, Any, Any]


def smooth(rng: np.random.Generator, tie: float) -> Data:
    z = rng.normal(size=(N, 2))
    noise = rng.normal(size=(2, N))
    x = np.sin(2 * z[:, 0]) + 0.5 * z[:, 1] + 0.7 * noise[0]
    return x, z[:, 0] + 0.5 * z[:, 1] ** 2 + 0.7 * (noise[1] + tie * noise[0]), z


def linear(rng: np.random.Generator, tie: float) -> Data:
    z = rng.normal(size=(N, 2))
    noise = rng.normal(size=(2, N))
    return z.sum(axis=1) + noise[0], z[:, 0] - 0.5 * z[:, 1] + noise[1] + tie * noise[0], z


def categories(rng: np.random.Generator, tie: float) -> Data:
    group = rng.integers(0, 4, N)
    noise = rng.normal(size=(2, N))
    x = np.array([0.0, 1.0, 1.0, -1.0])[group] + noise[0]
    y = np.array([0.0, 1.0, -1.0, 0.5])[group] + noise[1] + tie * noise[0]
    return x, y, np.array(list("abcd"), dtype=object)[group]


def gone(score: Any, share: float, rng: np.random.Generator) -> np.ndarray:
    """The given share of the rows, those with a high score more likely."""
    total = score + rng.logistic(size=N)
    return total > np.quantile(total, 1 - share)


def scaled(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def by_chance(data: Data, share: float, rng: np.random.Generator) -> Data:
    x, y, z = data
    return tuple(np.where(rng.random(each.shape) < share, np.nan, each) for each in (x, y, z))  # type: ignore[return-value]


def z_because_of_both(data: Data, share: float, rng: np.random.Generator) -> Data:
    x, y, z = data
    missing = gone(2 * (scaled(x) + scaled(y)), share, rng)
    z = z.copy()
    if z.ndim == 1:
        z[missing] = None
    else:
        z[missing, 0] = np.nan
    return x, y, z


def z_because_of_product(data: Data, share: float, rng: np.random.Generator) -> Data:
    x, y, z = data
    z = z.copy()
    z[gone(2 * scaled(x) * scaled(y), share, rng), 0] = np.nan
    return x, y, z


def either_because_of_other(data: Data, share: float, rng: np.random.Generator) -> Data:
    x, y, z = data
    turn = rng.random(N) < 0.5  # each row may lack one of the two only
    of_x = gone(3 * scaled(y), share, rng) & turn
    of_y = gone(3 * scaled(x), share, rng) & ~turn
    return np.where(of_x, np.nan, x), np.where(of_y, np.nan, y), z


# Name, model, what goes missing, which share of the rows.
CELLS: dict[str, tuple[Callable[..., Data], Callable[..., Data], float]] = {
    "each column by chance, 10 %": (smooth, by_chance, 0.1),
    "each column by chance, 20 %": (linear, by_chance, 0.2),
    "Z because of X and Y, 10 %": (smooth, z_because_of_both, 0.1),
    "Z because of X and Y, 40 %": (smooth, z_because_of_both, 0.4),
    "Z because of X and Y, 40 %, linear": (linear, z_because_of_both, 0.4),
    "Z because of X times Y, 40 %": (smooth, z_because_of_product, 0.4),
    "X because of Y or Y because of X, 60 %": (linear, either_because_of_other, 0.6),
    "a category in Z because of X and Y, 40 %": (categories, z_because_of_both, 0.4),
}


def one(cell: str, tie: float, seed: int) -> dict[str, Any]:
    model, spoil, share = CELLS[cell]
    rng = np.random.default_rng(seed)
    data = model(rng, tie)
    spoiled = spoil(data, share, rng)
    dropped, drawn = (ci_test(*spoiled, missing=policy, random_state=seed) for policy in ("drop", "impute"))
    return {
        "cell": cell,
        "tie": tie,
        "seed": seed,
        "complete": round(ci_test(*data, random_state=seed).pvalue, 5) if tie else "",
        "drop": round(dropped.pvalue, 5),
        "impute": round(drawn.pvalue, 5),
        "warned": int(any("depends on x and y" in text for text in dropped.warnings)),
    }


def run(budget: float) -> None:
    known = {(row["cell"], float(row["tie"]), int(row["seed"])) for row in rows_of(RESULTS)}
    tasks = [
        (cell, tie, FIRST_SEED + 1000 * number + k)
        for k in range(REPLICATES)
        for tie in TIES
        if tie == 0.0 or k % 4 == 0  # power needs fewer: its interval is wide anyway
        for number, cell in enumerate(CELLS)
    ]
    with RESULTS.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not known:
            writer.writeheader()
        for task in tasks:
            if time.process_time() > budget:
                return
            if task not in known:
                writer.writerow(one(*task))
                file.flush()


def table() -> str:
    rows = rows_of(RESULTS)
    lines = [
        "| values missing in | nulls rejected: drop | impute | drop warns | ties found: complete "
        "| drop | impute |"
    ]
    lines.append("|---" * 7 + "|")
    for cell in CELLS:
        parts = [cell]
        for tie, names in zip(
            TIES, (("drop", "impute", "warned"), ("complete", "drop", "impute")), strict=True
        ):
            mine = [row for row in rows if row["cell"] == cell and float(row["tie"]) == tie]
            for name in names:
                limit = 0.5 if name == "warned" else LEVEL
                hits = sum(
                    (float(row[name]) >= limit) if name == "warned" else float(row[name]) <= limit
                    for row in mine
                )
                parts.append(f"{hits}/{len(mine)}")
        lines.append("| " + " | ".join(parts) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    run(float(sys.argv[1]) if len(sys.argv) > 1 else 600.0)
    print(table())
