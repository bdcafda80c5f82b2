"""Why a local sampling test can break down with vectors: a null of one column beside a statistic of many.

    python benchmarks/nnlscit_columns.py      # writes benchmarks/results/nnlscit_columns.csv

Samples of the nonsmooth model, null hypothesis, 100 columns in X, Y and Z. The statistic of `"nnlscit"` is
computed from all columns and compared with its draws under local sampling twice: with all columns in the
draws too, as our test does, and with one column of X and of Y in them, as a program written for single
columns does when it is given vectors.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from spectralcit.datasets import get_dataset
from spectralcit.methods.nnlscit import NNLSCIT
from spectralcit.numeric.kernels import standardize
from spectralcit.numeric.neighbours import local_draw, neighbourhoods
from spectralcit.statistics.boosting import TreeBooster, bin_columns
from spectralcit.statistics.classifier_cmi import classifier_cmi

N, COLUMNS = 500, 100  # the smallest sample of the paper's figure
SAMPLES, DRAWS = 6, 39  # the smallest p-value is 1 / 40


def pvalues(seed: int) -> tuple[float, float, float, float, float]:
    """Statistic, means of the two kinds of draws, and the two p-values of one sample."""
    rng = np.random.default_rng(seed)
    x, y, z = get_dataset("nonsmooth", d_z=COLUMNS).draw(N, rng, False)
    test = NNLSCIT()
    booster = TreeBooster(test.n_trees, test.learning_rate, test.max_depth)
    neighbours = neighbourhoods(standardize(z), test.n_neighbors, rng, sup=False)
    estimate = classifier_cmi(y, z, booster, np.random.default_rng(seed))
    estimate_one = classifier_cmi(y[:, :1], z, booster, np.random.default_rng(seed))
    bins = bin_columns(x)
    observed = estimate(bins)
    chosen = [local_draw(neighbours, rng) for _ in range(DRAWS)]
    all_columns = np.array([estimate(bins[rows]) for rows in chosen])
    one_column = np.array([estimate_one(bins[rows, :1]) for rows in chosen])

    def pvalue(draws: np.ndarray) -> float:
        return (1 + int(np.sum(draws >= observed))) / (DRAWS + 1)

    means = float(all_columns.mean()), float(one_column.mean())
    return observed, *means, pvalue(all_columns), pvalue(one_column)


def main() -> None:
    path = Path(__file__).parent / "results" / "nnlscit_columns.csv"
    rows = []
    for seed in range(SAMPLES):
        rows.append([seed, *(f"{value:.4g}" for value in pvalues(seed))])
        print(*rows[-1], flush=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(
            (
                "sample",
                "statistic",
                "draws, all columns",
                "draws, one column",
                "p, all columns",
                "p, one column",
            )
        )
        table.writerows(rows)


if __name__ == "__main__":
    main()
