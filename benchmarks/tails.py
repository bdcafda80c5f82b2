"""Far tail of the default's p-values: null draws through its own null distributions.

    python benchmarks/tails.py --batches 50      # a million draws of each null; resumes, appends to the file

Full tests are too slow for a million null data sets. What decides the far tail can be drawn quickly: for one
data set of each null, random signs in front of the rows make block statistics of which no dependence can be
known, and these meet the fitted tails of the blocks, their combination, and its knee, as an observed
statistic does. Each batch has new signs on both sides: 1000 for the null distribution, as in a test, and
20,000 that are judged by it. What this cannot see is whether signs imitate data; rates at 0.05 and 0.01 of
whole tests are under docs/calibration.md.

Results, one line for each null and batch, are in benchmarks/results/tails.csv.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
from appended import rows_of

from spectralcit.inputs import prepare
from spectralcit.null.bootstrap import JointNull, Multipliers
from spectralcit.spectral.blocks import BLOCK_WEIGHTS, FeatureBlock, evaluate_block, feature_blocks
from spectralcit.spectral.sides import dictionary_sides, random_streams

RESULTS = Path(__file__).parent / "results" / "tails.csv"  # committed
LEVELS = (0.05, 0.01, 1e-3, 1e-4, 1e-5)
N_DRAWS = 20_000  # a batch: its signs take 50 MB
N_REFERENCE = 1000  # sign vectors of a test


def linear(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    z = rng.standard_normal((300, 3))
    own, other = rng.standard_normal((2, 300))
    return z[:, 0] + own, z.sum(axis=1) + other, z


def skewed(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    z = rng.standard_normal((200, 1))
    own, other = rng.exponential(size=(2, 200))
    return np.sin(2 * z[:, 0]) + own, z[:, 0] ** 2 + other, z


NULLS: dict[str, Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]] = {
    "linear, n = 300, d_Z = 3": linear,
    "skewed, n = 200, d_Z = 1": skewed,
}


def blocks_of(null: str) -> list[FeatureBlock]:
    data = prepare(*NULLS[null](np.random.default_rng(1)))
    rng, map_seed, _, _ = random_streams(0)
    sides = dictionary_sides(data, "kernel_ridge", rng, map_seed)
    return feature_blocks(sides.x, sides.y, sides.weights)


def rejections(blocks: list[FeatureBlock], seed: int) -> list[int]:
    """Count the draws with a p-value at or below each level."""
    rng = np.random.default_rng([2, seed])
    n = len(blocks[0].left)
    reference, judged = Multipliers(n, N_REFERENCE, rng), Multipliers(n, N_DRAWS, rng)
    shares = np.array([BLOCK_WEIGHTS[block.name] for block in blocks])
    joint = JointNull([evaluate_block(block, reference)[1] for block in blocks], shares)
    statistics = [evaluate_block(block, judged)[1].draws for block in blocks]
    pvalues = joint.sf(joint.combined(joint.pvalues(statistics)))
    return [int(np.count_nonzero(pvalues <= level)) for level in LEVELS]


def append(null: str, batch: int, counts: list[int]) -> None:
    fresh = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if fresh:
            writer.writerow(["null", "batch", "draws", *(f"p<={level:g}" for level in LEVELS)])
        writer.writerow([null, batch, N_DRAWS, *counts])


def report() -> None:
    for null in NULLS:
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
    parser.add_argument("--batches", type=int, default=50, help=f"of {N_DRAWS} draws, for each null")
    options = parser.parse_args()
    done = {(row["null"], int(row["batch"])) for row in rows_of(RESULTS)}
    for null in NULLS:
        blocks = blocks_of(null)
        for batch in range(options.batches):
            if (null, batch) not in done:
                append(null, batch, rejections(blocks, batch))
    report()


if __name__ == "__main__":
    main()
