"""`QueryTester`: one table, one test, and any number of questions "is i independent of j given S?"."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from .. import __version__
from ..errors import ParameterError, SpectralCITWarning, suggestion
from ..inputs.columns import Column
from ..inputs.design import said_of_rows
from ..inputs.read import read
from ..making import Method, chosen_method, make_test
from ..numeric.streams import resolve_seed
from ..parameters import check_parameters
from ..question import Question
from ..registry import registered_name
from ..result import CITestResult
from .answer import answer
from .copies import look_for_copies
from .nodes import check_columns, resolve_names, resolve_nodes, rows_apart

__all__ = ["Query", "QueryTester", "query_seed"]

Query: TypeAlias = tuple[int, int, tuple[int, ...]]
"""Two nodes and a conditioning set in canonical order: ``(min, max, sorted)``."""


class QueryTester:
    """Answers conditional independence queries about the nodes of one table.

    The answer to a query does not depend on which queries were asked before, nor on the order of its nodes:
    the two sides are always passed to the test in the order of the nodes, the conditioning set is sorted,
    and the seed is a hash of `random_state` and that set (`query_seed`). Answers are kept. The tester holds
    its own copy of the data, may be used from several threads, and can be pickled together with its answers.

    Parameters
    ----------
    data
        Array, list or frame, one row per observation. Text, booleans and categories are encoded as
        `prepare` does.
    test, method
        Two names of one argument: the name of a test, its class, or an instance, whose own ``random_state``
        is ignored; ``"spectral"`` when not given.
    random_state
        Seed of all queries together; ``None`` draws one and keeps it in the attribute `random_state`.
    names
        Names of the nodes; the frame's names, or ``X0``, ``X1``, ... when not given.
    nodes
        The columns of each node, for nodes with several columns: ``[[0, 1, 2], [3], 4]``, or a mapping
        ``{"pose": ["x", "y"], "age": ["age"]}``, which also names them. A frame's columns may be given by
        name. Without it, each column is a node.
    **params
        ``groups``, ``time``, ``weights`` and their like as in `ci_test`, arrays or names of columns, which
        are then no nodes; and parameters of the test, such as ``missing="drop"``: each query then uses the
        rows that are complete in its own columns.

    Attributes
    ----------
    names : tuple of str
        Names of the nodes.
    n_nodes, n_rows : int
        How many nodes and rows there are.
    cache : dict
        The answers so far, by `key`.
    fingerprint : str
        Digest of everything that decides an answer: the bytes of the data, nodes, test, parameters, seed and
        version of the package. Answers stored under it may be used again.

    Warns
    -----
    SpectralCITWarning
        When something was guessed while a file was read: dates, decimal commas. When two nodes hold the same
        column. Such nodes are dependent given anything without that column, and
        each of them is independent of the rest given the other: faithfulness does not hold, and a search
        may lose edges. Leave one of them out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=300)
    >>> b = a**2 + rng.normal(size=300)
    >>> tester = QueryTester(np.column_stack([a, b, b + rng.normal(size=300)]), test="gcm")
    >>> tester.pvalue(1, 2, []) < 0.01
    True
    >>> tester.pvalue(0, 2, [1]) == tester.pvalue(2, 0, [1])
    True
    """

    def __init__(
        self,
        data: Any,
        *,
        test: Method | None = None,
        method: Method | None = None,
        random_state: int | np.random.Generator | None = 0,
        names: Sequence[str] | None = None,
        nodes: Sequence[Any] | Mapping[str, Any] | None = None,
        **params: Any,
    ) -> None:
        rows, params = said_of_rows(params)
        self.test = make_test(chosen_method(test, method), **params)
        check_parameters(self.test)  # now, and not hours later
        self.random_state = resolve_seed(random_state)
        columns, self.rows = rows_apart(read(data, "data").columns, rows, self.test)
        self._nodes = resolve_nodes(nodes, columns)
        self.names = resolve_names(names, nodes, columns, self._nodes)
        self._columns = tuple(replace(column, values=column.values.copy()) for column in columns)
        used = [self._columns[j] for node in self._nodes for j in node]
        check_columns(used, self.test)
        for note in dict.fromkeys(note for column in used for note in column.notes):
            warnings.warn(note, SpectralCITWarning, stacklevel=2)
        look_for_copies(self.names, [self.block([node]) for node in range(self.n_nodes)])
        self.cache: dict[Query, CITestResult] = {}
        self.fingerprint = self._digest()

    @property
    def n_nodes(self) -> int:
        return len(self._nodes)

    @property
    def n_rows(self) -> int:
        return len(self._columns[0].values)

    def index(self, node: Any) -> int:
        """The number of a node that is given by name or by number."""
        if isinstance(node, (int, np.integer)) and not isinstance(node, bool):
            if not 0 <= node < self.n_nodes:
                raise ParameterError(f"there is no node {node}: the nodes are 0 to {self.n_nodes - 1}")
            return int(node)
        if node not in self.names:
            raise ParameterError(f"there is no node {node!r}.{suggestion(node, self.names)}")
        return self.names.index(node)

    def key(self, i: Any, j: Any, given: Iterable[Any] = ()) -> Query:
        """The query in canonical order, in which repetitions in `given` count once."""
        first, second = sorted((self.index(i), self.index(j)))
        conditions = tuple(sorted({self.index(node) for node in given}))
        if first == second or first in conditions or second in conditions:
            listing = ", ".join(self.names[k] for k in conditions)
            raise ParameterError(
                f"a query needs three disjoint parts, got {self.names[first]} and {self.names[second]} "
                f"given {{{listing}}}"
            )
        return first, second, conditions

    def pvalue(self, i: Any, j: Any, given: Iterable[Any] = ()) -> float:
        """Return the p-value of "`i` is independent of `j` given `given`".

        Parameters
        ----------
        i, j, given
            Nodes by number or by name.
        """
        return self.result(i, j, given).pvalue

    def result(self, i: Any, j: Any, given: Iterable[Any] = ()) -> CITestResult:
        """Return the answer to a query, without diagnostics.

        Parameters
        ----------
        i, j, given
            Nodes by number or by name.
        """
        query = self.key(i, j, given)
        known = self.cache.get(query)
        # Two threads may compute the same answer; the first one stays, and both get that one.
        return known if known is not None else self.cache.setdefault(query, self._compute(query))

    def block(self, nodes: Iterable[int]) -> list[Column]:
        """The columns of some nodes, in order."""
        return [self._columns[j] for node in nodes for j in self._nodes[node]]

    def _compute(self, query: Query) -> CITestResult:
        i, j, given = query
        seed = query_seed(self.random_state, query)
        try:
            sides = self.block([i]), self.block([j]), self.block(given)
            found = answer(self.test, *sides, seed=seed, rows=self.rows)
            in_z = tuple(self.names[k] for k in given)
            return replace(found, question=Question((self.names[i],), (self.names[j],), in_z))
        except Exception as error:
            conditions = ", ".join(self.names[k] for k in given)
            error.add_note(f"in the query {self.names[i]} and {self.names[j]} given {{{conditions}}}")
            raise

    def _digest(self) -> str:
        # Not `numeric.digest`, whose bytes differ: stores that people have keep their keys.
        digest = hashlib.sha256()
        parts = [__version__, self.random_state, self._nodes, registered_name(type(self.test))]
        settings = {k: v for k, v in self.test.get_params().items() if k != "random_state"}
        digest.update(repr((*parts, sorted(settings.items()))).encode())
        for column in self._columns:
            digest.update(repr((column.values.dtype.str, column.levels, column.values.shape)).encode())
            digest.update(column.values.tobytes())
        for name, said in sorted(self.rows.items()):
            digest.update(repr((name, said if isinstance(said, int | str) else "")).encode())
            for column in () if isinstance(said, int | str) else read(said, name).columns:
                digest.update(repr(column.levels).encode() + column.values.tobytes())
        return digest.hexdigest()


def query_seed(random_state: int, query: Query) -> int:
    """The seed of a query, which its conditioning set decides.

    All queries given the same nodes share it, so that what a test does with them (landmarks, random features,
    signs) can be done once for all of them; see `BaseCITest.share`.
    """
    digest = hashlib.blake2b(repr((random_state, query[2])).encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big")
