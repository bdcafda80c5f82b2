"""Speed of the default test: against causal-learn's KCI in one run, and against the number of rows.

    python benchmarks/default_speed.py --save      # also writes benchmarks/results/default_speed.{txt,png}

Each measurement runs in its own process with one thread, so that peak memory is that of one test.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"  # committed
ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)  # half a decade each, up to what README.md states

# A process of its own for each measurement: peak memory is that of the test alone.
ONE_TEST = """
import json, resource, sys, time
import numpy as np
name, n, d_z, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
rng = np.random.default_rng(0)
z = rng.standard_normal((n, d_z))
index = z.mean(axis=1)
x = (index + rng.standard_normal(n) / 4) ** 3
y = np.tanh(index + rng.standard_normal(n) / 4)
if name == "default":
    from spectralcit import SpectralCIT
    call = lambda: SpectralCIT(random_state=0).test(x, y, z).pvalue
else:
    from causallearn.utils.cit import CIT
    table = np.column_stack([x, y, z])
    call = lambda: CIT(table, "kci")(0, 1, tuple(range(2, 2 + d_z)))
if repeats > 1:
    call()  # imports and first-use costs are not what is compared
seconds = []
for _ in range(repeats):
    started = time.process_time()
    pvalue = call()
    seconds.append(time.process_time() - started)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
print(json.dumps({"seconds": sorted(seconds)[len(seconds) // 2], "pvalue": float(pvalue), "peak_gib": peak}))
"""


def measure(name: str, n: int, d_z: int, repeats: int) -> dict:
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ONE_TEST, name, str(n), str(d_z), str(repeats)],
        env={**os.environ, **threads},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def against_kci() -> list[str]:
    ours, theirs = measure("default", 1000, 50, 5), measure("kci", 1000, 50, 3)
    return [
        "post-nonlinear null, N = 1000, d_Z = 50, one thread, CPU seconds a call (median)",
        f"  default test       {ours['seconds']:8.3f}",
        f"  causal-learn KCI   {theirs['seconds']:8.3f}",
        f"  ratio              {ours['seconds'] / theirs['seconds']:8.3f}",
    ]


def against_rows() -> tuple[list[str], list[dict]]:
    found = [{"n": n, **measure("default", n, 20, 1)} for n in ROWS]
    first, last = found[0], found[-1]
    lines = [
        "default test against the number of rows, d_Z = 20, one thread",
        "        rows   CPU s   peak GiB",
    ]
    lines += [f"  {row['n']:10d} {row['seconds']:7.1f} {row['peak_gib']:10.2f}" for row in found]
    growth = (last["seconds"] / first["seconds"]) / (last["n"] / first["n"])
    lines.append(f"  time over rows, last against first: {growth:.2f} (N^1.15 would be {100**0.15:.2f})")
    return lines, found


def draw(found: list[dict]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axis = plt.subplots(figsize=(6, 4))
    rows = [row["n"] for row in found]
    axis.loglog(rows, [row["seconds"] for row in found], "o-", color="#1b6ca8", label="CPU seconds")
    axis.loglog(rows, [row["peak_gib"] for row in found], "s--", color="#937860", label="peak memory, GiB")
    reference = [found[0]["seconds"] * n / rows[0] for n in rows]
    axis.loglog(rows, reference, ":", color="grey", label="linear in the rows")
    axis.set_xlabel("rows")
    axis.set_title("Default test, d_Z = 20, one thread")
    axis.grid(which="both", alpha=0.25)
    axis.legend()
    fig.tight_layout()
    fig.savefig(RESULTS / "default_speed.png", dpi=110)
    plt.close(fig)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--save", action="store_true", help="write text and figure to benchmarks/results")
    options = parser.parse_args()
    lines, found = against_rows()
    lines = [*against_kci(), "", *lines]
    print("\n".join(lines))
    if options.save:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "default_speed.txt").write_text("\n".join(lines) + "\n")
        draw(found)


if __name__ == "__main__":
    main()
