"""KCIT and RCIT against causal-learn, side by side in one run on one core.

Prints seconds per call and ratios, checks that both sides compute the same thing, and writes
``results/classical_speed.csv``. Needs the ``bench`` extra.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import csv
import platform
import statistics
import time
from pathlib import Path

import numpy as np

from spectralcit import ci_test

# Committed; docs quote it.
RESULTS = Path(__file__).parent / "results" / "classical_speed.csv"
# A line per test and number of rows.
COLUMNS = [
    "test",
    "n",
    "spectralcit_s",
    "causal_learn_s",
    "ratio",
    "limit",
    "same_statistic",
    "repeats",
    "python",
]


def draw(n, seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 5))
    x = np.tanh(z[:, :1]) + rng.normal(size=(n, 1))
    y = z[:, :1] ** 2 / 2 + rng.normal(size=(n, 1))
    return x, y, z


def cpu_seconds(call):
    started = time.process_time()
    value = call()
    return time.process_time() - started, value


def compare(ours, theirs, n, repeats):
    """Alternate the two, so that a busy machine slows both; medians of CPU seconds after one warm-up call."""
    times = {"ours": [], "theirs": []}
    pairs = []
    for repeat in range(repeats + 1):
        data = draw(n, repeat)
        seconds, mine = cpu_seconds(lambda data=data: ours(*data))
        other_seconds, other = cpu_seconds(lambda data=data: theirs(*data))
        if repeat:
            times["ours"].append(seconds)
            times["theirs"].append(other_seconds)
            pairs.append((mine, other))
    return statistics.median(times["ours"]), statistics.median(times["theirs"]), pairs


def rcit_on_the_same_features(n):
    """Our statistic on the features that causal-learn drew, and causal-learn's own."""
    from causallearn.utils.RCIT import RCIT

    from spectralcit.methods.rcit import partial_cross_covariance
    from spectralcit.numeric.kernels import standardize

    drawn = []

    class Recording(RCIT.RCIT):
        def random_fourier_features(self, *args, **kwargs):
            drawn.append(super().random_fourier_features(*args, **kwargs))
            return drawn[-1]

    # Few features: 100 cosines of a smooth z are collinear up to rounding, and 1e-6 would test the rounding.
    _, expected = Recording(num_f=25).compute_pvalue(*draw(n, 0))
    z, x, y = map(standardize, drawn)
    return n * float((partial_cross_covariance(x, y, z)[0] ** 2).sum()), expected


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    from causallearn.utils.KCI.KCI import KCI_CInd
    from causallearn.utils.RCIT import RCIT

    rows = []
    for n in (500, 1000):
        ours, theirs, pairs = compare(
            lambda x, y, z: ci_test(x, y, z, method="kcit").statistic,
            lambda x, y, z: KCI_CInd().compute_pvalue(x, y, z)[1],
            n,
            repeats,
        )
        rows.append(("kcit", n, ours, theirs, 0.5, all(abs(a / b - 1) < 1e-6 for a, b in pairs)))
    for n in (1000, 8000):
        ours, theirs, _ = compare(
            lambda x, y, z: ci_test(x, y, z, method="rcit", random_state=0).statistic,
            lambda x, y, z: RCIT.RCIT().compute_pvalue(x, y, z)[1],
            n,
            4 * repeats,
        )
        mine, expected = rcit_on_the_same_features(n)
        rows.append(("rcit", n, ours, theirs, 1.0, abs(mine / expected - 1) < 1e-6))

    print("test        n  spectralcit  causal-learn   ratio  limit  same statistic")
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for test, n, ours, theirs, limit, same in rows:
            ratio = ours / theirs
            print(f"{test:6} {n:6d} {ours:11.4f}s {theirs:12.4f}s {ratio:7.2f} {limit:6.2f}  {same}")
            python = platform.python_version()
            writer.writerow(
                [test, n, f"{ours:.5f}", f"{theirs:.5f}", f"{ratio:.3f}", limit, same, repeats, python]
            )


if __name__ == "__main__":
    main()
