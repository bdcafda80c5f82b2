"""What the pages of the studies are made from: a suite, its store, and the p-values that are committed.

A store is too large for the repository, so the p-values of each suite are kept in
``results/NAME_pvalues.csv``. A cell of the store replaces the same cell there; cells that the store does not
have stay as they are, each with the seed it was run on. No cell mixes two runs.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from spectralcit.benchmark import CellSummary, Record, Store, Suite, load_suite, summarise
from spectralcit.benchmark.record import TrialKey
from spectralcit.benchmark.suite import Cell
from spectralcit.files import write_atomically

HERE = Path(__file__).parent  # suites/ is below
RESULTS = HERE / "results"  # what is committed
# A row of the committed file: what names the cell in the suite, then what came of the replicate.
COLUMNS = (
    "workload",
    "test",
    "dependent",
    "n",
    "suite_seed",
    "replicate",
    "pvalue",
    "seconds",
    "error",
    "warned",
)
# In the warnings that what Z explains cannot be known from these rows, and that rows are copies.
UNLEARNED, COPIED = "learned", "are copies of other rows"

Row = tuple[str, str, bool]  # label of the data, test, whether dependent


@dataclass(frozen=True)
class Study:
    """A suite and what is known about each of its cells, in the order of the suite."""

    suite: Suite
    cells: dict[Row, CellSummary]
    records: dict[Row, list[Record]]

    @property
    def labels(self) -> list[str]:
        return list(dict.fromkeys(label for label, _, _ in self.cells))


def read_study(name: str, store: Path | None = None, seed: int | None = None) -> Study:
    """Read the committed p-values of a suite; those of a store, if one is given, replace them in the file."""
    suite = load_suite(HERE / "suites" / f"{name}.toml").only(seed=seed)
    path = RESULTS / f"{name}_pvalues.csv"
    records = _committed(path, suite) if path.exists() else {}
    if store is not None:
        records |= _stored(store, suite)
        write_atomically(path, _as_csv(suite, records))
        records = _committed(path, suite)  # as rounded there, so that the pages follow from the file alone
    cells = {_row(cell): _summary(records[_row(cell)]) for cell in suite.cells if _row(cell) in records}
    return Study(suite, cells, records)


def begin_store(
    name: str, store: Path, seed: int | None = None, again: tuple[float, float] | None = None
) -> int:
    """Put the committed p-values of a seed into a store, so that `bench run` goes on; return how many.

    After a change of the test that moves p-values by little, those between the two of `again` are left out
    and so run again: the others cannot have crossed a level that lies well between the two.
    """
    suite = load_suite(HERE / "suites" / f"{name}.toml").only(seed=seed)
    known = _committed(RESULTS / f"{name}_pvalues.csv", suite)
    records = [r for found in known.values() for r in found if r.suite_seed == suite.seed]
    if again is not None:
        low, high = again
        records = [r for r in records if r.pvalue is None or not low <= r.pvalue <= high]
    with Store(store) as opened:
        return opened.add(records)


def warned(record: Record) -> bool:
    """Tell whether the result said that these rows cannot show what was asked."""
    return UNLEARNED in record.warnings or COPIED in record.warnings


def _row(cell: Cell) -> Row:
    return cell.label, cell.test, cell.dependent


def _summary(records: list[Record]) -> CellSummary:
    (summary,) = summarise(records)
    return summary


def _stored(store: Path, suite: Suite) -> dict[Row, list[Record]]:
    """Group by row all replicates on the suite's seed, also those beyond what the suite asks for."""
    found: dict[tuple, list[Record]] = defaultdict(list)
    with Store(store, read_only=True) as opened:
        for record in opened.records():
            if record.suite_seed == suite.seed:
                found[record.key.cell].append(record)
    return {_row(cell): found[cell.key()] for cell in suite.cells if cell.key() in found}


def _committed(path: Path, suite: Suite) -> dict[Row, list[Record]]:
    cells = {_row(cell): cell for cell in suite.cells}
    if len(cells) < len(suite.cells):
        raise SystemExit(f"suite {suite.name}: two cells of one test have the same label")
    found: dict[Row, list[Record]] = defaultdict(list)
    with path.open(newline="") as file:
        for line in csv.DictReader(file):
            row = (line["workload"], line["test"], line["dependent"] == "1")
            if row not in cells:
                raise SystemExit(
                    f"{path}: the suite has no cell {row}; give its lines another label or drop them"
                )
            key = TrialKey(*cells[row].key(), int(line["suite_seed"]), int(line["replicate"]))
            pvalue = float(line["pvalue"]) if line["pvalue"] else None
            seconds = float(line["seconds"])
            warnings = UNLEARNED if line["warned"] == "1" else ""
            found[row].append(
                Record.of(key, pvalue=pvalue, seconds=seconds, error=line["error"], warnings=warnings)
            )
    return dict(found)


def _as_csv(suite: Suite, records: dict[Row, list[Record]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in map(_row, suite.cells):
        label, test, dependent = row
        for r in sorted(records.get(row, ()), key=lambda record: record.replicate):
            pvalue = "" if r.pvalue is None else repr(r.pvalue)
            values = (
                r.n,
                r.suite_seed,
                r.replicate,
                pvalue,
                f"{r.seconds or 0.0:.3f}",
                r.error,
                int(warned(r)),
            )
            writer.writerow((label, test, int(dependent), *values))
    return text.getvalue()
