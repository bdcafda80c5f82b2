"""The replicates of a reproduction that takes several days: kept in the repository, put back into a store.

    python benchmarks/reproduction_replicates.py begin reproduction  # a store of what is committed
    spectralcit reproduce all --scale full --out reproduction --jobs 2  # goes on from there
    python benchmarks/reproduction_replicates.py keep reproduction   # results/reproduction/*-pvalues.csv

Stores are too large for the repository. A line of these files is a cell of the full scale: its p-values in
the order of its replicates, ``-`` for one that failed, ``?`` for one that was not run yet.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from spectralcit.benchmark import Record, Store, Suite
from spectralcit.benchmark.record import TrialKey
from spectralcit.benchmark.reproduce import EXPERIMENTS, Experiment, read_tuned
from spectralcit.benchmark.suite import Cell, canonical
from spectralcit.files import write_atomically

RESULTS = Path(__file__).parent / "results"
REPLICATES = RESULTS / "reproduction"
TUNED = RESULTS / "tuning" / "spectral-paper.json"
COLUMNS = ("data", "n", "hypothesis", "test", "pvalues", "seconds", "versions")
FAILED, NOT_RUN = "-", "?"
JOINED = " / "  # between the versions of replicates that were run on several days

CellName = tuple[str, str, str, str]  # the first four of the columns


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("begin", "keep"))
    parser.add_argument("folder", type=Path, help="as in `spectralcit reproduce --out`")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with Store(options.folder / "results.sqlite") as store:
        for experiment in EXPERIMENTS.values():
            count = begin(experiment, store) if options.action == "begin" else keep(experiment, store)
            print(f"{experiment.name}: {count} replicates")


def begin(experiment: Experiment, store: Store) -> int:
    """Put what is committed of an experiment into a store; return how many replicates were new to it."""
    return store.add([r for found in committed(experiment).values() for r in found])


def keep(experiment: Experiment, store: Store) -> int:
    """Add what a store has of an experiment to what is committed; return how many that makes."""
    suite = full_suite(experiment)
    found = {name: {r.replicate: r for r in records} for name, records in committed(experiment).items()}
    names = {cell.key(): _name(cell) for cell in suite.cells}
    for record in store.records():
        if record.suite_seed == suite.seed and record.key.cell in names:
            known = found.setdefault(names[record.key.cell], {})
            if record.pvalue is not None or record.replicate not in known:  # a failure replaces no answer
                known[record.replicate] = record
    if found:
        write_atomically(_path(experiment), _as_csv(suite, found))
    return sum(map(len, found.values()))


def committed(experiment: Experiment) -> dict[CellName, list[Record]]:
    """Read the replicates of an experiment that the repository has, by cell."""
    path = _path(experiment)
    if not path.exists():
        return {}
    suite = full_suite(experiment)
    cells = {_name(cell): cell for cell in suite.cells}
    found: dict[CellName, list[Record]] = {}
    with path.open(newline="", encoding="utf-8") as stream:
        for line in csv.DictReader(stream):
            name = (line["data"], line["n"], line["hypothesis"], line["test"])
            if name not in cells:
                raise SystemExit(f"{path}: the full scale has no cell {', '.join(name)}; drop its line")
            if len(line["pvalues"].split()) != len(line["seconds"].split()):
                raise SystemExit(f"{path}: cell {', '.join(name)} has not as many seconds as p-values")
            found[name] = list(_records(line, cells[name], suite.seed))
    return found


def full_suite(experiment: Experiment) -> Suite:
    """Return the suite of the full scale, with the tuned test."""
    return experiment.suite("full", tuned=read_tuned(TUNED) if experiment.quantity == "rate" else None)


def _path(experiment: Experiment) -> Path:
    return REPLICATES / f"{experiment.name}-pvalues.csv"


def _name(cell: Cell) -> CellName:
    hypothesis = "alternative" if cell.dependent else "null"
    return canonical(cell.dataset_params), str(cell.n), hypothesis, cell.test


def _records(line: dict[str, str], cell: Cell, seed: int) -> Iterable[Record]:
    pvalues, seconds = line["pvalues"].split(), line["seconds"].split()
    for replicate, (pvalue, time) in enumerate(zip(pvalues, seconds, strict=True)):
        if pvalue == NOT_RUN:
            continue
        failed = pvalue == FAILED
        yield Record.of(
            TrialKey(*cell.key(), seed, replicate),
            pvalue=None if failed else float(pvalue),
            seconds=float(time),
            error="failed; what was said is not kept" if failed else "",
            versions=line["versions"],
        )


def _as_csv(suite: Suite, found: dict[CellName, dict[int, Record]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name in dict.fromkeys(map(_name, suite.cells)):
        if name in found:
            writer.writerow((*name, *_columns(found[name])))
    return text.getvalue()


def _columns(records: dict[int, Record]) -> tuple[str, str, str]:
    """Return p-values and seconds in the order of replicates, and the versions they come from."""
    pvalues = defaultdict(lambda: NOT_RUN, {k: _written(r.pvalue) for k, r in records.items()})
    seconds = defaultdict(lambda: NOT_RUN, {k: f"{r.seconds or 0.0:.3g}" for k, r in records.items()})
    numbers = range(max(records) + 1)
    versions = JOINED.join(sorted({v for r in records.values() for v in r.versions.split(JOINED)}))
    return " ".join(pvalues[k] for k in numbers), " ".join(seconds[k] for k in numbers), versions


def _written(pvalue: float | None) -> str:
    return FAILED if pvalue is None else f"{pvalue:.6g}"


if __name__ == "__main__":
    main()
