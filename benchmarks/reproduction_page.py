"""The tables and figures of docs/reproduction.md, from the committed p-values.

    python benchmarks/reproduction_page.py                           # all of it
    python benchmarks/reproduction_page.py kernel-comparison sachs   # tables and figures of these targets

`spectralcit reproduce` makes the same tables and figures from its store, which is too large to commit; here
they follow from benchmarks/results/reproduction/ alone (`reproduction_replicates.py` puts them there).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from reproduction_replicates import committed, full_suite

from spectralcit.benchmark import CellSummary, Suite, summarise
from spectralcit.benchmark.bundle import work_of
from spectralcit.benchmark.figure_axes import value_of
from spectralcit.benchmark.reproduce import (
    AUTHORS,
    EXPERIMENTS,
    PUBLISHED,
    TUNED,
    Experiment,
    fill_page,
    get_experiment,
)
from spectralcit.benchmark.reproduce.figure import draw_experiment
from spectralcit.benchmark.reproduce.labels import (
    PUBLISHED_METHOD,
    RCIT_PUBLISHED,
    RCIT_TUNED,
    RCIT_WIDE,
    entry_of,
    family_of,
    pruned_label,
    with_pruned,
)
from spectralcit.benchmark.reproduce.tables import markdown_table
from spectralcit.benchmark.suite import canonical
from spectralcit.paper.config import PaperConfig

_FEW_COLUMNS, _MANY_COLUMNS = range(50, 151, 50), range(200, 301, 50)  # of Z, pooled

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "reproduction.md"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", help="all when none is named")
    targets = parser.parse_args().targets or list(EXPERIMENTS)
    for name, text in tables(targets).items():
        fill_page(PAGE, name, text)
    for experiment in map(get_experiment, targets):
        summaries, suite = summaries_of(experiment), full_suite(experiment)
        if summaries:
            figure = draw_experiment(experiment, summaries, suite.tests)
            figure.savefig(DOCS / f"reproduction-{experiment.name}.png", dpi=80)


def tables(targets: Sequence[str] = tuple(EXPERIMENTS)) -> dict[str, str]:
    """The tables of these targets and those over all targets, by the marks of their places."""
    found = {name: target_table(get_experiment(name)) for name in targets}
    families = [with_pruned(label, entry_of(label)) for label in (PUBLISHED, AUTHORS)]
    heads = [f"{program}, r = {r}" for program in ("text", "program") for r in (10, 9, 8)]
    found["table: pruning"] = rates(heads, [label for family in families for label in family])
    found["table: rcit"] = rates(
        ["100 and 5 features", "tuned: 100 and 15", "200 and 20"], [RCIT_PUBLISHED, RCIT_TUNED, RCIT_WIDE]
    )
    found["table: sensitivity"] = pooled_sensitivity()
    found["table: run"] = what_was_run()
    return found


def summaries_of(experiment: Experiment) -> list[CellSummary]:
    """Rates or times of all cells that have replicates."""
    return summarise([record for found in committed(experiment).values() for record in found])


def target_table(experiment: Experiment) -> str:
    """All rates or times of a target, with what they were made with."""
    suite = full_suite(experiment)
    records = [record for found in committed(experiment).values() for record in found]
    versions = " / ".join(sorted({record.versions for record in records}))
    note = (
        f"{len(records)} of {suite.size} replicates of the full scale ({versions}). Brackets: 95 % intervals."
    )
    tuned = next((cell.test_params for cell in suite.cells if cell.test == TUNED), None)
    if any(record.test == TUNED for record in records):
        note += f" Parameters of {TUNED}: `{canonical(tuned)}`."
    return markdown_table(experiment, summarise(records), suite.tests, note=note)


def rates(heads: Sequence[str], labels: Sequence[str]) -> str:
    """Rates of a few tests wherever all of them were run, a line per data set and hypothesis."""
    lines = [f"| data, hypothesis | {' | '.join(heads)} | samples |", "|---|" + "---|" * (len(heads) + 1)]
    for experiment in EXPERIMENTS.values():
        if experiment.quantity != "rate" or experiment.name == "sensitivity":  # its samples are a benchmark's
            continue
        places: dict[tuple[float, bool], dict[str, CellSummary]] = {}
        for s in summaries_of(experiment):
            if s.test in labels:
                places.setdefault((value_of(s, experiment.axis), s.dependent), {})[s.test] = s
        for (value, dependent), own in sorted(places.items()):
            if set(own) == set(labels):
                lines.append(_line(experiment, value, dependent, [own[label] for label in labels]))
    return "\n".join(lines)


def _line(experiment: Experiment, value: float, dependent: bool, own: Sequence[CellSummary]) -> str:
    where = f"{experiment.name}, {experiment.axis} = {value:g}, {'alternative' if dependent else 'null'}"
    counts = list(dict.fromkeys(str(s.replicates) for s in own))
    return f"| {where} | {' | '.join(f'{s.rate:.2f}' for s in own)} | {' and '.join(counts)} |"


def pooled_sensitivity() -> str:
    """Rejections of the sensitivity study with few and many columns of Z, of all values and of d - 1."""
    experiment = get_experiment("sensitivity")
    rejected = {(s.test, s.dependent, value_of(s, experiment.axis)): s for s in summaries_of(experiment)}
    cells = {cell.test: cell for cell in full_suite(experiment).cells}

    def count(test: str, dependent: bool, values: range) -> str:
        chosen = [rejected[key] for v in values if (key := (test, dependent, float(v))) in rejected]
        return f"{sum(round(s.rate * s.replicates) for s in chosen)} of {sum(s.replicates for s in chosen)}"

    kinds = ((False, _FEW_COLUMNS), (False, _MANY_COLUMNS), (True, _FEW_COLUMNS), (True, _MANY_COLUMNS))
    heads = [f"{'power' if d else 'null'}, {v[0]} to {v[-1]}" for d, v in kinds]
    lines = [
        f"| setting | {' | '.join(f'{head}, r = {r}' for r in ('d', 'd − 1') for head in heads)} |",
        "|---|" + "---|" * (2 * len(heads)),
    ]
    for label, cell in cells.items():
        if family_of(label) != label or label == TUNED or cell.method != PUBLISHED_METHOD:
            continue
        rank = cell.test_params.get("output_dim", PaperConfig().output_dim)
        counts = [count(test, *kind) for test in (label, pruned_label(label, rank - 1)) for kind in kinds]
        lines.append(f"| {label} | {' | '.join(counts)} |")
    return "\n".join(lines)


def what_was_run() -> str:
    """Replicates of each target that take time of their own, run and planned, and what is short of that."""
    lines = ["| target | run | planned | fewer than planned (replicates a cell) |", "|---|---|---|---|"]
    for experiment in EXPERIMENTS.values():
        suite = full_suite(experiment)
        counts = {name: len(records) for name, records in committed(experiment).items()}
        run, planned, least = _by_test(suite, counts)
        short = [f"{label} ({least[label]})" for label in planned if run.get(label, 0) < planned[label]]
        total, goal = sum(run.values()), sum(planned.values())
        lines.append(f"| {experiment.name} | {total} | {goal} | {', '.join(short) or 'nothing'} |")
    return "\n".join(lines)


def _by_test(
    suite: Suite, counts: Mapping[tuple[str, str, str, str], int]
) -> tuple[dict[str, int], dict[str, int], dict[str, str]]:
    """Replicates of a suite by test, those of pruned tests left out: run, planned, and as a range a cell."""
    cells = {work_of(cell): cell for cell in reversed(suite.cells)}.values()
    run: dict[str, int] = {}
    planned: dict[str, int] = {}
    ranges: dict[str, list[int]] = {}
    for cell in reversed(list(cells)):
        hypothesis = "alternative" if cell.dependent else "null"
        name = (canonical(cell.dataset_params), str(cell.n), hypothesis, cell.test)
        label = family_of(cell.test)
        have = min(counts.get(name, 0), cell.replicates)
        run[label] = run.get(label, 0) + have
        planned[label] = planned.get(label, 0) + cell.replicates
        ranges.setdefault(label, []).append(have)
    return (
        run,
        planned,
        {k: f"{min(v)} to {max(v)}" if min(v) < max(v) else f"{v[0]}" for k, v in ranges.items()},
    )


if __name__ == "__main__":
    main()
