"""How often the residual pictures of a report raise a false alarm, and whether they see a Z that was left in.

Writes ``results/residual_pictures.csv``, one line per data set; a run that was stopped goes on where it was.
Four kinds of data with X independent of Y given Z, one in which they are tied (the pictures ask about Z, so
their bands must hold there too), and one in which a line was removed where Z acts through a wave. No test is
run, only what a report draws: about ten CPU minutes. docs/reports.md
quotes the table that is printed at the end.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from spectralcit import prepare
from spectralcit.spectral.pair import pair_of_sides
from spectralcit.spectral.sides import dictionary_sides, random_streams

RESULTS = Path(__file__).parent / "results" / "residual_pictures.csv"
REPLICATES = 200  # the acceptance's
FIRST_SEED = 780_000  # nothing was tuned on these
N = 300
FIELDS = (
    "kind",
    "seed",
    "p_x",
    "along_x",
    "left_x",
    "p_y",
    "along_y",
    "left_y",
    "p_partial",
    "before_x",
    "before_y",
)
CONTROL = "a wave, of which a line was removed"

Draw = Callable[[np.random.Generator], Any]


def linear(rng: np.random.Generator) -> Any:
    z, x, y = rng.normal(size=(3, N))
    return z + x, y - z, z


def uneven(rng: np.random.Generator) -> Any:
    """A wave and a parabola, with a spread that changes with Z and heavy tails."""
    z = rng.uniform(-2, 2, size=N)
    spread = 0.4 + 0.4 * np.abs(z)
    return np.sin(2 * z) + spread * rng.normal(size=N), z**2 + spread * rng.standard_t(4, size=N), z


def mixed(rng: np.random.Generator) -> Any:
    """Three numbers, one product of two, and a category."""
    z = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "c"])
    z["site"] = rng.choice(["north", "east", "south", "west"], size=N)
    shift = z["site"].map({"north": 0.0, "east": 0.8, "south": -0.8, "west": 0.3})
    x = np.tanh(z["a"]) + shift + rng.normal(size=N)
    return x.to_numpy(), (z["a"] * z["b"] + z["c"] - shift + rng.normal(size=N)).to_numpy(), z


def skewed(rng: np.random.Generator) -> Any:
    """A lognormal column and a yes or no, two columns of Z."""
    z = rng.normal(size=(N, 2))
    x = np.exp(0.7 * z[:, 0] + 0.7 * rng.normal(size=N))
    return x, (rng.uniform(size=N) < 1 / (1 + np.exp(-1.5 * z[:, 0] - z[:, 1]))).astype(float), z


def tied(rng: np.random.Generator) -> Any:
    z = rng.normal(size=(N, 2))
    x = np.sin(2 * z[:, 0]) + rng.normal(size=N)
    return x, z[:, 0] + z[:, 1] ** 2 + x + rng.normal(size=N), z


def wave(rng: np.random.Generator) -> Any:
    z = rng.uniform(-2, 2, size=N)
    return np.sin(2 * z) + rng.normal(size=N), np.cos(2 * z) + rng.normal(size=N), z


KINDS: dict[str, Draw] = {
    "lines": linear,
    "curves, uneven spread": uneven,
    "numbers, a product and a category": mixed,
    "skewed, yes or no": skewed,
    "tied given Z": tied,
    CONTROL: wave,
}


def one(kind: str, seed: int) -> dict[str, Any]:
    data = prepare(*KINDS[kind](np.random.default_rng(seed)))
    rng, map_seed, _, _ = random_streams(0)
    nuisance = LinearRegression() if kind == CONTROL else "kernel_ridge"
    sides = dictionary_sides(data, nuisance, rng, map_seed)
    pair = pair_of_sides(sides, data, None)
    row: dict[str, Any] = {"kind": kind, "seed": seed}
    for role in ("x", "y"):
        found = getattr(pair, role).remainder
        row |= {
            f"p_{role}": round(found.pvalue, 5),
            f"along_{role}": found.along,
            f"left_{role}": int(found.leaves_band),
        }
        row[f"before_{role}"] = round(slope_t(getattr(sides, role).residuals), 3)
    assert pair.partial is not None
    return {**row, "p_partial": round(pair.partial.pvalue, 5)}


def slope_t(residuals: Any) -> float:
    """What the former picture showed: t of residuals on leave-one-out predictions, which are tied to them."""
    across = (residuals.location.targets - residuals.location.out_of_sample)[:, 0]
    r = float(np.corrcoef(across, residuals.values[:, 0])[0, 1])
    return r * float(np.sqrt((len(across) - 2) / max(1 - r**2, 1e-12)))


def main() -> None:
    done = set()
    if RESULTS.exists():
        done = {(row["kind"], int(row["seed"])) for row in csv.DictReader(RESULTS.open(encoding="utf-8"))}
    with RESULTS.open("a", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, FIELDS)
        if not done:
            out.writeheader()
        for k in range(REPLICATES):
            for place, kind in enumerate(KINDS):
                seed = FIRST_SEED + 1000 * place + k
                if (kind, seed) not in done:
                    out.writerow(one(kind, seed))
                    file.flush()
    table = pd.read_csv(RESULTS)
    table["either"] = table.left_x | table.left_y
    table["before"] = (table[["before_x", "before_y"]].abs() > 2).any(axis=1)
    shares = table.groupby("kind")[["left_x", "left_y", "either", "before"]].mean().loc[list(KINDS)]
    shares["largest |t| before"] = (
        table.groupby("kind")[["before_x", "before_y"]].agg(lambda t: t.abs().max()).max(axis=1)
    )
    print(shares.round(3).to_string())


if __name__ == "__main__":
    main()
