"""The answer of a search: a partly directed graph with the p-values behind it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import MissingExtraError
from .knowledge import Knowledge
from .orient import ARROW, TAIL
from .queries import Query

__all__ = ["DiscoveredGraph", "FoundEdge"]

_SHOWN = 60  # edges in print(); the other formats have all


@dataclass(frozen=True)
class FoundEdge:
    """One edge.

    Parameters
    ----------
    source, target
        Names of the nodes; a directed edge points from source to target.
    kind
        ``"->"``, ``"--"`` (direction unknown) or ``"<->"`` (arrowheads at both ends).
    pvalue
        The largest p-value of all tests of this pair: the evidence at its weakest.
    n_tests
        How many tests the edge survived.
    given
        Whether the knowledge that was given decided its direction, and not the data.
    """

    source: str
    target: str
    kind: str
    pvalue: float
    n_tests: int
    given: bool = False


@dataclass(frozen=True, eq=False)
class DiscoveredGraph:
    """What `pc` found.

    Parameters
    ----------
    names
        Names of the nodes.
    marks
        ``marks[i, j]`` is the mark at i of the edge between i and j, in causal-learn's code: -1 tail,
        1 arrowhead, 0 no edge.
    pvalues
        The p-value of every test that was made, under (i, j, given): numbers of nodes, i < j, `given` sorted.
    sepsets
        For each pair (i, j) without an edge, the sets that separate it.
    alpha, test, random_state
        The settings.
    depth
        Size of the largest conditioning sets.
    n_rows
        Rows of the data.
    n_computed
        Tests that were made now; the others came from the store.
    warnings
        Sentences to read before the graph is trusted.
    knowledge
        What was known before the search, if anything.
    given
        ``given[i, j]``: that knowledge decided that the edge between i and j points to j.
    """

    names: tuple[str, ...]
    marks: np.ndarray
    pvalues: dict[Query, float]
    sepsets: dict[tuple[int, int], tuple[tuple[int, ...], ...]]
    alpha: float
    test: str
    random_state: int
    depth: int
    n_rows: int
    n_computed: int
    warnings: tuple[str, ...] = ()
    knowledge: Knowledge | None = None
    given: np.ndarray | None = None

    @property
    def skeleton(self) -> np.ndarray:
        """Symmetric boolean matrix: which nodes are joined by an edge."""
        return self.marks != 0

    @cached_property
    def edges(self) -> tuple[FoundEdge, ...]:
        """All edges, directed ones from where the arrow starts to where it points."""
        weakest: dict[tuple[int, int], list[float]] = {}
        for (i, j, _), pvalue in self.pvalues.items():
            weakest.setdefault((i, j), []).append(pvalue)
        found = []
        for i, j in zip(*np.nonzero(np.triu(self.marks != 0)), strict=True):
            here, there = self.marks[i, j], self.marks[j, i]
            kind = "--" if here == there == TAIL else "<->" if here == there == ARROW else "->"
            source, target = (j, i) if (here, there) == (ARROW, TAIL) else (i, j)
            tests = weakest[int(i), int(j)]
            given = self.given is not None and bool(self.given[source, target])
            ends = self.names[source], self.names[target]
            found.append(FoundEdge(*ends, kind, max(tests), len(tests), given))
        return tuple(found)

    @property
    def graph(self) -> Any:
        """The graph as causal-learn's ``GeneralGraph``."""
        try:
            from causallearn.graph.Edge import Edge
            from causallearn.graph.Endpoint import Endpoint
            from causallearn.graph.GeneralGraph import GeneralGraph
            from causallearn.graph.GraphNode import GraphNode
        except ImportError as error:
            raise MissingExtraError(
                "causal-learn's graph object needs causal-learn: pip install 'spectralcit[discovery]'; "
                "edges, marks, to_dot() and to_json() work without it"
            ) from error
        nodes = [GraphNode(name) for name in self.names]
        graph = GeneralGraph(nodes)
        ends = {TAIL: Endpoint.TAIL, ARROW: Endpoint.ARROW}
        for i, j in zip(*np.nonzero(np.triu(self.marks != 0)), strict=True):
            # causal-learn's graphs accept an arrow at the second end, or at both.
            a, b = (j, i) if self.marks[i, j] == ARROW and self.marks[j, i] == TAIL else (i, j)
            graph.add_edge(Edge(nodes[a], nodes[b], ends[self.marks[a, b]], ends[self.marks[b, a]]))
        return graph

    def to_dict(self) -> dict[str, Any]:
        """Return nodes, edges, separating sets and settings as plain JSON types."""
        return {
            "nodes": list(self.names),
            "edges": [vars(edge) for edge in self.edges],
            "separating_sets": [
                {
                    "pair": [self.names[i], self.names[j]],
                    "given": [self.names[k] for k in given],
                    "pvalue": self.pvalues[i, j, given],
                }
                for (i, j), sets in sorted(self.sepsets.items())
                for given in sets
            ],
            "settings": {
                "test": self.test,
                "alpha": self.alpha,
                "random_state": self.random_state,
                "depth": self.depth,
                **({} if self.knowledge is None else {"knowledge": self.knowledge.to_dict()}),
            },
            "n_rows": self.n_rows,
            "n_tests": len(self.pvalues),
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def to_dot(self) -> str:
        """Return the graph in the DOT language of Graphviz, edges labelled with their p-values."""
        ends = {"->": "", "--": ", dir=none", "<->": ", dir=both"}
        lines = [f"  {_quoted(name)};" for name in self.names]
        lines += [
            f"  {_quoted(edge.source)} -> {_quoted(edge.target)} "
            f'[label="p = {edge.pvalue:.2g}"{ends[edge.kind]}];'
            for edge in self.edges
        ]
        return "digraph {\n" + "\n".join(lines) + "\n}\n"

    def to_html(self) -> str:
        """Return one self-contained page with the graph drawn and its tables."""
        from .page import graph_page

        return graph_page(self)

    def to_networkx(self) -> Any:
        """Return the graph as a ``networkx.DiGraph``.

        An arrow is one edge, with `kind`, `pvalue`, `n_tests` and `given` as its attributes. An edge without
        a direction, and one with arrowheads at both ends, are two, one each way; `kind` tells them apart.
        """
        try:
            import networkx
        except ImportError as error:
            raise MissingExtraError(
                "to_networkx needs networkx: pip install networkx; edges, marks, to_dot() and to_json() work "
                "without it"
            ) from error
        graph = networkx.DiGraph()
        graph.add_nodes_from(self.names)
        for edge in self.edges:
            said = {"kind": edge.kind, "pvalue": edge.pvalue, "n_tests": edge.n_tests, "given": edge.given}
            graph.add_edge(edge.source, edge.target, **said)
            if edge.kind != "->":
                graph.add_edge(edge.target, edge.source, **said)
        return graph

    def _repr_html_(self) -> str:
        from .page import graph_fragment

        return graph_fragment(self)

    def __str__(self) -> str:
        head = (
            f"{len(self.edges)} edges among {len(self.names)} nodes "
            f"({self.test}, alpha = {self.alpha:g}, {len(self.pvalues)} tests on {self.n_rows} rows)"
        )
        lines = [
            f"  {e.source} {e.kind} {e.target}   p = {e.pvalue:.2g}{', direction given' if e.given else ''}"
            for e in self.edges[:_SHOWN]
        ]
        if len(self.edges) > _SHOWN:
            lines.append(f"  ... and {len(self.edges) - _SHOWN} more")
        return "\n".join([head, *lines, *(f"  warning: {text}" for text in self.warnings)])


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
