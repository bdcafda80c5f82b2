"""Far tail of the default's p-values: null draws through its own null distributions, and whole tests.

    python benchmarks/tails.py --jobs 2      # resumes, appends to the file

Whole tests are too slow for a million null data sets, so there are two kinds of nulls.

*Whole tests*, a hundred thousand data sets each as far as time allows: few rows, where tails are heaviest.

*Signs*, a million draws: for one data set of each null, random signs in front of the rows make block
statistics of which no dependence can be known, and these meet the fitted tails of the blocks, their
combination, and its knee, as an observed statistic does. Each batch has new signs on both sides: 1000 for
the null distribution, as in a test, and 20,000 that are judged by it. Two things it cannot see: whether signs
imitate data, and that data have normal tails where signs in front of fixed rows have lighter ones.

Results, one line for each null and batch, are in benchmarks/results/tails.csv.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from appended import append_row, rows_of
from joblib import Parallel, delayed

from spectralcit import ci_test
from spectralcit.inputs import prepare
from spectralcit.null.bootstrap import Multipliers
from spectralcit.null.joint import JointNull
from spectralcit.spectral.block_null import evaluate_block
from spectralcit.spectral.blocks import BLOCK_WEIGHTS, FeatureBlock, feature_blocks
from spectralcit.spectral.sides import dictionary_sides, random_streams

RESULTS = Path(__file__).parent / "results" / "tails.csv"  # committed
LEVELS = (0.05, 0.01, 1e-3, 1e-4, 1e-5)
N_SIGNS = 20_000  # of a batch: they take 50 MB
N_TESTS = 1000  # whole tests of a batch: half a minute
N_REFERENCE = 1000  # sign vectors of a test

Sample = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def linear(rng: np.random.Generator) -> Sample:
    z = rng.standard_normal((300, 3))
    own, other = rng.standard_normal((2, 300))
    return z[:, 0] + own, z.sum(axis=1) + other, z


def skewed(rng: np.random.Generator) -> Sample:
    z = rng.standard_normal((200, 1))
    own, other = rng.exponential(size=(2, 200))
    return np.sin(2 * z[:, 0]) + own, z[:, 0] ** 2 + other, z


def few_rows(rng: np.random.Generator) -> Sample:
    x, y = rng.standard_normal((2, 60))
    return x, y, None


def few_rows_confounded(rng: np.random.Generator) -> Sample:
    z = rng.standard_normal((100, 1))
    own, other = rng.standard_normal((2, 100))
    return z[:, 0] + own, z[:, 0] + other, z


# The data, and how many batches are planned.
SIGNS: dict[str, tuple[Callable[..., Sample], int]] = {
    "signs: linear, n = 300, d_Z = 3": (linear, 50),
    "signs: skewed, n = 200, d_Z = 1": (skewed, 50),
}
WHOLE: dict[str, tuple[Callable[..., Sample], int]] = {
    "whole tests: normal, n = 60, no Z": (few_rows, 200),
    "whole tests: linear, n = 100, d_Z = 1": (few_rows_confounded, 20),
}


@cache
def blocks_of(null: str) -> list[FeatureBlock]:
    data = prepare(*SIGNS[null][0](np.random.default_rng(1)))
    rng, map_seed, _, _ = random_streams(0)
    sides = dictionary_sides(data, "kernel_ridge", rng, map_seed)
    return feature_blocks(sides.x, sides.y, sides.weights)


def of_signs(null: str, batch: int) -> np.ndarray:
    """Return p-values of statistics under random signs."""
    blocks = blocks_of(null)
    rng = np.random.default_rng([2, batch])
    n = len(blocks[0].left)
    reference, judged = Multipliers(n, N_REFERENCE, rng), Multipliers(n, N_SIGNS, rng)
    shares = np.array([BLOCK_WEIGHTS[block.name] for block in blocks])
    joint = JointNull([evaluate_block(block, reference)[1] for block in blocks], shares)
    statistics = [evaluate_block(block, judged)[1].draws for block in blocks]
    return joint.sf(joint.combined(joint.pvalues(statistics)))


def of_tests(null: str, batch: int) -> np.ndarray:
    """Return p-values of whole tests, each on data of its own."""
    rng = np.random.default_rng([3, batch])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array([ci_test(*WHOLE[null][0](rng), random_state=k).pvalue for k in range(N_TESTS)])


def row_of(null: str, batch: int) -> dict[str, str | int]:
    pvalues = (of_signs if null in SIGNS else of_tests)(null, batch)
    counts = {f"p<={level:g}": int(np.count_nonzero(pvalues <= level)) for level in LEVELS}
    return {"null": null, "batch": batch, "draws": len(pvalues), **counts}


def report() -> None:
    for null in (*SIGNS, *WHOLE):
        rows = [row for row in rows_of(RESULTS) if row["null"] == null]
        draws = sum(int(row["draws"]) for row in rows)
        print(f"{null}: {draws} draws")
        for level in LEVELS:
            found = sum(int(row[f"p<={level:g}"]) for row in rows)
            print(
                f"  p <= {level:<7g} {found:8d}   rate over nominal {found / max(draws * level, 1e-300):.2f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    done = {(row["null"], int(row["batch"])) for row in rows_of(RESULTS)}
    planned = [(null, b) for null, (_, batches) in (WHOLE | SIGNS).items() for b in range(batches)]
    planned.sort(key=lambda one: one[1])  # all advance together
    todo = (delayed(row_of)(null, batch) for null, batch in planned if (null, batch) not in done)
    for row in Parallel(n_jobs=options.jobs, return_as="generator_unordered")(todo):
        append_row(RESULTS, row)
    report()


if __name__ == "__main__":
    main()
