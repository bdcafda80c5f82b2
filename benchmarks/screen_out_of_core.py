"""Columns of a Parquet table that exceeds memory, in a process whose address space is limited.

The table (100,000 rows × 4,000 columns, 3.2 GB) is written first, a part at a time. Finished columns are kept
in a store beside it: the same command goes on after a kill, and then tells of what was left only.

    OMP_NUM_THREADS=1 python benchmarks/screen_out_of_core.py --folder /tmp --columns 200 --gib 2.5
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np

ROWS, COLUMNS, GIVEN, PART = 100_000, 4_000, 10, 10_000  # PART rows are written at a time: 320 MB
EFFECTS = 40  # the first columns matter
SEED = 5_500_300  # by hand


def write(path: Path) -> None:
    """Write columns that follow Z in lines, an outcome that follows it in a curve, and weak effects."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(SEED)
    names = ["y", *(f"z{k}" for k in range(GIVEN)), *(f"x{k}" for k in range(COLUMNS - GIVEN - 1))]
    schema = pa.schema([(name, pa.float64()) for name in names])
    slopes = 0.3 * rng.normal(size=(GIVEN, COLUMNS - GIVEN - 1))
    options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    with parquet.ParquetWriter(path, schema, **options) as writer:
        for _ in range(0, ROWS, PART):
            z, signal = rng.normal(size=(PART, GIVEN)), rng.normal(size=PART)
            x = rng.standard_normal((PART, COLUMNS - GIVEN - 1)) + z @ slopes
            x[:, :EFFECTS] += 0.03 * signal[:, None]
            y = np.sin(z[:, 0]) + z[:, 1] + signal + rng.normal(size=PART)
            part = np.column_stack([y, z, x])
            writer.write_table(pa.table(list(part.T.copy()), schema=schema), row_group_size=PART)


def main() -> None:
    """Write the table if it is not there, or else limit this process and screen the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--folder", type=Path, default=Path("/tmp"))
    arguments.add_argument("--columns", type=int, default=200)
    arguments.add_argument("--gib", type=float, default=2.5)
    chosen = arguments.parse_args()
    path = chosen.folder / "screen_out_of_core.parquet"
    if not path.exists():
        scratch = path.with_suffix(".part")
        write(scratch)
        scratch.rename(path)
        print(f"{path} is written; the same command now screens it")
        return
    limit = int(chosen.gib * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    from spectralcit import screen

    started = time.process_time()
    tested = [f"x{k}" for k in range(chosen.columns)]
    found = screen(path, tested, "y", "z*", store=path.with_suffix(".sqlite"), progress=True)
    seconds = time.process_time() - started
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peaks = {name: int(status[name].split()[0]) / 2**20 for name in ("VmHWM", "VmPeak")}
    print(
        f"{found.n_computed} columns computed now in {seconds:.0f} CPU seconds; of "
        f"{len(found.rows)} in all {sum(row.stage == 'full' for row in found.rows)} with the whole test, "
        f"{sum(row.reason is not None for row in found.rows)} without an answer; at most "
        f"{peaks['VmHWM']:.2f} GiB resident, {peaks['VmPeak']:.2f} GiB of addresses"
    )


if __name__ == "__main__":
    main()
