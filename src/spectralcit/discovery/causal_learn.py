"""causal-learn: every test of the package by name in ``pc``, ``fci`` and wherever ``CIT`` is used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from ..errors import LengthMismatchError, MissingExtraError
from ..numeric.digest import digest
from ..numeric.streams import resolve_seed
from ..registry import get_test, list_tests, registered_name
from .queries import QueryTester
from .store import PValueStore

try:
    from causallearn.utils import cit
    from causallearn.utils.cit import CIT_Base, register_ci_test
except ImportError as error:
    raise MissingExtraError(
        "this adapter needs causal-learn with register_ci_test (0.1.4.2 or newer): "
        "pip install -U 'spectralcit[causal-learn]'"
    ) from error

__all__ = ["CausalLearnTest", "register_tests"]

_MAX_STORES = 16  # p-values of the last few tables stay in memory, for pc after fci, or another alpha
_STORES: OrderedDict[str, PValueStore] = OrderedDict()  # by fingerprint, the last used at the end


class CausalLearnTest(CIT_Base):
    """What causal-learn makes when it meets the name of one of our tests; see `register_tests`.

    Parameters
    ----------
    data
        Array with one column per node.
    random_state
        Seed of all queries together.
    table
        The real data, an array or a frame, when nodes have several columns or columns are categories;
        `data` then only tells causal-learn how many nodes there are.
    nodes
        The columns of `table` that make up each node, as in `QueryTester`.
    cache_path
        A file for the p-values. It is keyed on the bytes of the data, the test, its parameters and the seed,
        and it only grows, so a killed search goes on where it was.
    **params
        Parameters of the test, such as ``missing="drop"``.

    Notes
    -----
    An array that is changed in place is noticed at the next query.
    """

    test_name: ClassVar[str] = "spectral"

    def __init__(
        self,
        data: np.ndarray,
        *,
        random_state: int | np.random.Generator | None = 0,
        table: Any = None,
        nodes: Any = None,
        cache_path: str | None = None,
        **params: Any,
    ) -> None:
        super().__init__(data)
        self.method = self.test_name
        self.cache_path = cache_path  # the host's own cache, keyed on printed text, stays out of use
        self._source = data if table is None else table
        self._settings = {"random_state": resolve_seed(random_state), "nodes": nodes, **params}
        self._mark = b""
        tester = self._current_tester()
        if table is not None and tester.n_nodes != data.shape[1]:
            raise LengthMismatchError(
                f"data has {data.shape[1]} columns, one for each node, but there are {tester.n_nodes} nodes"
            )

    def __call__(self, X: Any, Y: Any, condition_set: Iterable[Any] | None = None, *_: Any) -> float:
        """The p-value of "X is independent of Y given the condition set", all numbers of nodes."""
        tester = self._current_tester()
        query = tester.key(_single(X), _single(Y), () if condition_set is None else condition_set)
        known = self._store.known
        if query not in known:
            self._store.add([(query, tester.pvalue(*query))])
        return known[query]

    def _current_tester(self) -> QueryTester:
        mark = _mark(self._source)
        if mark != self._mark:
            self._tester = QueryTester(self._source, test=self.test_name, **self._settings)
            self._store = _store(self.cache_path, self._tester.fingerprint)
            self._mark = mark
        return self._tester


def register_tests(names: Iterable[str] | None = None) -> dict[str, str]:
    """Make tests of the package available to causal-learn by name.

    After this call ``pc(data, 0.05, "spectral")`` and ``fci(data, "spectral")`` work, and so do all functions
    of causal-learn that take the name of a test. Further arguments reach `CausalLearnTest`. Call it again
    after registering a test of your own.

    Parameters
    ----------
    names
        Which tests, by their names or aliases; all that `spectralcit.list_tests` knows when not given.

    Returns
    -------
    dict
        For each test its name in causal-learn. That is our own name, except where causal-learn has a test of
        that name (``"rcit"``): its own stays what it is, and ours is called ``"spectralcit-rcit"``.

    Examples
    --------
    >>> register_tests(["spectral", "rcit"])
    {'spectral': 'spectral', 'rcit': 'spectralcit-rcit'}
    """
    wanted = [info.name for info in list_tests()] if names is None else list(names)
    found = {}
    for name in wanted:
        ours = registered_name(get_test(name))  # an unknown name is an error with a suggestion
        found[name] = f"spectralcit-{ours}" if _is_foreign(ours) else ours
        register_ci_test(found[name], type("CausalLearnTest", (CausalLearnTest,), {"test_name": ours}))
    return found


def _is_foreign(name: str) -> bool:
    """Tell whether causal-learn or somebody else owns the name; causal-learn names its tests by constants."""
    registered = cit._custom_ci_tests.get(name)
    if registered is not None:
        return not issubclass(registered, CausalLearnTest)
    return vars(cit).get(name) == name


def _single(node: Any) -> Any:
    """Unwrap a list of one node, as causal-learn's kernel tests take it."""
    if isinstance(node, Iterable) and not isinstance(node, str):
        members = list(node)
        return members[0] if len(members) == 1 else members
    return node


def _mark(source: Any) -> bytes:
    if not isinstance(source, np.ndarray):
        return b"kept"  # the tester's copy of a frame is what counts
    return digest(f"{source.dtype}{source.shape}".encode(), source.tobytes())


def _store(path: str | None, fingerprint: str) -> PValueStore:
    if path is not None:
        return PValueStore(path, fingerprint)
    store = _STORES.setdefault(fingerprint, PValueStore(None, fingerprint))
    _STORES.move_to_end(fingerprint)
    while len(_STORES) > _MAX_STORES:
        _STORES.popitem(last=False)
    return store
