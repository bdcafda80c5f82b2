"""Does a test cost more beside busy processes? CPU time of `ci_test` on an idle and on a busy machine.

    python benchmarks/busy_machine.py            # prints the table and writes results/busy_machine.txt

No environment variable is set: this is what a newcomer meets. Linear algebra with many threads waits by
spinning, and on a busy machine that waiting is charged as work; hence the package limits threads for small
problems. The first row is measured with nothing else running, so run it on a machine that is idle otherwise.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from pathlib import Path

import numpy as np

from spectralcit import ci_test

OUT = Path(__file__).parent / "results" / "busy_machine.txt"
ROWS = (300, 1000, 5000)
BUSY = (0, 1, 2, 4)
REPEATS = 5
ALLOWED = 1.5


def spin() -> None:
    """Keep one core busy until told to end."""
    values = np.random.default_rng(0).standard_normal(1000)
    while True:
        np.sort(values)


def cpu_seconds(n: int) -> float:
    """CPU time of one test, all threads of this process included; the median of a few."""
    rng = np.random.default_rng(n)
    z = rng.standard_normal((n, 5))
    x = np.sin(z[:, 0]) + rng.standard_normal(n)
    y = z[:, 0] ** 2 + rng.standard_normal(n)
    times = []
    for _ in range(REPEATS):
        started = time.process_time()
        ci_test(x, y, z, random_state=0)
        times.append(time.process_time() - started)
    return statistics.median(times)


def main() -> None:
    ci_test(*np.random.default_rng(0).standard_normal((3, 100)), random_state=0)  # imports
    lines = ["other busy processes   " + "".join(f"n = {n:<18}" for n in ROWS)]
    idle: dict[int, float] = {}
    worst = 0.0
    for count in BUSY:
        others = [multiprocessing.Process(target=spin, daemon=True) for _ in range(count)]
        for other in others:
            other.start()
        cells = []
        for n in ROWS:
            seconds = cpu_seconds(n)
            ratio = seconds / idle.setdefault(n, seconds)
            worst = max(worst, ratio)
            cells.append(f"{seconds:.3f} s ({ratio:.2f})".ljust(22))
        for other in others:
            other.terminate()
            other.join()
        lines.append(f"{count:<23}" + "".join(cells))
    lines.append(f"largest ratio {worst:.2f}, allowed {ALLOWED}")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    OUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
