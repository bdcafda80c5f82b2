"""CPU time per column of a screen, beside a loop over `ci_test`, in one run.

The loop and full mode are timed on the same columns, drawn at random: every other column follows Z in a curve
and takes longer.

python benchmarks/screen_speed.py [--columns 200] [--rows 1000] [--given 10]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from spectralcit import ci_test, screen

SEED = 5_500_001  # by hand: of the table, and of which columns are looped over


def study(rows: int, columns: int, given: int, *, effects: float, seed: int) -> tuple[pa.Table, set[str]]:
    """A table of correlated columns that follow Z in curves, and the names of those that matter."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(rows, given))
    signal, common = rng.normal(size=(2, rows))
    true = set(range(round(effects * columns)))
    table = {f"z{k}": z[:, k] for k in range(given)}
    table["y"] = np.sin(z[:, 0]) + z[:, 1 % given] + signal + rng.normal(size=rows)
    for k in range(columns):
        x = z @ (0.4 * rng.normal(size=given)) + np.tanh(2 * z[:, k % given]) * (k % 2)
        x += 0.5 * common + rng.normal(size=rows)
        if k in true:
            x += (0.3, -0.3, 0.6)[k % 3] * (signal, signal, signal**2)[k % 3]
        table[f"x{k}"] = x
    return pa.table(table), {f"x{k}" for k in true}


def cpu_seconds(work: Callable[[], Any]) -> float:
    """CPU time of this process: the machine may be busy with something else."""
    started = time.process_time()
    work()
    return time.process_time() - started


def main() -> None:
    """Print seconds per column and how many times cheaper than the loop."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--columns", type=int, default=200)
    arguments.add_argument("--rows", type=int, default=1000)
    arguments.add_argument("--given", type=int, default=10)
    arguments.add_argument("--looped", type=int, default=24, help="columns of the loop and of full mode")
    chosen = arguments.parse_args()
    table, _ = study(chosen.rows, chosen.columns, chosen.given, effects=0.05, seed=SEED)
    given = [f"z{k}" for k in range(chosen.given)]
    names = [f"x{k}" for k in range(chosen.columns)]
    ci_test(names[0], "y", given, data=table, random_state=0)  # imports and caches

    drawn = np.random.default_rng(SEED).permutation(chosen.columns)[: chosen.looped]
    some = [names[k] for k in sorted(drawn)]

    def loop() -> None:
        for name in some:
            ci_test(name, "y", given, data=table, random_state=0)

    print(f"n = {chosen.rows}, {chosen.given} covariates, {chosen.columns} columns, 5 % of them matter")
    looped = cpu_seconds(loop) / len(some)
    print(f"loop over ci_test  {looped:.3f} s a column", flush=True)
    for mode, tested in (("full", some), ("two-stage", names)):
        seconds = cpu_seconds(partial(screen, table, tested, "y", given, mode=mode)) / len(tested)
        print(f"screen, {mode:<9}  {seconds:.3f} s a column, {looped / seconds:.1f} times less", flush=True)


if __name__ == "__main__":
    main()
