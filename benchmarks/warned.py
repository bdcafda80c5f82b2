"""Which rejections of a suite's nulls carried a warning: replicates of a store are run again.

    python benchmarks/warned.py benchmarks/suites/attack.toml --seed 900000 --only beyond/
    python benchmarks/warned.py benchmarks/suites/attack.toml --seed 900000 --only learned/,vector/ --first 40

A store keeps p-values and no warnings, but a replicate is a function of its seed: this draws the same data,
runs the same test, and counts p-values that moved (another version of the test, another machine). Rejections
are run again, or the first replicates of each cell whatever came of them. ``--matching`` counts warnings that
hold a text; "learned" is in those of a Z that cannot be known.
"""

from __future__ import annotations

import argparse
import math
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from spectralcit.benchmark import Record, Store, Suite, load_suite
from spectralcit.benchmark.suite import Cell
from spectralcit.benchmark.trial import Job, make_job

LEVEL = 0.05  # of a rejection
SAME = 1e-6  # of p-values, relative: what another number of BLAS threads may do


def again(job: Job) -> tuple[float, tuple[str, ...]]:
    """P-value and warnings of a replicate, as `trial.execute` makes them."""
    rng = np.random.default_rng([job.seed, job.key.replicate])
    x, y, z = job.dataset.draw(job.key.n, rng, job.key.dependent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = job.test(random_state=job.seed, **job.test_params).test(x, y, z)
    return result.pvalue, result.warnings


def chosen(suite: Suite, cell: Cell, stored: dict, first: int | None) -> list[Record]:
    """The stored replicates of a cell that are run again."""
    found = [stored.get(suite.key(cell, k)) for k in range(cell.replicates)]
    kept = [record for record in found if record is not None and record.pvalue is not None]
    return [r for r in kept if r.pvalue <= LEVEL] if first is None else kept[:first]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suite")
    parser.add_argument("--store", type=Path, help="NAME.sqlite of the suite if not given")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--only", help="labels that contain one of these, comma-separated")
    parser.add_argument("--first", type=int, help="so many replicates of each cell instead of its rejections")
    parser.add_argument("--matching", default="", help="count warnings that hold this text")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    options = parser.parse_args()
    labels = options.only.split(",") if options.only else None
    suite = load_suite(options.suite).only(labels=labels, nulls=True, seed=options.seed)
    with Store(options.store or f"{suite.name}.sqlite", read_only=True) as store:
        stored = {record.key: record for record in store.records()}
    print("| null | run again | warned | rejected | of those warned | p-values that moved |")
    print("|---|---|---|---|---|---|")
    totals = np.zeros(5, dtype=int)
    for cell in suite.cells:
        records = chosen(suite, cell, stored, options.first)
        jobs = (delayed(again)(make_job(cell, record.key)) for record in records)
        outcomes = Parallel(n_jobs=options.jobs)(jobs)
        warned = np.array(
            [any(options.matching in text for text in texts) for _, texts in outcomes], dtype=bool
        )
        rejected = np.array([record.pvalue <= LEVEL for record in records], dtype=bool)
        moved = sum(
            not math.isclose(p, r.pvalue, rel_tol=SAME) for (p, _), r in zip(outcomes, records, strict=True)
        )
        line = [len(records), warned.sum(), rejected.sum(), (warned & rejected).sum(), moved]
        totals += line
        print(f"| {cell.label} ({cell.test}) | " + " | ".join(map(str, line)) + " |", flush=True)
    print("| all | " + " | ".join(map(str, totals)) + " |")


if __name__ == "__main__":
    main()
