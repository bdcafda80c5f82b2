"""What NNLSCIT's public program does with vectors, and what ours does with the model in one column.

    python benchmarks/nnlscit_columns.py      # writes benchmarks/results/nnlscit_columns.csv

The public program stacks the columns of X, Y and Z, computes its statistic from all of them, and then takes
column 0 for X, column 1 for Y and as many of the next columns as Z has for Z when it draws its null. With one
column of X and of Y these are the right ones. With more, column 1 is the second of X, and neighbours are
those in what is left of X and the first columns of Y. The first part draws both kinds of nulls, the right one
and that one, on null samples of the nonsmooth model with 100 columns in X, Y and Z. The second part runs our
test on the same model in one column, the mean of Z plus noise, where no program can mistake the columns.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import csv
from pathlib import Path

import numpy as np

from spectralcit import ci_test
from spectralcit.datasets import get_dataset
from spectralcit.methods.nnlscit import NNLSCIT
from spectralcit.numeric.kernels import standardize
from spectralcit.numeric.neighbours import local_draw, neighbourhoods
from spectralcit.statistics.boosting import TreeBooster, bin_columns
from spectralcit.statistics.classifier_cmi import classifier_cmi

ROWS, COLUMNS = 500, 100  # the smallest sample of the paper's figure
SAMPLES, DRAWS = 12, 39  # the smallest p-value is 1 / 40
ONE_COLUMN_ROWS, ONE_COLUMN_SAMPLES = (500, 1500), 20
NOISE = 0.005  # of the model in one column
RESULT = Path(__file__).parent / "results" / "nnlscit_columns.csv"


def vectors(seed: int) -> list[float]:
    """Statistic of one sample, means of the two kinds of draws, and the two p-values."""
    rng = np.random.default_rng(seed)
    x, y, z = get_dataset("nonsmooth", d_z=COLUMNS).draw(ROWS, rng, False)
    observed, right = _draws(x, y, z, z, seed, rng)
    stacked = np.hstack([x, y, z])
    first, second, rest = stacked[:, :1], stacked[:, 1:2], stacked[:, 2:]
    _, mistaken = _draws(first, second, rest, rest[:, :COLUMNS], seed, rng)
    pvalues = [(1 + int(np.sum(draws >= observed))) / (DRAWS + 1) for draws in (right, mistaken)]
    return [observed, float(right.mean()), float(mistaken.mean()), *pvalues]


def _draws(
    x: np.ndarray, y: np.ndarray, z: np.ndarray, near: np.ndarray, seed: int, rng: np.random.Generator
) -> tuple[float, np.ndarray]:
    """The statistic, and its values with x exchanged between rows whose `near` are neighbours."""
    test = NNLSCIT()
    booster = TreeBooster(test.n_trees, test.learning_rate, test.max_depth)
    neighbours = neighbourhoods(standardize(near), test.n_neighbors, rng, sup=False)
    estimate, bins = classifier_cmi(y, z, booster, np.random.default_rng(seed)), bin_columns(x)
    return estimate(bins), np.array([estimate(bins[local_draw(neighbours, rng)]) for _ in range(DRAWS)])


def one_column(n: int, seed: int) -> float:
    """Our p-value on a null sample of the model in one column."""
    rng = np.random.default_rng([n, seed])
    z = rng.standard_normal((n, COLUMNS))
    x, y = (z.mean(axis=1) + NOISE * rng.standard_normal(n) for _ in range(2))
    waves = (np.where(np.abs(v) < 1, np.cos(2 * np.pi / v), v**power) for v, power in ((x, 2), (y, 3)))
    return ci_test(*waves, z, method="nnlscit", random_state=seed).pvalue


def main() -> None:
    head = ("sample", "statistic", "right draws", "program's draws", "p, right", "p, program's")
    rows = [[seed, *(f"{value:.4g}" for value in vectors(seed))] for seed in range(SAMPLES)]
    rows += [
        [f"one column, n = {n}, {seed}", "", "", "", f"{one_column(n, seed):.4g}", ""]
        for n in ONE_COLUMN_ROWS
        for seed in range(ONE_COLUMN_SAMPLES)
    ]
    with RESULT.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(head)
        table.writerows(rows)


if __name__ == "__main__":
    main()
