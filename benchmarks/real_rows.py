"""Rows that are not independent or do not count alike: error rate and power with the argument and without.

Groups in X, Y and Z; autoregressive X, Y and Z; sampling weights; every row twice. Every other data set is
linear in Z, every other curved. P-values go to a file as they come, and a run that is started again goes on
where it was: seven CPU minutes for the first line, three for the second::

    python benchmarks/real_rows.py run --kinds level --replicates 200
    python benchmarks/real_rows.py run --kinds ignored,power,worth --replicates 60
    python benchmarks/real_rows.py table
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import signal, stats

from spectralcit.base import make_test

RESULTS = Path(__file__).parent / "results" / "real_rows_pvalues.csv"  # beside the other studies
FIRST_SEED = 6_100_000  # nothing was tuned on these
GROUP_ROWS, SERIES_ROWS = 10, 400  # rows of a group, of a series and of a weighted sample

Data = tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]
Noise = Callable[[np.random.Generator], np.ndarray]


def variables(rng: np.random.Generator, noise: Noise, curved: bool, effect: float) -> tuple[np.ndarray, ...]:
    """X, Y and Z whose noises all have one structure; Y follows the noise of X by `effect`."""
    z, of_x, of_y = noise(rng), noise(rng), noise(rng)
    if curved:
        return np.sin(2 * z) + 0.7 * of_x, 0.5 * z**2 + 0.7 * (of_y + effect * of_x), z
    return z + of_x, z + of_y + effect * of_x, z


def grouped(rng: np.random.Generator, curved: bool, effect: float, *, count: int, share: float) -> Data:
    """Groups of ten rows; `share` of every variance lies between groups."""
    groups = np.repeat(np.arange(count), GROUP_ROWS)

    def noise(rng: np.random.Generator) -> np.ndarray:
        between, within = rng.standard_normal(count)[groups], rng.standard_normal(len(groups))
        return np.sqrt(share) * between + np.sqrt(1 - share) * within

    x, y, z = variables(rng, noise, curved, effect)
    return x, y, z, {"groups": groups}


def series(rng: np.random.Generator, curved: bool, effect: float, *, memory: float) -> Data:
    """Three autoregressive series of one memory."""

    def noise(rng: np.random.Generator) -> np.ndarray:
        start = 200
        shocks = rng.standard_normal(SERIES_ROWS + start) * np.sqrt(1 - memory**2)
        return signal.lfilter([1.0], [1.0, -memory], shocks)[start:]

    x, y, z = variables(rng, noise, curved, effect)
    return x, y, z, {"time": True}


def weighted(rng: np.random.Generator, curved: bool, effect: float, *, variation: float, by: str) -> Data:
    """A sample in which rows are the rarer the smaller `by` is; weights of that variation undo it."""
    many = 60 * SERIES_ROWS
    x, y, z = variables(rng, lambda rng: rng.standard_normal(many), curved, effect)
    score = stats.zscore({"z": z, "x": x}[by])
    weights = np.exp(-np.sqrt(np.log1p(variation**2)) * np.clip(score, -3, 3))
    kept = rng.choice(many, SERIES_ROWS, replace=False, p=1 / weights / np.sum(1 / weights))
    return x[kept], y[kept], z[kept], {"weights": weights[kept]}


def twice(rng: np.random.Generator, curved: bool, effect: float) -> Data:
    """Every row of 200 twice."""
    rows = np.repeat(np.arange(SERIES_ROWS // 2), 2)
    x, y, z = variables(rng, lambda rng: rng.standard_normal(SERIES_ROWS // 2), curved, effect)
    return x[rows], y[rows], z[rows], {"groups": rows}


def independent(rng: np.random.Generator, curved: bool, effect: float, *, rows: int) -> Data:
    """As many independent rows as a design is worth."""
    return *variables(rng, lambda rng: rng.standard_normal(rows), curved, effect), {}  # type: ignore[return-value]


LEVEL: dict[str, tuple[Callable[..., Data], dict[str, Any]]] = {  # true nulls
    **{
        f"{count} groups, correlation {share}": (grouped, {"count": count, "share": share})
        for count in (10, 40, 100)
        for share in (0.1, 0.3, 0.7)
    },
    **{f"series, memory {memory}": (series, {"memory": memory}) for memory in (0.3, 0.6, 0.9)},
    "weights by Z, variation 1": (weighted, {"variation": 1.0, "by": "z"}),
    "weights by Z, variation 2": (weighted, {"variation": 2.0, "by": "z"}),
    "weights by X, variation 1": (weighted, {"variation": 1.0, "by": "x"}),
    "weights by X, variation 2": (weighted, {"variation": 2.0, "by": "x"}),
    "every row twice": (twice, {}),
}
# Designs with the number of independent rows that they are worth, and a effect found there in about 7 of 10.
POWER: dict[str, tuple[Callable[..., Data], dict[str, Any], int, float]] = {
    "40 groups, correlation 0.3": (grouped, {"count": 40, "share": 0.3}, 221, 0.18),
    "100 groups, correlation 0.1": (grouped, {"count": 100, "share": 0.1}, 917, 0.09),
    "series, memory 0.6": (series, {"memory": 0.6}, 188, 0.2),
    "weights by Z, variation 1": (weighted, {"variation": 1.0, "by": "z"}, 200, 0.19),
    "every row twice": (twice, {}, 200, 0.19),
}


def cells(kinds: list[str]) -> dict[tuple[str, str], Callable[[np.random.Generator, bool], Data]]:
    """All cells of some kinds: "level" with the argument, "ignored" without, "power" and "worth"."""
    found: dict[tuple[str, str], Callable[[np.random.Generator, bool], Data]] = {}
    for name, (make, options) in LEVEL.items():
        found["level", name] = lambda rng, curved, f=make, o=options: f(rng, curved, 0.0, **o)
        found["ignored", name] = lambda rng, curved, f=make, o=options: (*f(rng, curved, 0.0, **o)[:3], {})
    for name, (make, options, rows, effect) in POWER.items():
        found["power", name] = lambda rng, curved, f=make, o=options, e=effect: f(rng, curved, e, **o)
        found["worth", name] = lambda rng, curved, n=rows, e=effect: independent(rng, curved, e, rows=n)
    return {key: cell for key, cell in found.items() if key[0] in kinds}


def read() -> dict[tuple[str, str, str], dict[int, float]]:
    """P-values so far, by test, kind and cell, then by seed."""
    known: dict[tuple[str, str, str], dict[int, float]] = defaultdict(dict)
    if RESULTS.exists():
        with RESULTS.open(newline="", encoding="utf-8") as file:
            for test, kind, cell, seed, pvalue in csv.reader(file):
                known[test, kind, cell][int(seed)] = float(pvalue)
    return known


def run(test: str, kinds: list[str], replicates: int) -> None:
    """Compute what is missing, replicate by replicate, so that all cells grow together."""
    known = read()
    chosen = make_test(test, random_state=0)
    for seed in range(FIRST_SEED, FIRST_SEED + replicates):
        for (kind, name), cell in cells(kinds).items():
            if seed in known[test, kind, name]:
                continue
            x, y, z, rows = cell(np.random.default_rng(seed), seed % 2 == 1)
            pvalue = chosen.test(x, y, z, **rows).pvalue
            with RESULTS.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow([test, kind, name, seed, f"{pvalue:.6g}"])


def table(test: str, level: float = 0.05) -> str:
    """Shares of rejections with their numbers, in Markdown."""

    def share(kind: str, cell: str) -> str:
        pvalues = np.array(list(known[test, kind, cell].values()))
        return f"{np.mean(pvalues <= level):.3f} ({len(pvalues)})" if len(pvalues) else "–"

    known = read()
    lines = ["| true null | argument ignored | with the argument |", "|---|---|---|"]
    lines += [f"| {name} | {share('ignored', name)} | {share('level', name)} |" for name in LEVEL]
    lines += ["", "| dependence | with the argument | independent rows of the same worth |", "|---|---|---|"]
    lines += [f"| {name} | {share('power', name)} | {share('worth', name)} |" for name in POWER]
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("--test", default="spectral")
    parser.add_argument("--kinds", default="level,ignored,power,worth")
    parser.add_argument("--replicates", type=int, default=200)
    asked = parser.parse_args()
    if asked.command == "run":
        run(asked.test, asked.kinds.split(","), asked.replicates)
    else:
        print(table(asked.test))
