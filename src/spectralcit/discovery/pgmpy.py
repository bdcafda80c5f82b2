"""pgmpy: an instance for ``PC(ci_test=...)``, called with the names of columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError
from ..making import Method
from .queries import QueryTester

if TYPE_CHECKING:
    import numpy as np

try:
    from pgmpy.ci_tests import _BaseCITest
except ImportError as error:
    raise MissingExtraError(
        "this adapter needs pgmpy 1.1 or newer: pip install 'spectralcit[pgmpy]'"
    ) from error

__all__ = ["PgmpyTest"]


class PgmpyTest(_BaseCITest):  # type: ignore[misc]
    """A test of the package for ``pgmpy.causal_discovery.PC(ci_test=...)``.

    Parameters
    ----------
    data
        The frame that is also given to ``PC.fit``. Text, booleans and categories are encoded as usual.
    test, method
        Two names of one argument: the name of a test, its class, or an instance, whose own ``random_state``
        is ignored; ``"spectral"`` when not given.
    random_state
        Seed of all queries together.
    missing
        ``"raise"``, or ``"drop"`` to use, for each query, the rows that are complete in its columns.
    params
        Other parameters of the test.

    Attributes
    ----------
    p_value_, statistic_, effect_size_ : float
        Of the last query. A test without an effect size gives the size of its statistic.

    Notes
    -----
    ``PC(variant="parallel")`` calls one instance from several threads. The decision is therefore taken from
    the query's own result, not from the attributes, which another thread may have changed.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=["a", "b", "c"])
    >>> test = PgmpyTest(frame.assign(b=frame.a + frame.b), test="gcm")
    >>> test("a", "b", ["c"], significance_level=0.05), test.p_value_ < 0.001
    (False, True)
    """

    _tags = {  # noqa: RUF012 (the form that the host reads)
        "name": "spectralcit",
        "data_types": ("continuous", "discrete", "mixed"),
        "default_for": None,
        "requires_data": True,
        "is_symmetric": True,
    }

    def __init__(
        self,
        data: Any,
        test: Method | None = None,
        random_state: int | np.random.Generator | None = 0,
        missing: str = "raise",
        params: dict[str, Any] | None = None,
        method: Method | None = None,
    ) -> None:
        self.data = data
        self.test = test
        self.random_state = random_state
        self.missing = missing
        self.params = params
        self.method = method
        super().__init__()
        self._tester = QueryTester(
            data, test=test, method=method, random_state=random_state, missing=missing, **(params or {})
        )
        labels = data.columns if hasattr(data, "columns") else range(self._tester.n_nodes)
        self._numbers = {label: j for j, label in enumerate(labels)}

    def run_test(self, X: Any, Y: Any, Z: Iterable[Any] = ()) -> tuple[float, float]:
        """Return statistic and p-value, and set the attributes.

        Parameters
        ----------
        X, Y, Z
            Names of columns.
        """
        conditions = list(Z)
        self._validate_inputs(X, Y, conditions)
        i, j, *given = (self._numbers.get(label, label) for label in (X, Y, *conditions))
        result = self._tester.result(i, j, given)
        effect = abs(result.statistic) if result.effect_size is None else result.effect_size
        self.statistic_, self.p_value_, self.effect_size_ = result.statistic, result.pvalue, effect
        return result.statistic, result.pvalue

    def is_independent(self, X: Any, Y: Any, Z: Iterable[Any] = (), significance_level: float = 0.05) -> bool:
        """Tell whether the p-value is at least `significance_level`.

        Parameters
        ----------
        X, Y, Z
            Names of columns.
        significance_level
            The level.
        """
        return self.run_test(X, Y, Z)[1] >= significance_level
