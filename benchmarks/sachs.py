"""Discovery on the proteins of Sachs et al.: three programs, three tests, subsamples, against the consensus.

Rows are cells of the first experiment (antibodies against CD3 and CD28, nothing inhibited), logarithms of all
eleven measurements. Every program gets the same subsamples, so that differences are theirs. Finished searches
are kept in a file, and a run that is started again goes on where it was::

    python benchmarks/sachs.py run --subsamples 10          # rows 400; --programs and --tests pick some
    python benchmarks/sachs.py page                         # the marked part of docs/real-data.md
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from spectralcit.datasets.real import load_real

RESULTS = Path(__file__).parent / "results" / "sachs_discovery.csv"  # a line per search
PAGE = Path(__file__).parents[1] / "docs" / "real-data.md"
FIRST_SEED = 1_220_000  # of the subsamples
ALPHA = 0.01  # level of a single test, as is usual for tables of this size
# What the article found and experiments confirmed, or found and held likely, but the bundled graph lacks.
DISPUTED = (("erk", "akt"), ("pkc", "pka"))
COLUMNS = ("program", "test", "rows", "seed", "alpha", "seconds", "arrows", "lines")

Edges = set[tuple[str, str]]
Graph = tuple[Edges, Edges]  # arrows, and lines without a direction
Search = Callable[[Any, str, int], Graph]


def ours(frame: Any, test: str, seed: int) -> Graph:
    """`spectralcit.discovery.pc`."""
    from spectralcit.discovery import pc

    name = {"default": "spectral", "Fisher z": "fisher-z", "KCI": "kcit"}[test]
    found = pc(frame, name, ALPHA, random_state=0)
    edges = [(str(edge.source), str(edge.target), edge.kind == "->") for edge in found.edges]
    return {(a, b) for a, b, way in edges if way}, {(a, b) for a, b, way in edges if not way}


def causal_learn(frame: Any, test: str, seed: int) -> Graph:
    """causal-learn's ``pc``, with its own Fisher z and KCI, or with our default."""
    from causallearn.search.ConstraintBased.PC import pc

    from spectralcit.discovery import register_tests

    register_tests()
    name = {"default": "spectral", "Fisher z": "fisherz", "KCI": "kci"}[test]
    names = list(frame)
    marks = pc(frame.to_numpy(), ALPHA, name, show_progress=False, node_names=names).G.graph
    arrows, lines = set(), set()
    for i, j in itertools.combinations(range(len(names)), 2):
        # marks[j, i] is the mark at j of the edge i - j: 1 a head, -1 a tail.
        if marks[i, j] == marks[j, i] == 0:
            continue
        if marks[j, i] == 1 and marks[i, j] == -1:
            arrows.add((names[i], names[j]))
        elif marks[i, j] == 1 and marks[j, i] == -1:
            arrows.add((names[j], names[i]))
        else:  # no direction, or both
            lines.add((names[i], names[j]))
    return arrows, lines


def pgmpy(frame: Any, test: str, seed: int) -> Graph:
    """pgmpy's ``PC``, with its own partial correlation, or with our default or KCI."""
    from pgmpy.causal_discovery import PC

    from spectralcit.discovery import PgmpyTest

    own = {"default": "spectral", "KCI": "kcit"}
    chosen = PgmpyTest(frame, test=own[test], random_state=0) if test in own else "pearsonr"
    found = PC(ci_test=chosen, significance_level=ALPHA, n_jobs=1, show_progress=False).fit(frame)
    graph = found.causal_graph_
    arrows = {(str(a), str(b)) for a, b in getattr(graph, "directed_edges", graph.edges())}
    lines = {(str(a), str(b)) for a, b in getattr(graph, "undirected_edges", ())}
    return arrows, lines


PROGRAMS: dict[str, Search] = {"spectralcit": ours, "causal-learn": causal_learn, "pgmpy": pgmpy}
TESTS = ("default", "Fisher z", "KCI")


