"""DoWhy: a callable for ``falsify_graph`` and for every other place that takes an independence test."""

from __future__ import annotations

from typing import Any

from .arrays import ArrayTester

__all__ = ["DoWhyTest"]


class DoWhyTest(ArrayTester):
    """A test of the package in the form that `dowhy.gcm` expects: called with arrays, returns the p-value.

    One object serves as ``independence_test`` and as ``conditional_independence_test``. It can be pickled, so
    ``n_jobs`` works, and the answer does not depend on the seeds that DoWhy sets.

    Parameters
    ----------
    test, method
        Two names of one argument: the name of a test, its class, or an instance, whose own ``random_state``
        is ignored; ``"spectral"`` when not given.
    random_state
        Seed of all queries together; ``None`` draws one and keeps it in the attribute `random_state`.
    **params
        Parameters of the test.

    Examples
    --------
    >>> import numpy as np
    >>> x, y, z = np.random.default_rng(0).normal(size=(3, 200))
    >>> test = DoWhyTest(test="gcm")
    >>> test(x, x + y) < 0.001, test(x, y, z) > 0.001
    (True, True)

    References
    ----------
    Eulig, Mastakouri, Blöbaum, Hardt, Janzing (2023). Toward falsifying causal graphs using a
    permutation-based test. arXiv:2305.09565.
    """

    def __call__(self, X: Any, Y: Any, Z: Any = None) -> float:
        """Return the p-value of "X is independent of Y given Z".

        Parameters
        ----------
        X, Y, Z
            Arrays with one row per observation; `Z` may be ``None``.
        """
        return self.result(X, Y, Z).pvalue
