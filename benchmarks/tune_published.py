"""Tune the published test within two machine-hours, for the configuration that docs/reproduction.md reports.

The paper's grid, objective and 30 trials, with two cuts: all networks are 128 wide (fits with the grid's
widest ones take minutes each here), and a trial has three samples of each hypothesis at the ends of the d_Z
grid only. `spectralcit tune spectral-paper` is the search without the cuts.

    python benchmarks/tune_published.py --jobs 2

Stopped, the same command goes on. It writes the study (``spectral-paper.db``, an Optuna storage; delete it
and its ``.runs`` to start over) and the best configuration with all trials (``spectral-paper.json``).
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from pathlib import Path

from spectralcit.tuning import GRIDS, Choice, Task, tune

# Committed; docs/reproduction.md quotes it.
RESULTS = Path(__file__).parent / "results" / "tuning"
# The two cuts that the docstring explains.
SPACE = GRIDS["spectral-paper"] | {f"layer_size_{net}": Choice((128,)) for net in "uvw"}
TASK = Task(d_z=(50, 300), replicates=3)  # see above


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--trials", type=int, default=30)
    args = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    found = tune(
        "spectral-paper",
        RESULTS / "spectral-paper.db",
        trials=args.trials,
        space=SPACE,
        task=TASK,
        n_jobs=args.jobs,
        on_trial=lambda trial: print(trial.number, trial.score, trial.reason, trial.params, flush=True),
    )
    found.save(RESULTS / "spectral-paper.json")


if __name__ == "__main__":
    main()
