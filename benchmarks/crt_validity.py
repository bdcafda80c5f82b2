"""Type I error of the conditional randomisation and permutation tests when the true distribution is given.

Writes ``results/crt_validity.csv``: 500 replicates of a null with strong, non-linear confounding, for three
statistics that do not remove z themselves. With the true sampler the error must be the level up to
Monte-Carlo error. 131 CPU seconds on a busy machine, most of them for the permutation test.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import csv
import math
import time
from pathlib import Path

import numpy as np

from spectralcit import ci_test

# Committed; docs/tests/crt.md and cpt.md quote it.
RESULTS = Path(__file__).parent / "results" / "crt_validity.csv"
# A line per test, statistic and level.
COLUMNS = ["test", "statistic", "n", "replicates", "level", "type_1_error", "standard_error", "cpu_seconds"]
STATISTICS = (
    "correlation",
    "distance-correlation",
    "mutual-information",
)  # those that do not remove z themselves
LEVELS = (0.05, 0.1)  # both multiples of 1 / (N_DRAWS + 1), the steps of the p-value
REPLICATES = 500  # a standard error of 0.01 at level 0.05
N = 50  # by hand: exactness does not need rows
N_DRAWS = 39  # few, because exactness does not need draws either
FIRST_SEED = 300_000  # no seed of the test suite


class Truth:
    """x given z is normal around the sine of z, with a spread that grows with z."""

    def parameters(self, z):
        return np.sin(2 * z[:, 0]), 0.3 + 0.3 * np.abs(z[:, 0])

    def sample(self, z, rng):
        mean, spread = self.parameters(z)
        return mean + spread * rng.normal(size=len(z))

    def log_density(self, x, z):
        mean, spread = self.parameters(z)
        return -0.5 * ((x - mean) / spread) ** 2 - np.log(spread)


def pvalue(test: str, statistic: str, seed: int) -> float:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(N, 1))
    x = Truth().sample(z, rng)
    y = np.sin(2 * z[:, 0]) + 0.5 * rng.normal(size=N)
    draws = {"n_draws": N_DRAWS} if test == "crt" else {"n_permutations": N_DRAWS}
    # All the draws: the p-value is then exactly uniform on its grid, and both levels can be read from it.
    return ci_test(
        x,
        y,
        z,
        method=test,
        sampler=Truth(),
        statistic=statistic,
        early_stop=None,
        random_state=seed,
        **draws,
    ).pvalue


def main() -> None:
    rows = []
    for test in ("crt", "cpt"):
        for statistic in STATISTICS:
            started = time.process_time()
            pvalues = np.array([pvalue(test, statistic, FIRST_SEED + i) for i in range(REPLICATES)])
            seconds = time.process_time() - started
            for level in LEVELS:
                error = math.sqrt(level * (1 - level) / REPLICATES)
                rate = float((pvalues <= level).mean())
                rows.append([test, statistic, N, REPLICATES, level, rate, round(error, 4), round(seconds, 1)])
                print(*rows[-1])
    temporary = RESULTS.with_suffix(".tmp")
    with temporary.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    temporary.replace(RESULTS)


if __name__ == "__main__":
    main()