def subsample(rows: int, seed: int) -> Any:
    """Logarithms of the eleven measurements of some cells of the first experiment."""
    data = load_real("sachs")
    frame = data.frame[data.frame["condition"] == "cd3+cd28"]
    logs = frame[[name for name in frame if name.startswith("log_")]].rename(columns=lambda name: name[4:])
    kept = np.random.default_rng(seed).choice(len(logs), min(rows, len(logs)), replace=False)
    return logs.iloc[np.sort(kept)].reset_index(drop=True)


def read() -> list[dict[str, str]]:
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, COLUMNS))


def run(programs: list[str], tests: list[str], rows: int, subsamples: int) -> None:
    """Search what is missing, subsample by subsample."""
    known = {(r["program"], r["test"], r["rows"], r["seed"]) for r in read()}
    for seed in range(FIRST_SEED, FIRST_SEED + subsamples):
        frame = subsample(rows, seed)
        for program, test in itertools.product(programs, tests):
            if (program, test, str(rows), str(seed)) in known:
                continue
            started = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                arrows, lines = PROGRAMS[program](frame, test, seed)
            seconds = time.process_time() - started
            texts = [" ".join(sorted(f"{a}>{b}" for a, b in edges)) for edges in (arrows, lines)]
            with RESULTS.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow((program, test, rows, seed, ALPHA, f"{seconds:.2f}", *texts))
            print(f"{program:12s} {test:8s} {seed} {seconds:6.1f} s  {texts[0]} | {texts[1]}", flush=True)


def edges_of(text: str) -> Edges:
    return {tuple(edge.split(">")) for edge in text.split()}  # type: ignore[misc]


def pairs(edges: Edges) -> set[frozenset[str]]:
    return {frozenset(edge) for edge in edges}


def scores(arrows: Edges, lines: Edges, truth: Edges) -> dict[str, int]:
    """Pairs found and right, and arrows of right pairs that point as the consensus does or the other way."""
    right = pairs(arrows | lines) & pairs(truth)
    return {
        "found": len(pairs(arrows | lines)),
        "right": len(right),
        "forward": len(arrows & truth),
        "backward": sum((b, a) in truth and (a, b) not in truth for a, b in arrows),
    }


def table() -> str:
    """A row per program and test: means over subsamples, and how stable the pairs are."""
    truth = set(load_real("sachs").graph)
    lines = [
        "| program | test | searches | pairs found | of them in the consensus | arrows as there | reversed | "
        "pairs in 8 of 10 subsamples | CPU s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    results = read()
    for program, test in itertools.product(PROGRAMS, TESTS):
        own = [r for r in results if (r["program"], r["test"]) == (program, test)]
        if not own:
            continue
        graphs = [(edges_of(r["arrows"]), edges_of(r["lines"])) for r in own]
        each = [scores(*graph, truth) for graph in graphs]
        mean = {key: np.mean([score[key] for score in each]) for key in each[0]}
        often = Counter(pair for arrows, rest in graphs for pair in pairs(arrows | rest))
        stable = {pair for pair, count in often.items() if count >= 0.8 * len(own)}
        kept = f"{len(stable)} ({len(stable & pairs(truth))} right)"
        seconds = np.median([float(r["seconds"]) for r in own])
        shares = f"{mean['found']:.1f} | {mean['right']:.1f} of {len(pairs(truth))}"
        ways = f"{mean['forward']:.1f} | {mean['backward']:.1f}"
        lines.append(f"| {program} | {test} | {len(own)} | {shares} | {ways} | {kept} | {seconds:.1f} |")
    return "\n".join(lines)


def write_page() -> None:
    from spectralcit.benchmark.reproduce import fill_page

    fill_page(PAGE, "sachs", table())


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("what", choices=("run", "table", "page"))
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--tests", default=",".join(TESTS))
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--subsamples", type=int, default=10)
    options = parser.parse_args()
    if options.what == "run":
        run(options.programs.split(","), options.tests.split(","), options.rows, options.subsamples)
    elif options.what == "table":
        print(table())
    else:
        write_page()


if __name__ == "__main__":
    main()
