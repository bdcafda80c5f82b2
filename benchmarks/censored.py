"""Error rates and power with censored times: designs of hazard, censoring and ties, one row per data set.

``python benchmarks/censored.py run --replicates 200`` adds what is missing to benchmarks/results/censored.csv
and can be stopped at any time: 10 CPU minutes in all. The six cells of the acceptance have so many data sets,
other designs a fifth. ``... table`` prints the rates.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from appended import append_row, rows_of

from spectralcit import ci_test

STORE = Path(__file__).parent / "results" / "censored.csv"
FIRST_SEED = 6_320_000  # nothing was tuned on these
OTHERS = 5  # times fewer data sets of designs beside those of the acceptance
LEVEL = 0.05

# What Z does to X and to the log hazard: functions of a Z with five columns.
CONFOUNDING: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda z: 0.8 * z[:, 0] - 0.5 * z[:, 1],
    "sine": lambda z: 1.2 * np.sin(2 * z[:, 0]),
    "square": lambda z: z[:, 0] ** 2 - 1,
    "product": lambda z: z[:, 0] * z[:, 1],
    "additive": lambda z: 1.5 * np.cos(z[:, 0]) + 0.7 * z[:, 1] + 0.5 * np.abs(z[:, 2]),
    "threshold": lambda z: 1.5 * (z[:, 0] > 0.3),
}


@dataclass(frozen=True)
class Design:
    """One cell of the study."""

    confounding: str
    columns: int  # of Z
    n: int
    censored: float  # share
    depends: str  # what censoring depends on: x, z, both or nothing
    law: str = "weibull"  # of the time; "lognormal" has hazards that are not proportional
    distinct: int = 0  # cells into which 90 % of the times are rounded; 0 for exact times
    binary: bool = False  # X is a treatment
    effect: str = ""  # of X given Z: linear, square, crossing; none under the null hypothesis
    size: float = 0.0
    groups: int = 0  # of rows with a Z, an X and a frailty of their own; 0 for independent rows

    @property
    def codes(self) -> np.ndarray:
        """Return the group of each row."""
        return np.arange(self.n) * self.groups // self.n

    @property
    def name(self) -> str:
        """Return the design in a few words."""
        words = [
            self.confounding,
            f"{self.columns} columns",
            f"n = {self.n}",
            f"{self.censored:.0%} censored by",
        ]
        words[-1] += f" {self.depends}"
        words += [self.law] * (self.law != "weibull") + [f"{self.distinct} times"] * bool(self.distinct)
        words += ["binary"] * self.binary + [f"{self.effect} {self.size:g}"] * bool(self.effect)
        words += [f"{self.groups} groups"] * bool(self.groups)
        return ", ".join(words)

    def draw(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return x, times, events and z."""
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(self.n, self.columns))
        explained = CONFOUNDING[self.confounding](z)
        noise = rng.normal(size=self.n)
        frailty = np.zeros(self.n)
        if self.groups:
            shared = rng.normal(size=(self.groups, self.columns + 2))[self.codes]
            z = (z + shared[:, 2:]) / np.sqrt(2)
            explained = CONFOUNDING[self.confounding](z)
            noise, frailty = (noise + shared[:, 0]) / np.sqrt(2), shared[:, 1]
        x = explained + noise
        if self.binary:
            chance = 1 / (1 + np.exp(-explained))
            x = (rng.uniform(size=self.n) < chance).astype(float)
            noise = x - chance
        part = {"linear": noise, "square": (noise**2 - 1) / np.sqrt(2)}.get(self.effect, 0.0 * noise)
        log_hazard = explained + frailty + self.size * part
        if self.law == "lognormal":
            time = np.exp(-log_hazard + 0.8 * rng.normal(size=self.n))
        else:
            power = 1 + self.size * np.tanh(noise) if self.effect == "crossing" else 1.0
            time = (rng.exponential(size=self.n) ** power * np.exp(-log_hazard)) ** (1 / 1.5)
        leaves = {"x": x, "z": -z[:, 0], "both": 0.7 * x + 0.7 * np.sin(2 * z[:, 0]), "nothing": 0 * x}
        limit = rng.exponential(size=self.n) * np.exp(-leaves[self.depends])
        limit *= np.quantile(time / limit, 1 - self.censored)
        observed, event = np.minimum(time, limit), time <= limit
        if self.distinct:
            observed = np.ceil(observed / np.quantile(observed, 0.9) * self.distinct)
        return x, observed, event, z


