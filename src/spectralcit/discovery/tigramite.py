"""tigramite: a ``CondIndTest`` for PCMCI, PCMCI+ and their relatives on time series."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..abilities import honours
from ..errors import MissingExtraError, ParameterError
from ..making import Method, chosen_method, make_test
from ..registry import registered_name
from ..result import CITestResult
from .arrays import ArrayTester

try:
    from tigramite.independence_tests.independence_tests_base import CondIndTest
except ImportError as error:
    raise MissingExtraError(
        "this adapter needs tigramite 5.2 or newer: pip install 'spectralcit[tigramite]'"
    ) from error

__all__ = ["TigramiteTest"]


class TigramiteTest(CondIndTest):
    """A test of the package for ``tigramite.pcmci.PCMCI(cond_ind_test=...)``.

    The value of a link is the effect size of the test, or the size of its statistic when it has none; it has
    no sign. Variables that tigramite knows as discrete (``data_type`` 1) are treated as categories.

    Parameters
    ----------
    test, method
        Two names of one argument: the name of a test, its class, or an instance, whose own ``random_state``
        is ignored; ``"spectral"`` when not given.
    random_state
        Seed of all queries together.
    params
        Other parameters of the test.
    **options
        Options of tigramite's ``CondIndTest``, such as ``mask_type`` and ``verbosity``. ``significance`` is
        not among them: tigramite's "analytic" significance never sees the data, so the p-value of the test
        is handed over through the hook of its "shuffle_test". Nothing is shuffled.

    Notes
    -----
    The rows of a time series are not independent. A test that can honour ``time`` (`ci_test`) is told that
    they are in order, and takes adjacent rows together in blocks as long as the autocorrelations ask for;
    ``params={"time": None}`` switches that off. Other tests take rows for independent: PCMCI conditions on
    the estimated parents of both variables, which takes most of the memory away when these parents are
    right; otherwise their p-values are too small.

    ``pc_alpha=None`` (model selection) is not available; give a number.

    Examples
    --------
    >>> from tigramite.data_processing import DataFrame
    >>> series = np.random.default_rng(0).normal(size=(300, 2))
    >>> series[1:, 1] += series[:-1, 0] ** 2
    >>> test = TigramiteTest(test="spectral")
    >>> test.set_dataframe(DataFrame(series))
    >>> value, pvalue = test.run_test(X=[(0, -1)], Y=[(1, 0)], Z=[])
    >>> pvalue < 0.001
    True

    References
    ----------
    Runge, Nowack, Kretschmer, Flaxman, Sejdinovic (2019). Detecting and quantifying causal associations in
    large nonlinear time series datasets. Science Advances 5.
    """

    two_sided = False
    residual_based = False

    def __init__(
        self,
        test: Method | None = None,
        random_state: int | np.random.Generator | None = 0,
        params: dict[str, Any] | None = None,
        method: Method | None = None,
        **options: Any,
    ) -> None:
        for name in ("significance", "recycle_residuals", "seed"):
            if name in options:
                raise ParameterError(f"{name} is not an option here: the p-value is the test's own")
        chosen = chosen_method(test, method)
        honoured = "time" in honours(make_test(chosen).__class__)
        known = {"time": True, **(params or {})} if honoured else params or {}
        self._tester = ArrayTester(test=chosen, random_state=random_state, **known)
        super().__init__(seed=self._tester.random_state, significance="shuffle_test", **options)

    @property
    def measure(self) -> str:
        """Name of the test, for tigramite's messages."""
        return f"spectralcit {registered_name(type(self._tester.test))}"

    def get_dependence_measure(self, array: np.ndarray, xyz: np.ndarray, data_type: Any = None) -> float:
        """The effect size; `array` has one variable per row, `xyz` its role, `data_type` 1 where discrete."""
        result = self._result(array, xyz, data_type)
        return abs(result.statistic) if result.effect_size is None else result.effect_size

    def get_shuffle_significance(
        self,
        array: np.ndarray,
        xyz: np.ndarray,
        value: float,
        data_type: Any = None,
        return_null_dist: bool = False,
    ) -> float:
        """The p-value of the test; tigramite's hook for shuffling is the one that sees the data."""
        if return_null_dist:
            raise ParameterError("the null distribution is not available here; use ci_test")
        return self._result(array, xyz, data_type).pvalue

    def _result(self, array: np.ndarray, xyz: np.ndarray, data_type: Any) -> CITestResult:
        table = array.T
        if data_type is not None and np.any(data_type):
            table = table.astype(object)
            for j in np.flatnonzero(np.all(data_type, axis=1)):
                table[:, j] = [f"{value:g}" for value in array[j]]
        x, y, z = (table[:, np.asarray(xyz) == role] for role in range(3))
        return self._tester.result(x, y, z)
