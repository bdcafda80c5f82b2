"""`pc`: the stable PC algorithm with any registered test, parallel and resumable."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ParameterError, SpectralCITWarning
from ..making import Method, chosen_method
from ..progress import Report
from ..registry import registered_name
from .evaluate import Evaluator
from .graph import DiscoveredGraph
from .knowledge import Knowledge, directed_cycle
from .options import check_search_options
from .orient import orient
from .queries import QueryTester
from .skeleton import find_skeleton
from .store import PValueStore

__all__ = ["pc"]


def pc(
    data: Any,
    test: Method | None = None,
    alpha: float = 0.05,
    *,
    method: Method | None = None,
    n_jobs: int | None = 1,
    random_state: int | np.random.Generator | None = 0,
    names: Sequence[str] | None = None,
    nodes: Sequence[Any] | Mapping[str, Any] | None = None,
    max_depth: int | None = None,
    knowledge: Knowledge | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: bool | Report | None = None,
    **params: Any,
) -> DiscoveredGraph:
    """Search for the causal graph behind a table: stable PC with Meek's rules.

    The graph is that of causal-learn's ``pc`` (stable, default rules) from the same p-values. A p-value is
    that of ``QueryTester(data, test=test, random_state=random_state).pvalue(i, j, given)``: same seed, same
    graph, whatever `n_jobs`. Tests that share a conditioning set share its decomposition when the test can,
    as the default one does.

    Parameters
    ----------
    data
        Array or frame, one row per observation; text and categories are welcome when the test takes them.
    test, method
        Two names of one argument: the name of a test, its class, or an instance, whose own ``random_state``
        is ignored; ``"spectral"`` when not given.
    alpha
        Level of each test: an edge goes when a p-value exceeds it.
    n_jobs
        Number of processes, as joblib counts; -1 for all cores.
    random_state
        Seed of all tests together.
    names, nodes
        Names of the nodes, and their columns when a node has several; see `QueryTester`.
    max_depth
        Largest size of conditioning sets; ``None`` for no limit.
    knowledge
        What is known beforehand: `Knowledge`, with tiers, forbidden and required arrows.
    store
        A file that takes every p-value as it comes. A search that was killed and is started again with the
        same data, test and seed repeats no test; `alpha`, `max_depth` and `knowledge` may change.
    progress
        Whether to show a bar for each size of conditioning sets when the standard error is a terminal, and
        a line a minute with the time left elsewhere, or a function that is called with (done, total).
        ``None`` shows it.
    **params
        ``groups``, ``time``, ``weights`` and their like as in `ci_test`, arrays or names of columns of
        `data`, which are then no nodes; and parameters of the test.

    Returns
    -------
    DiscoveredGraph
        Edges, p-values and separating sets; `graph` is causal-learn's graph object.

    Warns
    -----
    SpectralCITWarning
        When a level will take long, with an estimate; when columns repeat each other; when the edges that
        `knowledge` directs form a cycle, as forbidden arrows can have it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 500))
    >>> effect = np.abs(a) + np.sin(b) + 0.3 * rng.normal(size=500)
    >>> found = pc(np.column_stack([a, b, effect]), names=["a", "b", "effect"])
    >>> sorted((edge.source, edge.kind, edge.target) for edge in found.edges)
    [('a', '->', 'effect'), ('b', '->', 'effect')]

    References
    ----------
    Spirtes, Glymour, Scheines (2000). Causation, Prediction, and Search. MIT Press.
    Colombo, Maathuis (2014). Order-independent constraint-based causal structure learning. JMLR 15.
    """
    progress = True if progress is None else progress
    check_search_options(alpha=alpha, n_jobs=n_jobs, max_depth=max_depth, store=store, progress=progress)
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chosen = chosen_method(test, method)
        tester = QueryTester(data, test=chosen, random_state=random_state, names=names, nodes=nodes, **params)
    for one in caught:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        if issubclass(one.category, SpectralCITWarning):
            notes.append(str(one.message))
    if tester.n_nodes < 2:
        raise ParameterError(f"a graph needs at least two nodes, got {tester.n_nodes}")
    if knowledge is not None and not isinstance(knowledge, Knowledge):
        raise ParameterError(f"knowledge must be a Knowledge(tiers=..., ...) or None, got {knowledge!r}")
    known = (knowledge or Knowledge()).constraints(tester.names)
    evaluator = Evaluator(tester, PValueStore(store, tester.fingerprint), n_jobs=n_jobs, progress=progress)
    skeleton = find_skeleton(
        tester.n_nodes, evaluator, alpha=alpha, max_depth=max_depth, barred=known.barred, required=known.kept
    )
    given = known.directed & skeleton.adjacent
    notes += _cycle_note(given, tester.names)
    return DiscoveredGraph(
        names=tester.names,
        marks=orient(skeleton.adjacent, skeleton.sepsets, given),
        pvalues=skeleton.pvalues,
        sepsets=skeleton.sepsets,
        alpha=float(alpha),
        test=registered_name(type(tester.test)),
        random_state=tester.random_state,
        depth=skeleton.depth,
        n_rows=tester.n_rows,
        n_computed=evaluator.n_computed,
        warnings=tuple(notes),
        knowledge=knowledge or None,
        given=given,
    )


def _cycle_note(given: np.ndarray, names: Sequence[str]) -> list[str]:
    """Forbidden arrows alone contradict nothing, but together with the edges that were found they may."""
    cycle = directed_cycle(given)
    if not cycle:
        return []
    arrows = " -> ".join(names[k] for k in [*cycle, cycle[0]])
    text = f"the knowledge and the edges that were found contradict each other: {arrows} is a cycle"
    warnings.warn(text, SpectralCITWarning, stacklevel=3)
    return [text]