ACCEPTED = (  # a tenth, three and six tenths censored, because of X or because of Z
    Design("linear", 2, 200, 0.1, "x"),
    Design("sine", 2, 200, 0.1, "z"),
    Design("sine", 2, 200, 0.3, "x"),
    Design("linear", 2, 200, 0.3, "z"),
    Design("sine", 2, 300, 0.6, "x"),
    Design("additive", 3, 300, 0.6, "z"),
)
NULLS = (
    Design("linear", 2, 150, 0.3, "x"),
    Design("sine", 2, 300, 0.1, "both"),
    Design("sine", 2, 300, 0.6, "both"),
    Design("square", 2, 300, 0.3, "both", law="lognormal"),
    Design("square", 2, 600, 0.3, "x", distinct=20),
    Design("product", 3, 300, 0.3, "x"),
    Design("additive", 5, 500, 0.1, "z", distinct=300),
    Design("additive", 5, 500, 0.6, "x"),
    Design("threshold", 2, 300, 0.3, "both", binary=True),
    Design("linear", 2, 1000, 0.6, "both", law="lognormal"),
)
GROUPED = (
    Design("linear", 2, 150, 0.3, "x", groups=15),
    Design("sine", 2, 400, 0.3, "both", groups=40),
)
ALTERNATIVES = (
    Design("linear", 2, 200, 0.3, "x", effect="linear", size=0.25),
    Design("linear", 2, 200, 0.6, "x", effect="linear", size=0.3),
    Design("threshold", 2, 400, 0.3, "z", binary=True, effect="linear", size=0.4),
    Design("linear", 2, 300, 0.3, "x", effect="square", size=0.3),
    Design("linear", 2, 300, 0.3, "x", effect="crossing", size=0.5),
)


def run(replicates: int, methods: list[str]) -> None:
    """Add what the store does not have yet, one data set of every design after the other."""
    have = {(row["design"], row["method"], row["seed"]) for row in rows_of(STORE)}
    for k in range(replicates):
        others = (*GROUPED, *NULLS, *ALTERNATIVES) if k < replicates // OTHERS else ()
        for design in (*ACCEPTED, *others):
            for method in methods if design.groups else [name for name in methods if name != "ungrouped"]:
                seed = FIRST_SEED + k
                if (design.name, method, str(seed)) not in have:
                    p = f"{pvalue(design, method, seed):.6g}"
                    append_row(STORE, {"design": design.name, "method": method, "seed": seed, "pvalue": p})


def pvalue(design: Design, method: str, seed: int) -> float:
    """Return the p-value of one method on one data set.

    "ignored" takes censored times for events; "ungrouped" is the default, not told of groups.
    """
    x, time, event, z = design.draw(seed)
    if method == "cox":
        return cox_likelihood_ratio(x, time, event, z)
    y = time if method == "ignored" else (time, event)
    test = "spectral" if method in ("ignored", "ungrouped") else method
    rows = {"groups": design.codes} if design.groups and method != "ungrouped" else {}
    return ci_test(x, y, z, method=test, random_state=seed, **rows).pvalue


def cox_likelihood_ratio(x: np.ndarray, time: np.ndarray, event: np.ndarray, z: np.ndarray) -> float:
    """Likelihood ratio test of x in Cox's model, linear in x and z (Breslow's treatment of ties)."""
    from scipy import optimize, stats

    order = np.argsort(-time)
    last = np.searchsorted(-time[order], -time[order], side="right") - 1  # all rows still at risk come before

    def minus_log_likelihood(beta: np.ndarray, design: np.ndarray) -> float:
        risk = design[order] @ beta
        return -float((risk - np.log(np.cumsum(np.exp(risk)))[last])[event[order]].sum())

    fits = []
    for design in (z, np.column_stack([x, z])):
        start = np.zeros(design.shape[1])
        fits.append(optimize.minimize(minus_log_likelihood, start, args=(design,), method="BFGS").fun)
    return float(stats.chi2.sf(2 * (fits[0] - fits[1]), 1))


def table() -> str:
    """Return the rejections of each method in each design, as Markdown."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows_of(STORE):
        found[row["design"], row["method"]].append(float(row["pvalue"]))
    methods = sorted({method for _, method in found})
    lines = ["| design | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    for title, designs in (
        ("true nulls of the acceptance", ACCEPTED),
        ("other true nulls", NULLS),
        ("true nulls, rows in groups", GROUPED),
        ("alternatives", ALTERNATIVES),
    ):
        lines.append(f"| **{title}** |" + " |" * len(methods))
        for design in designs:
            rates = [found.get((design.name, method), []) for method in methods]
            shown = [f"{sum(p <= LEVEL for p in ps)} of {len(ps)}" if ps else "–" for ps in rates]
            lines.append(f"| {design.name} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--methods", default="spectral", help="spectral, gcm, wgcm, ignored, ungrouped, cox")
    given = parser.parse_args()
    if given.what == "run":
        run(given.replicates, given.methods.split(","))
    print(table())
