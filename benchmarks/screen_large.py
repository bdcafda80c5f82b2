"""A long screen: clock, CPU time and memory of all its processes together.

The table is that of screen_speed.py, as a Parquet file. Finished columns are kept in a store beside it: the
same command goes on after a kill, and then tells of what was left only.

    OMP_NUM_THREADS=1 python benchmarks/screen_large.py [--columns 20000] [--jobs 2] [--folder /tmp]
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from pathlib import Path

from pyarrow import parquet
from screen_speed import SEED, study

from spectralcit import screen
from spectralcit.benchmark.memory import resident_mb

PAUSE = 0.2  # seconds between looks; by hand: a batch takes several


class Watch:
    """Looks at this process and all below it: the largest sum of resident memory, and CPU time."""

    def __init__(self) -> None:
        self.peak_mb, self._seconds, self._over = 0.0, dict[int, float](), threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._before = _cpu_seconds(os.getpid())
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all of them since the watch began."""
        return sum(self._seconds.values()) - self._before

    def _look(self) -> None:
        while not self._over.wait(PAUSE):
            family = _family(os.getpid())
            self.peak_mb = max(self.peak_mb, sum(map(resident_mb, family)))
            self._seconds |= {pid: seconds for pid in family if (seconds := _cpu_seconds(pid))}


def _family(root: int) -> list[int]:
    """Return a process and all that it started, whoever started them in between."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (told := _told(int(entry.name))):
            parents[int(entry.name)] = int(told[1])
    family = [root]
    for pid in family:
        family += [child for child, parent in parents.items() if parent == pid]
    return family


def _told(pid: int) -> list[str]:
    """Return what the system tells of a process after its name; nothing when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _cpu_seconds(pid: int) -> float:
    told = _told(pid)
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK") if told else 0.0


def main() -> None:
    """Make the table if it is not there, screen it and print what that took."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--columns", type=int, default=20_000)
    arguments.add_argument("--rows", type=int, default=1000)
    arguments.add_argument("--given", type=int, default=10)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--folder", type=Path, default=Path("/tmp"))
    chosen = arguments.parse_args()
    path = chosen.folder / f"screen_{chosen.rows}_{chosen.columns}_{chosen.given}.parquet"
    if not path.exists():
        table, _ = study(chosen.rows, chosen.columns, chosen.given, effects=0.05, seed=SEED)
        parquet.write_table(table, path)
        del table
    started = time.perf_counter()
    with Watch() as watch:
        found = screen(
            path, "x*", "y", "z*", n_jobs=chosen.jobs, store=path.with_suffix(".sqlite"), progress=True
        )
    clock = time.perf_counter() - started
    whole = sum(row.stage == "full" for row in found.rows)
    print(
        f"{len(found.rows)} columns, {chosen.rows} rows, {chosen.given} covariates, {chosen.jobs} processes: "
        f"{found.n_computed} computed now, {whole} of all with the whole test\n"
        f"{clock / 60:.1f} minutes by the clock, {watch.cpu_seconds / 60:.1f} of CPU time, "
        f"{1000 * watch.cpu_seconds / max(found.n_computed, 1):.1f} ms a column; "
        f"at most {watch.peak_mb / 1024:.2f} GiB resident in all processes together"
    )


if __name__ == "__main__":
    main()
