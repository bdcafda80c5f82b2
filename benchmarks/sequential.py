"""Error rate of `SequentialCI` at 20 looks, and its power at twice the rows of the default test.

``python benchmarks/sequential.py run`` adds what is missing to benchmarks/results/sequential.csv and can be
stopped at any time; ``... table`` prints the rates. Seeds begin at 430000.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from appended import append_row, rows_of

from spectralcit import SequentialCI, ci_test

STORE = Path(__file__).parent / "results" / "sequential.csv"
FIRST_SEED = 430_000
LEVEL = 0.05
LOOKS = 20

# What Z, of three columns, does to X and to Y.
CONFOUNDING: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda z: z @ [1.0, -0.7, 0.3],
    "sine": lambda z: 1.5 * np.sin(2 * z[:, 0]),
    "square": lambda z: 1.2 * z[:, 0] ** 2,
    "product": lambda z: z[:, 0] * z[:, 1],
}


@dataclass(frozen=True)
class Design:
    """One cell of the study."""

    confounding: str
    n: int  # rows of the fixed test; the sequential one has as many under the null hypothesis, else twice
    effect: str = ""  # linear, square, or changing with z
    size: float = 0.0
    replicates: int = 100

    @property
    def name(self) -> str:
        """Return the design in a few words."""
        return f"{self.confounding}, n = {self.n}" + (f", {self.effect} {self.size:g}" if self.effect else "")

    def draw(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return x, y and z, twice as many rows as the fixed test has."""
        rng = np.random.default_rng(seed)
        rows = 2 * self.n if self.effect else self.n
        z = rng.normal(size=(rows, 3))
        u, v = rng.normal(size=(2, rows))
        shapes = {"linear": u, "square": (u**2 - 1) / np.sqrt(2), "changing": u * z[:, 0]}
        explained = CONFOUNDING[self.confounding](z)
        return explained + u, explained + self.size * shapes.get(self.effect, 0 * u) + v, z


DESIGNS = (
    *(Design(name, 400) for name in CONFOUNDING),
    Design("linear", 400, "linear", 0.14, 50),
    Design("sine", 200, "linear", 0.2, 50),
    Design("linear", 400, "square", 0.2, 50),
    Design("linear", 400, "changing", 0.2, 50),
)


def run() -> None:
    """Add what the store does not have yet, one data set of every design after the other."""
    have = {(row["design"], row["method"], row["seed"]) for row in rows_of(STORE)}
    for k in range(max(design.replicates for design in DESIGNS)):
        for design in DESIGNS:
            for method in ("sequential", "fixed") if design.effect else ("sequential",):
                seed = FIRST_SEED + k
                if k < design.replicates and (design.name, method, str(seed)) not in have:
                    p = f"{pvalue(design, method, seed):.6g}"
                    append_row(STORE, {"design": design.name, "method": method, "seed": seed, "pvalue": p})


def pvalue(design: Design, method: str, seed: int) -> float:
    """Return the p-value of the default on the first n rows, or after all looks on all rows."""
    x, y, z = design.draw(seed)
    if method == "fixed":
        return ci_test(x[: design.n], y[: design.n], z[: design.n], random_state=seed).pvalue
    test = SequentialCI()
    for rows in np.array_split(np.arange(len(x)), LOOKS):
        test.update(x[rows], y[rows], z[rows])
    return test.pvalue


def table() -> str:
    """Return the rejections in each design, as Markdown."""
    found: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for row in rows_of(STORE):
        found[row["design"], row["method"]].append(float(row["pvalue"]) <= LEVEL)
    lines = ["| design | `SequentialCI`, 20 looks | the default, once, half of the rows |", "|---|---|---|"]
    for design in DESIGNS:
        cells = [found.get((design.name, method), []) for method in ("sequential", "fixed")]
        shown = [f"{sum(cell)} of {len(cell)}" if cell else "–" for cell in cells]
        lines.append(
            f"| {design.name}{'' if design.effect else ', no dependence'} | " + " | ".join(shown) + " |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    if parser.parse_args().what == "run":
        run()
    print(table())
