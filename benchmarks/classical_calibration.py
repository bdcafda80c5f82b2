"""Type I error and power of every quick test on an easy null and an easy alternative it is meant for.

Writes ``results/classical_calibration.csv`` and ``.png``. About fifteen minutes on one core with the default
of 200 replicates; ``--only NAME`` reruns one test and keeps the other rows.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import csv
import time
from pathlib import Path

import numpy as np

from spectralcit import ci_test

RESULTS = Path(__file__).parent / "results"
COLUMNS = ["test", "workload", "n", "replicates", "type_1_error", "power", "seconds_per_call"]
ALPHA = 0.05
FIRST_SEED = 50_000  # no seed of the test suite


def linear(rng, n, effect):
    """Three linear Gaussian confounders; a linear effect."""
    z = rng.normal(size=(n, 3))
    x = z @ [1.0, 0.5, -0.5] + rng.normal(size=n)
    return x, z @ [0.5, -1.0, 0.5] + rng.normal(size=n) + effect * 0.35 * x, z


def heavy(rng, n, effect):
    """A linear confounder and Student t noise with two degrees of freedom; a linear effect."""
    z = rng.normal(size=n)
    x = 0.5 * z + rng.standard_t(2, size=n)
    return x, 0.5 * z + rng.standard_t(2, size=n) + effect * 0.5 * x, z


def smooth(rng, n, effect):
    """One confounder acting smoothly on both; a linear effect."""
    z = rng.normal(size=n)
    x = np.sin(z) + 0.7 * rng.normal(size=n)
    return x, np.cos(z) + 0.7 * rng.normal(size=n) + effect * x, z


def sign_change(rng, n, effect):
    """As smooth, but the effect has the sign of the confounder: no residual correlation on average."""
    x, y, z = smooth(rng, n, 0.0)
    return x, y + effect * np.sign(z) * (x - np.sin(z)), z


def even(rng, n, effect):
    """As smooth, but the effect is even in what is left of x: no residual correlation at all."""
    x, y, z = smooth(rng, n, 0.0)
    return x, y + effect * 1.5 * (x - np.sin(z)) ** 2, z


def unconditional(rng, n, effect):
    """No confounder; a quadratic effect."""
    x = rng.normal(size=n)
    return x, rng.normal(size=n) + effect * 0.7 * x**2, None


def discrete(rng, n, effect):
    """Three levels each, one discrete confounder; a third of the rows copy x."""
    z = rng.integers(0, 3, n)
    x = (z + (rng.random(n) < 0.5)) % 3
    y = (z + 2 * (rng.random(n) < 0.5)) % 3
    return x, np.where(rng.random(n) < effect * 0.35, x, y), z


CASES = {
    "fisher-z": (linear, 250),
    "spearman-z": (heavy, 250),
    "gcm": (smooth, 300),
    "wgcm": (sign_change, 300),
    "pcm": (even, 300),
    "kcit": (smooth, 300),
    "rcit": (smooth, 300),
    "rcot": (smooth, 300),
    "hsic": (unconditional, 200),
    "chi2": (discrete, 300),
    "g2": (discrete, 300),
    "kpc": (smooth, 300),
    "lpcit": (smooth, 300),
    "circe": (smooth, 300),
    "split-kci": (smooth, 300),
    "local-permutation": (smooth, 300),
    "crt": (smooth, 300),
    "cpt": (smooth, 300),
    "cmi-knn": (smooth, 300),
    "cmi-knn-mixed": (discrete, 300),
}


def rejection_rate(name, workload, n, effect, replicates):
    rejections = 0
    for k in range(replicates):
        rng = np.random.default_rng([FIRST_SEED + k, int(effect)])
        rejections += ci_test(*workload(rng, n, effect), method=name, random_state=k).pvalue <= ALPHA
    return rejections / replicates


def measure(name, replicates):
    workload, n = CASES[name]
    started = time.process_time()
    size = rejection_rate(name, workload, n, 0.0, replicates)
    power = rejection_rate(name, workload, n, 1.0, replicates)
    seconds = (time.process_time() - started) / (2 * replicates)
    return [name, workload.__name__, n, replicates, f"{size:.3f}", f"{power:.3f}", f"{seconds:.4f}"]


def draw_figure(rows, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [row[0] for row in rows][::-1]
    size, power = ([float(row[k]) for row in rows][::-1] for k in (4, 5))
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4.2), sharey=True)
    left.axvspan(0, 0.09, color="0.9", label="accepted range")
    left.axvline(ALPHA, color="0.5", lw=1)
    left.plot(size, names, "o", color="tab:red")
    left.set(xlabel="type I error", xlim=(0, max(0.15, max(size) + 0.02)))
    left.legend(frameon=False, loc="upper right")
    right.axvspan(0.9, 1, color="0.9")
    right.plot(power, names, "o", color="tab:blue")
    right.set(xlabel="power", xlim=(0, 1.02))
    counts = sorted({int(row[3]) for row in rows})
    replicates = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    figure.suptitle(f"Easy null and easy alternative per test, level 0.05, {replicates} replicates")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--only", choices=CASES, default=None)
    options = parser.parse_args()
    table = RESULTS / "classical_calibration.csv"
    known = {}
    if options.only and table.exists():
        with table.open(newline="") as file:
            known = {row[0]: row for row in list(csv.reader(file))[1:]}
    for name in [options.only] if options.only else CASES:
        known[name] = measure(name, options.replicates)
        print(*known[name], sep="\t", flush=True)
    rows = [known[name] for name in CASES if name in known]
    RESULTS.mkdir(exist_ok=True)
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    draw_figure(rows, RESULTS / "classical_calibration.png")


if __name__ == "__main__":
    main()
