"""CPU time of `pc` on 25 nodes and 2000 rows, and a digest of the graph that it finds.

P-values are kept in a store: the same command goes on after a kill, and then tells of what was left only. To
compare two editions, run it with either on the path (`PYTHONPATH`) and a folder of its own.

    OMP_NUM_THREADS=1 python benchmarks/discovery_large.py [--folder /tmp]
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from discovery_speed import ALPHA, random_model

from spectralcit.discovery import pc
from spectralcit.numeric.digest import column_digest

N_NODES, N_EDGES, N_ROWS = 25, 28, 2000  # as many edges per node as in discovery_speed.py
SEED = 5_503_000  # by hand: of the graph and its data


def main() -> None:
    """Search once and print what that took."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--folder", type=Path, default=Path("/tmp"))
    chosen = arguments.parse_args()
    data, truth = random_model(SEED, N_NODES, N_EDGES, N_ROWS)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it will take minutes
        found = pc(data, alpha=ALPHA, store=chosen.folder / "discovery_large.sqlite", progress=True)
    seconds = time.process_time() - started
    skeleton = found.skeleton
    both, ours = int((skeleton & truth).sum()) // 2, int(skeleton.sum()) // 2
    mark = column_digest(np.ascontiguousarray(skeleton, dtype=float).ravel()).hex()[:12]
    print(
        f"{N_NODES} nodes, {N_ROWS} rows: {seconds / 60:.1f} CPU minutes, {len(found.pvalues)} tests; "
        f"{ours} edges, {both} of the {N_EDGES} true ones among them; skeleton {mark}"
    )


if __name__ == "__main__":
    main()
