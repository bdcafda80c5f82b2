"""How often rows that are not independent are noticed, and independent ones mistaken for such.

``python benchmarks/noticed_rows.py`` adds to ``results/noticed_rows.csv`` the designs that it lacks: 200 data
sets of each on seeds that nothing was tuned on. No test is run, only `prepare`: two CPU minutes.
``... levels --replicates 100`` adds to ``results/noticed_levels.csv`` the default's p-values on dependent
rows that nothing is said about, in three CPU minutes; those of designs named "cell" are in ``real_rows.py``.
docs/noticed-rows.md quotes both.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import real_rows
from appended import append_row, rows_of

from spectralcit import ci_test, prepare
from spectralcit.inputs import select_columns

# Committed; docs/noticed-rows.md quotes it.
RESULTS = Path(__file__).parent / "results" / "noticed_rows.csv"
LEVELS = RESULTS.with_name("noticed_levels.csv")
REPLICATES = 200  # the acceptance's
FIRST_SEED = 6_196_000  # nothing was tuned on these
N = 400  # rows, where the groups do not say otherwise

LABELLED = ", shuffled, label"  # how designs are called whose rows were shuffled beside a label

Design = Callable[[np.random.Generator], Any]


def with_z(rng: np.random.Generator, left: np.ndarray, right: np.ndarray, z: Any = None) -> Any:
    z = rng.normal(size=(len(left), 2)) if z is None else z
    return np.sin(2 * z[:, 0]) + 0.5 * z[:, 1] + left, z[:, 0] + right, z


def series(rng: np.random.Generator, memory: float) -> np.ndarray:
    values = rng.normal(size=N)
    for k in range(1, N):
        values[k] = memory * values[k - 1] + np.sqrt(1 - memory**2) * values[k]
    return values


def grouped(rng: np.random.Generator, group: np.ndarray, share: float) -> np.ndarray:
    """Noise of which a share of the variance is common to the rows of a group."""
    common = rng.normal(size=group.max() + 1)[group]
    return np.sqrt(share) * common + np.sqrt(1 - share) * rng.normal(size=len(group))


def independent(n: int) -> Design:
    return lambda rng: with_z(rng, *rng.normal(size=(2, n)))


def tied(rng: np.random.Generator) -> Any:
    noise = rng.normal(size=N)
    return with_z(rng, noise, noise + rng.normal(size=N))


def wide(rng: np.random.Generator) -> Any:
    return rng.normal(size=(N, 5)), rng.standard_t(2, size=(N, 3)), rng.normal(size=(N, 8))


def few_values(rng: np.random.Generator) -> Any:
    z = rng.integers(20, 70, N).astype(float)
    return (z / 30 + rng.normal(size=N) > 1.5).astype(float), rng.integers(0, 4, N) + (z > 40.0), z


def tied_few(rng: np.random.Generator) -> Any:
    noise = rng.normal(size=100)
    return with_z(rng, noise, noise + 0.5 * rng.normal(size=100))


def slow_z(n: int) -> Design:
    """Rows of which only Z has a memory; both sides follow it."""
    return lambda rng: with_z(
        rng, *rng.normal(size=(2, n)), np.column_stack([series(rng, 0.9)[:n] for _ in "zw"])
    )


def vectors(rng: np.random.Generator) -> Any:
    shared = rng.normal(size=(100, 1))
    return shared + rng.normal(size=(100, 4)), shared + rng.normal(size=(100, 4)), rng.normal(size=100)


def few_labels(rng: np.random.Generator) -> Any:
    x, y, z = independent(100)(rng)
    columns = {"x": x, "y": y, "z": z[:, 0], "w": z[:, 1], "site": rng.integers(0, 10, 100)}
    return pd.DataFrame({**columns, "nurse": rng.choice(list("abcdefghijklmno"), 100)})


def grade_as_covariate(rng: np.random.Generator) -> Any:
    """A school year beside, which both sides follow smoothly and which somebody forgot to give as Z."""
    x, y, z = independent(200)(rng)
    grade = rng.integers(1, 13, 200)
    columns = {"x": x + grade / 6, "y": y + (grade - 6.0) ** 2 / 18, "z": z[:, 0], "w": z[:, 1]}
    return pd.DataFrame({**columns, "grade": grade})


def sorted_by(key: str) -> Design:
    def make(rng: np.random.Generator) -> Any:
        x, y, z = tied(rng)
        x = np.round(x) if key == "x, then y" else x
        keys = {"x": [x], "y": [y], "z": [z[:, 0]], "x, then y": [y, x]}
        order = np.lexsort(keys[key])
        return x[order], y[order], z[order]

    return make


def steps_in_sorted_z(rng: np.random.Generator) -> Any:
    z = np.sort(rng.uniform(size=N))
    steps = np.floor(10 * z) % 3
    return steps + 0.5 * rng.normal(size=N), steps + 0.5 * rng.normal(size=N), z


def harmless_labels(rng: np.random.Generator) -> Any:
    x, y, z = independent(N)(rng)
    age = rng.integers(20, 80, N)
    columns = {"x": x + age / 20, "y": y + (age - 50.0) ** 2 / 300, "z": z[:, 0], "w": z[:, 1], "age": age}
    return pd.DataFrame(
        {**columns, "patient": rng.integers(0, 60, N), "site": rng.choice(list("abcdefghijkl"), N)}
    )


def memory(strength: float) -> Design:
    return lambda rng: with_z(rng, series(rng, strength), series(rng, strength))


def one_side(rng: np.random.Generator) -> Any:
    return with_z(rng, series(rng, 0.9), rng.normal(size=N))


def volatility(rng: np.random.Generator) -> Any:
    spread = [np.exp(1.2 * series(rng, 0.9)) for _ in "xy"]
    return with_z(rng, *(each * rng.normal(size=N) for each in spread))


def groups(count: int, each: int, share: float, *, labelled: bool = False) -> Design:
    def make(rng: np.random.Generator) -> Any:
        group = np.repeat(np.arange(count), each)
        x, y, z = with_z(rng, grouped(rng, group, share), grouped(rng, group, share))
        if not labelled:
            return x, y, z
        frame = pd.DataFrame({"x": x, "y": y, "z": z[:, 0], "w": z[:, 1], "patient": group})
        return frame.iloc[rng.permutation(len(frame))]

    return make


def unequal_groups(rng: np.random.Generator) -> Any:
    group = np.repeat(np.arange(60), rng.integers(1, 13, 60))
    return with_z(rng, grouped(rng, group, 0.5), grouped(rng, group, 0.5))


def copied(n: int, copies: int) -> Design:
    def make(rng: np.random.Generator) -> Any:
        x, y, z = with_z(rng, *rng.normal(size=(2, n)))
        rows = rng.permutation(np.r_[np.arange(n), rng.permutation(n)[:copies]])
        return x[rows], y[rows], z[rows]

    return make


def cell(name: str, *, labelled: bool = False) -> Design:
    """A true null of ``real_rows.py`` without a word about its rows; with a label they are shuffled."""
    make, options = real_rows.LEVEL[name]

    def undeclared(rng: np.random.Generator) -> Any:
        x, y, z, rows = make(rng, bool(rng.integers(2)), 0.0, **options)
        if not labelled:
            return x, y, z
        frame = pd.DataFrame({"x": x, "y": y, "z": z, "patient": rows["groups"]})
        return frame.iloc[rng.permutation(len(frame))]

    return undeclared


CELLS = [name for name in real_rows.LEVEL if not name.startswith("weights")]
GROUPS = (
    (40, 10, 0.1),
    (40, 10, 0.3),
    (40, 10, 0.7),
    (100, 4, 0.3),
    (100, 2, 0.7),
    (10, 20, 0.3),
    (10, 40, 0.7),
)
# Whether the rows are independent, and what makes them.
DESIGNS: dict[str, tuple[bool, Design]] = {
    **{f"independent, {n} rows": (True, independent(n)) for n in (30, 60, 100, 200, 400, 2000)},
    "independent, 100 rows, x and y tied": (True, tied_few),
    "independent, 100 rows, vectors": (True, vectors),
    "independent, 100 rows, two labels beside": (True, few_labels),
    "independent, 200 rows, a grade beside": (True, grade_as_covariate),
    **{f"independent given a slow Z, {n} rows": (True, slow_z(n)) for n in (100, 400)},
    "independent, x and y tied": (True, tied),
    "independent, wide, heavy tails": (True, wide),
    "independent, few values": (True, few_values),
    **{f"independent, sorted by {key}": (True, sorted_by(key)) for key in ("x", "y", "z", "x, then y")},
    "independent, steps in a sorted z": (True, steps_in_sorted_z),
    "independent, labels and ages beside": (True, harmless_labels),
    "AR .9 on one side": (False, one_side),
    **{f"AR {strength}": (False, memory(strength)) for strength in (0.3, 0.6, 0.9)},
    "volatility that clusters": (False, volatility),
    **{f"{a} groups of {b}, {c}, sorted": (False, groups(a, b, c)) for a, b, c in GROUPS},
    **{f"{a} groups of {b}, {c}{LABELLED}": (False, groups(a, b, c, labelled=True)) for a, b, c in GROUPS},
    "60 groups of 1 to 12, 0.5, sorted": (False, unequal_groups),
    "every row twice": (False, copied(200, 200)),
    "60 copies among 360 rows": (False, copied(300, 60)),
    **{f"cell: {name}": (False, cell(name)) for name in CELLS},
    **{f"cell: {name}{LABELLED}": (False, cell(name, labelled=True)) for name in CELLS if "groups" in name},
}


def table_of(design: Design, seed: int) -> Any:
    """Return x, y and z of one data set, as a user would give them."""
    data = design(np.random.default_rng(seed))
    if isinstance(data, pd.DataFrame):
        data = select_columns(data, "x", "y", [name for name in ("z", "w") if name in data])
    return data


def noticed(design: Design, seed: int) -> bool:
    return any("groups=" in text for text in prepare(*table_of(design, seed), min_rows=1).notes)


def count_warnings() -> None:
    known = {row["design"] for row in rows_of(RESULTS)}
    for name, (is_independent, design) in DESIGNS.items():
        if name in known:
            continue
        started = time.process_time()
        found = sum(noticed(design, FIRST_SEED + k) for k in range(REPLICATES))
        each = (time.process_time() - started) / REPLICATES
        row = {"design": name, "independent": int(is_independent), "data_sets": REPLICATES, "warned": found}
        append_row(RESULTS, {**row, "cpu_milliseconds": f"{1000 * each:.1f}"})


def measure_levels(replicates: int) -> None:
    """Test dependent rows as if they were independent, where ``real_rows.py`` does not."""
    known = {(row["design"], int(row["seed"])) for row in rows_of(LEVELS)}
    elsewhere = ("independent", "cell: ")
    names = [name for name in DESIGNS if not name.startswith(elsewhere) and not name.endswith(LABELLED)]
    for seed in range(FIRST_SEED, FIRST_SEED + replicates):
        for name in names:
            if (name, seed) not in known:
                pvalue = ci_test(*table_of(DESIGNS[name][1], seed), random_state=0).pvalue
                append_row(LEVELS, {"design": name, "seed": seed, "pvalue": f"{pvalue:.6g}"})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["warnings", "levels"], default="warnings")
    parser.add_argument("--replicates", type=int, default=100, help="of levels")
    asked = parser.parse_args()
    if asked.what == "warnings":
        count_warnings()
    else:
        measure_levels(asked.replicates)
