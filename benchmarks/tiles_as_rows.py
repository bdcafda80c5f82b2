"""Tiles of a patient as rows: rejections when they count as independent, as groups, and as one mean.

Simulated slides go the whole way: regions of known stains that differ from slide to slide, tiles, Macenko's
normalisation, a random encoder, a table. X are three scores of a patient, Y is 0 or 1. P-values go to a file
as they come, and a run that is started again goes on where it was: nine CPU minutes for::

    python benchmarks/tiles_as_rows.py run --replicates 100
    python benchmarks/tiles_as_rows.py table
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from spectralcit import ci_test
from spectralcit.imaging import RandomEncoder, Stains, TileTable, simulate_region, tile_table

RESULTS = Path(__file__).parent / "results" / "tiles_as_rows.csv"  # beside the other studies
FIRST_SEED = 8_200_000  # nothing was tuned on these
PATIENTS, TILE, FEATURES = 60, 16, 6  # eight tiles a patient; small, so that slides are made by the thousand
OFTEN = 4  # true nulls are run so many times as often as the other designs
ROWS_EVERY = 5  # tiles as independent rows are slow, and their rejections need no fine count
WAYS = ("tiles as rows", "tiles with groups=", "means of patients")
# What holds by construction, and how strongly X speaks about Y beside the image.
DESIGNS = {
    "null: the image tells Y, X is noise": {"x_follows": 0.0, "y_follows": 1.0, "effect": 0.0},
    "null: the image tells X, Y is noise": {"x_follows": 1.0, "y_follows": 0.0, "effect": 0.0},
    "alternative: X tells Y": {"x_follows": 0.0, "y_follows": 1.0, "effect": 1.5},
    "hidden trait: tells X and Y, the image tells it roughly": {
        "x_follows": 1.0,
        "y_follows": 1.0,
        "effect": 0.0,
    },
}


def slides(rng: np.random.Generator, trait: np.ndarray) -> TileTable:
    """A region per patient, in stains of its own and with more nuclei the larger the trait; its features."""
    regions = []
    for value in trait:
        vectors = np.array([[0.6, 0.7, 0.35], [0.15, 0.9, 0.4]]) + rng.uniform(0, 0.1, (2, 3))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        stains = Stains(vectors, np.array([1.6, 1.4]) * rng.uniform(0.8, 1.2, 2))
        share = 0.25 * np.exp(0.5 * value)
        regions.append(
            simulate_region(rng, height=2 * TILE, width=4 * TILE, nuclei=share, radius=2.0, stains=stains)
        )
    return tile_table(regions, range(len(trait)), RandomEncoder(FEATURES), size=TILE)


def draw(rng: np.random.Generator, design: dict[str, float]) -> tuple[np.ndarray, np.ndarray, TileTable]:
    """X and Y of each patient, and the features of the patients' tiles."""
    trait = rng.standard_normal(PATIENTS)
    x = rng.standard_normal((PATIENTS, 3)) + design["x_follows"] * trait[:, np.newaxis]
    logit = 1.5 * design["y_follows"] * trait + design["effect"] * x[:, 0]
    y = (rng.uniform(size=PATIENTS) < 1 / (1 + np.exp(-logit))).astype(float)
    return x, y, slides(rng, trait)


def answers(
    x: np.ndarray, y: np.ndarray, table: TileTable, seed: int, as_rows: bool
) -> Iterator[tuple[str, Any]]:
    """The default test in the three ways."""
    whose = table.patients
    if as_rows:
        yield WAYS[0], ci_test(x[whose], y[whose], table.features, random_state=seed)
    yield WAYS[1], ci_test(x[whose], y[whose], table.features, groups=whose, random_state=seed)
    yield WAYS[2], ci_test(x[table.patient_names], y[table.patient_names], table.means(), random_state=seed)


def run(replicates: int) -> None:
    done = {(row["design"], int(row["replicate"])) for row in stored()}
    new = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(["design", "replicate", "way", "pvalue", "names_groups"])
        for replicate in range(replicates):
            for place, (name, design) in enumerate(DESIGNS.items()):
                seldom = not name.startswith("null") and replicate * OFTEN >= replicates
                if (name, replicate) in done or seldom:
                    continue
                seed = FIRST_SEED + 10_000 * place + replicate
                x, y, table = draw(np.random.default_rng(seed), design)
                for way, result in answers(x, y, table, seed, replicate % ROWS_EVERY == 0):
                    noticed = any("groups" in text for text in result.warnings)
                    writer.writerow([name, replicate, way, f"{result.pvalue:.6g}", int(noticed)])
                file.flush()


def stored() -> list[dict[str, str]]:
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as file:
        return list(csv.DictReader(file))


def show() -> None:
    """Rejections at level 0.05 as a table in Markdown, and how often the test asked for groups by itself."""
    pvalues, noticed = defaultdict(list), defaultdict(list)
    for row in stored():
        pvalues[row["design"], row["way"]].append(float(row["pvalue"]))
        noticed[row["way"]].append(int(row["names_groups"]))
    print(f"| rejected at level 0.05 | {' | '.join(WAYS)} |\n|---|{'---|' * len(WAYS)}")
    for name in DESIGNS:
        rates = [np.array(pvalues[name, way]) < 0.05 for way in WAYS]
        print(f"| {name} | {' | '.join(f'{rate.sum()} of {len(rate)}' for rate in rates)} |")
    share = np.mean(noticed[WAYS[0]])
    print(
        f"\nTiles as rows: a warning that names `groups=` in {share:.0%} of {len(noticed[WAYS[0]])} answers."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--replicates", type=int, default=100)
    chosen = parser.parse_args()
    run(chosen.replicates) if chosen.what == "run" else show()
