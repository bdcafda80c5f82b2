"""Does anything cost more beside busy processes? CPU time of tests and commands, alone and on a busy machine.

    python benchmarks/busy_machine.py            # prints two tables and writes results/busy_machine.txt
    python benchmarks/busy_machine.py tests      # the first table only: `ci_test`
    python benchmarks/busy_machine.py commands   # the second only: what README and guides tell people to type

No environment variable is set: this is what a newcomer meets. Linear algebra and trees with many threads wait
by spinning, and on a busy machine that waiting is charged as work; hence the package limits threads for small
problems. The first rows are measured with nothing else running, so run it on a machine that is idle
otherwise; the load it met is written down. Shared caches alone cost a busy machine some tenths.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from spectralcit import ci_test

HERE = Path(__file__).parent
OUT = HERE / "results" / "busy_machine.txt"
STUDY = HERE.parent / "examples" / "study.csv"
ROWS = (300, 1000, 5000)
BUSY = (0, 1, 2, 4)
REPEATS = 5
ALLOWED = 1.5
# Variables that limit threads from outside; nobody has set them on a first day.
LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "XLA_FLAGS")

QUESTION = ["--x", "gene", "--y", "outcome", "--given", "age,stage,img_*"]
CLINICAL = ["--columns", "gene,marker,outcome,age,stage"]
# What stands in README.md and on the pages of the commands; {out} is a folder that is thrown away.
COMMANDS = {
    "test, report": ["test", str(STUDY), *QUESTION, "--report", "{out}/study.html"],
    "suggest": ["suggest", str(STUDY), *QUESTION],
    "compare": ["compare", str(STUDY), *QUESTION, "--methods", "spectral,gcm,pcm,kcit"],
    "compare, trees": ["compare", str(STUDY), *QUESTION[:-1], "age,stage", "--methods", "ccit,nnlscit"],
    "screen": ["screen", str(STUDY), "--x", "gene,marker,img_*", "--y", "outcome", "--given", "age,stage"],
    "discover": ["discover", str(STUDY), *CLINICAL, "--out", "{out}/graph.html"],
    "discover, 2 jobs": ["discover", str(STUDY), *CLINICAL, "--jobs", "2", "--out", "{out}/graph.html"],
    "bench": ["bench", "run", "{out}/suite.toml", "--store", "{out}/suite.sqlite"],
}
SUITE = """
name = "busy"
replicates = 4
n = 300
datasets = [{name = "post-nonlinear", d_z = 5}]
tests = ["spectral", "gcm"]
"""


def spin() -> None:
    """Keep one core busy until told to end."""
    values = np.random.default_rng(0).standard_normal(1000)
    while True:
        np.sort(values)


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep `count` cores busy during the block."""
    others = [multiprocessing.Process(target=spin, daemon=True) for _ in range(count)]
    for other in others:
        other.start()
    try:
        yield
    finally:
        for other in others:
            other.terminate()
            other.join()


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


def command_seconds(arguments: list[str]) -> tuple[float, float]:
    """CPU time of a command with all its processes, and the time on the clock."""
    free = {name: value for name, value in os.environ.items() if name not in LIMITS}
    with tempfile.TemporaryDirectory() as out:
        (Path(out) / "suite.toml").write_text(SUITE)
        words = [word.format(out=out) for word in arguments]
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "spectralcit", *words], env=free, cwd=out, capture_output=True, text=True
        )
        seconds = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, seconds


def table_of_tests() -> list[str]:
    ci_test(*np.random.default_rng(0).standard_normal((3, 100)), random_state=0)  # imports
    lines = ["other busy processes   " + "".join(f"n = {n:<18}" for n in ROWS)]
    idle: dict[int, float] = {}
    worst = 0.0
    for count in BUSY:
        with busy_processes(count):
            cells = []
            for n in ROWS:
                seconds = cpu_seconds(n)
                ratio = seconds / idle.setdefault(n, seconds)
                worst = max(worst, ratio)
                cells.append(f"{seconds:.3f} s ({ratio:.2f})".ljust(22))
        lines.append(f"{count:<23}" + "".join(cells))
    return [*lines, f"largest ratio {worst:.2f}, allowed {ALLOWED}"]


def table_of_commands() -> list[str]:
    lines = ["command               CPU alone   beside two    ratio   clock alone   beside two"]
    worst = 0.0
    for name, arguments in COMMANDS.items():
        # Alone and beside others in turn, so that what else the machine does meets both; the least of each.
        runs: dict[int, list[tuple[float, float]]] = {0: [], 2: []}
        for _ in range(2):
            for count, found in runs.items():
                with busy_processes(count):
                    found.append(command_seconds(arguments))
        (alone, beside), (clock, longer) = (
            [min(run[k] for run in found) for found in runs.values()] for k in (0, 1)
        )
        worst = max(worst, beside / alone)
        lines.append(
            f"{name:<20}{alone:>9.2f} s{beside:>11.2f} s{beside / alone:>9.2f}{clock:>12.1f} s"
            f"{longer:>11.1f} s"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    return [*lines, f"largest ratio {worst:.2f}, allowed {ALLOWED}"]


def main() -> None:
    wanted = sys.argv[1:] or ["tests", "commands"]
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    lines = [
        f"load of the machine at the start, over 1, 5 and 15 minutes: {load} on {os.cpu_count()} cores",
        "",
    ]
    for name in wanted:
        lines += [*{"tests": table_of_tests, "commands": table_of_commands}[name](), ""]
    text = "\n".join(lines).rstrip() + "\n"
    print(text, end="")
    OUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
