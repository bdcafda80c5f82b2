"""Level and power of the default test when values are missing: rows dropped, or cells drawn under the null.

``python benchmarks/missing_rows.py run --replicates 200`` adds to ``results/missing_rows.csv``, a line per
data set; what is there is not computed again, and a run can be stopped anywhere: 20 CPU minutes in all. The
four cells of the acceptance have so many data sets, the others a tenth; rows are dropped, and ties looked
for, in every fourth. ``... table`` prints the table of docs/missing-values.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from appended import append_row, rows_of

from spectralcit import ci_test

# Committed; docs/missing-values.md quotes it.
RESULTS = Path(__file__).parent / "results" / "missing_rows.csv"
N = 400  # by hand: where a test still has something to lose
FIRST_SEED = 6_220_000  # nothing was tuned on these
EVERY = 4  # data set has ties, and has its rows dropped: their rates need no narrow interval
OTHERS = 10  # times fewer data sets of cells beside those of the acceptance
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
    "each column by chance, 40 %": (linear, by_chance, 0.4),
    "Z because of X and Y, 10 %": (smooth, z_because_of_both, 0.1),
    "Z because of X and Y, 40 %": (smooth, z_because_of_both, 0.4),
    "each column by chance, 20 %": (linear, by_chance, 0.2),
    "Z because of X and Y, 40 %, linear": (linear, z_because_of_both, 0.4),
    "Z because of X times Y, 40 %": (smooth, z_because_of_product, 0.4),
    "X because of Y or Y because of X, 60 %": (linear, either_because_of_other, 0.6),
    "a category in Z because of X and Y, 40 %": (categories, z_because_of_both, 0.4),
}


ACCEPTED = list(CELLS)[:4]  # by chance and at random given X and Y, 10 and 40 %


def one(cell: str, tie: float, seed: int, dropping: bool) -> dict[str, Any]:
    """Return a line of the file; "complete" is the test before anything went missing, if there is a tie."""
    model, spoil, share = CELLS[cell]
    rng = np.random.default_rng(seed)
    data = model(rng, tie)
    spoiled = spoil(data, share, rng)
    drawn = ci_test(*spoiled, missing="impute", random_state=seed)
    dropped = ci_test(*spoiled, missing="drop", random_state=seed) if dropping else None
    warned = dropped is not None and any("depends on x and y" in text for text in dropped.warnings)
    return {
        "cell": cell,
        "tie": tie,
        "seed": seed,
        "complete": round(ci_test(*data, random_state=seed).pvalue, 5) if tie else "",
        "drop": "" if dropped is None else round(dropped.pvalue, 5),
        "impute": round(drawn.pvalue, 5),
        "warned": "" if dropped is None else int(warned),
    }


def run(replicates: int) -> None:
    """Add what is missing, the first data sets of all cells first."""
    known = {(row["cell"], float(row["tie"]), int(row["seed"])) for row in rows_of(RESULTS)}
    for k in range(replicates):
        for tie in TIES if k % EVERY == 0 else TIES[:1]:
            for number, cell in enumerate(CELLS):
                seed = FIRST_SEED + 1000 * number + k
                wanted = cell in ACCEPTED or k < replicates // OTHERS
                if wanted and (cell, tie, seed) not in known:
                    append_row(RESULTS, one(cell, tie, seed, k % EVERY == 0 or cell not in ACCEPTED))


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
                values = [float(row[name]) for row in mine if row[name]]
                hits = sum(value >= 0.5 if name == "warned" else value <= LEVEL for value in values)
                parts.append(f"{hits}/{len(values)}")
        lines.append("| " + " | ".join(parts) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--replicates", type=int, default=200)
    given = parser.parse_args()
    if given.what == "run":
        run(given.replicates)
    print(table())
