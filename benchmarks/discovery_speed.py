"""Our `pc` with the default test against causal-learn's PC with KCI: time and skeleton, side by side.

Twenty random graphs of ten nodes and eleven edges, nonlinear functions, additive noise, 1000 rows. For each
graph both searches run one after the other in this process, on one thread. Every finished search is appended
to the results, so an interrupted run goes on where it was.

    OMP_NUM_THREADS=1 python benchmarks/discovery_speed.py            # run what is missing, then draw
    python benchmarks/discovery_speed.py --summary                    # table and figure only
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from appended import append_row

# Committed, with its figure; docs/discovery.md quotes it.
RESULTS = Path(__file__).parent / "results" / "discovery_speed.csv"
FIGURE = RESULTS.with_suffix(".png")  # beside it
# A line per graph and method.
FIELDS = ("graph", "method", "cpu_seconds", "wall_seconds", "n_tests", "true", "found", "correct", "f1")
N_GRAPHS, N_NODES, N_EDGES, N_ROWS, ALPHA = 20, 10, 11, 1000, 0.05
FIRST_SEED = 2000  # by hand; graph i is drawn from this plus i

FUNCTIONS = (  # by hand: odd and even, bounded and not, of similar spread
    lambda v: np.sin(2.0 * v),
    lambda v: np.tanh(2.0 * v),
    lambda v: v**2 / np.sqrt(2.0),
    lambda v: np.abs(v) * 1.5,
    lambda v: np.cos(1.5 * v) * 1.5,
)


def random_model(
    seed: int, n_nodes: int = N_NODES, n_edges: int = N_EDGES, n_rows: int = N_ROWS
) -> tuple[np.ndarray, np.ndarray]:
    """Return data and the true skeleton. The order of the columns says nothing about the causal order."""
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for j in range(n_nodes) for i in range(j)]
    edges = {pairs[k] for k in rng.choice(len(pairs), n_edges, replace=False)}
    values = np.zeros((n_rows, n_nodes))
    for j in range(n_nodes):
        total = 0.5 * rng.standard_normal(n_rows)
        parents = [i for i in range(j) if (i, j) in edges]
        for i in parents:
            total += FUNCTIONS[rng.integers(len(FUNCTIONS))](values[:, i])
        values[:, j] = (total - total.mean()) / total.std()
    skeleton = np.zeros((n_nodes, n_nodes), dtype=bool)
    for i, j in edges:
        skeleton[i, j] = skeleton[j, i] = True
    order = rng.permutation(n_nodes)
    return values[:, order], skeleton[np.ix_(order, order)]


def ours(data: np.ndarray) -> tuple[np.ndarray, int]:
    from spectralcit.discovery import pc

    found = pc(data, alpha=ALPHA, progress=False)
    return found.skeleton, len(found.pvalues)


def causal_learn(test: str):
    def run(data: np.ndarray) -> tuple[np.ndarray, int]:
        from causallearn.search.ConstraintBased.PC import pc

        found = pc(data, ALPHA, test, show_progress=False)
        return found.G.graph != 0, len(found.test.pvalue_cache)

    return run


# By the names that the committed lines have.
METHODS = {
    "spectralcit pc, spectral": ours,
    "causal-learn pc, fisherz": causal_learn("fisherz"),
    "causal-learn pc, kci": causal_learn("kci"),
}


def known() -> list[dict[str, str]]:
    if not RESULTS.exists():
        return []
    with RESULTS.open() as file:
        return list(csv.DictReader(file))


def run() -> None:
    done = {(int(row["graph"]), row["method"]) for row in known()}
    warm_up = np.random.default_rng(0).standard_normal((100, 3))
    for method in METHODS.values():
        method(warm_up)  # imports and first-use costs are not what is compared
    for graph in range(N_GRAPHS):
        data, truth = random_model(FIRST_SEED + graph)
        for name, method in METHODS.items():
            if (graph, name) not in done:
                append(measure(graph, name, method, data, truth))


def measure(graph: int, name: str, method, data: np.ndarray, truth: np.ndarray) -> dict[str, object]:
    cpu, wall = time.process_time(), time.perf_counter()
    skeleton, n_tests = method(data)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    correct, true, found = ((m.sum() // 2) for m in (skeleton & truth, truth, skeleton))
    f1 = 2 * correct / max(true + found, 1)
    values = (graph, name, f"{cpu:.3f}", f"{wall:.3f}", n_tests, true, found, correct, f"{f1:.4f}")
    return dict(zip(FIELDS, values, strict=True))


def append(row: dict[str, object]) -> None:
    append_row(RESULTS, row)
    print(row, flush=True)


def summary() -> None:
    rows = known()
    table = {}
    for name in METHODS:
        mine = [row for row in rows if row["method"] == name]
        if mine:
            table[name] = {
                key: np.array([float(row[key]) for row in mine]) for key in ("cpu_seconds", "f1", "n_tests")
            }
            graphs = [int(row["graph"]) for row in mine]
            f1, cpu = table[name]["f1"], table[name]["cpu_seconds"]
            error = f1.std(ddof=1) / np.sqrt(len(f1)) if len(f1) > 1 else np.nan
            print(
                f"{name:<40} graphs {len(graphs):>2}  CPU {cpu.mean():7.1f} s  tests "
                f"{table[name]['n_tests'].mean():6.0f}  F1 {f1.mean():.3f} ± {error:.3f}"
            )
    peer, mine = (
        {int(r["graph"]): float(r["cpu_seconds"]) for r in rows if r["method"] == name}
        for name in ("causal-learn pc, kci", "spectralcit pc, spectral")
    )
    both = sorted(peer.keys() & mine.keys())
    if both:
        ratios = np.array([peer[g] / mine[g] for g in both])
        print(
            f"time of KCI over ours, graph by graph: median {np.median(ratios):.1f}, "
            f"least {ratios.min():.1f}; in total "
            f"{sum(peer[g] for g in both) / sum(mine[g] for g in both):.1f}"
        )
    draw(table)


def draw(table: dict[str, dict[str, np.ndarray]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 2.4), sharey=True, layout="constrained")
    for position, (_, columns) in enumerate(table.items()):
        axes[0].plot(columns["cpu_seconds"], np.full(len(columns["f1"]), position), "o", alpha=0.5)
        axes[1].plot(columns["f1"], np.full(len(columns["f1"]), position), "o", alpha=0.3)
        axes[1].plot(columns["f1"].mean(), position, "k|", markersize=16)
    axes[0].set(
        xscale="log", xlabel="CPU seconds per graph", yticks=range(len(table)), yticklabels=list(table)
    )
    axes[1].set(xlabel="F1 of the skeleton (bar: mean)", xlim=(0, 1.02))
    figure.savefig(FIGURE, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if "--summary" not in sys.argv:
        run()
    summary()
