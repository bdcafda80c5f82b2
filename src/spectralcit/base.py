"""The class that every test derives from: prepares inputs, fixes the seed, wraps the result."""

from __future__ import annotations

import numbers
import secrets
import sys
import time
from abc import abstractmethod
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from .errors import ParameterError
from .inputs import CIData, prepare
from .registry import registered_name
from .result import CITestResult, Outcome

__all__ = ["BaseCITest"]

_SEED_LIMIT = 2**32  # what NumPy, SciPy, scikit-learn and JAX all accept


class BaseCITest(BaseEstimator):
    """Base of every conditional independence test.

    A subclass implements `_run` and, if it has parameters, a keyword-only ``__init__`` that stores them as
    given (scikit-learn's manners: ``get_params``, ``set_params``, ``clone`` and ``repr`` then work).

    Parameters
    ----------
    random_state
        Seed of every random choice, an integer in [0, 2**32). With ``None`` a seed is drawn from the
        operating system and recorded in ``result.seed``.
    missing
        ``"raise"`` or ``"drop"``: what to do with rows that have missing values.

    Attributes
    ----------
    min_rows : int
        Fewest rows the test accepts.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> class Correlation(BaseCITest):
    ...     def _run(self, data, seed):
    ...         r, p = stats.pearsonr(data.x.values[:, 0], data.y.values[:, 0])
    ...         return Outcome(statistic=r, pvalue=p, null=NullDistribution("t", {"df": data.n - 2}))
    >>> x = np.arange(30.0)
    >>> Correlation(random_state=0).test(x, x**2).reject()
    True
    """

    min_rows: ClassVar[int] = 20

    def __init__(self, *, random_state: int | None = None, missing: str = "raise") -> None:
        self.random_state = random_state
        self.missing = missing

    def test(self, x: Any, y: Any, z: Any = None) -> CITestResult:
        """Test whether `x` is independent of `y` given `z`.

        Parameters
        ----------
        x, y
            1-d or 2-d arrays, lists, pandas or polars frames or series, with one row per observation.
        z
            The conditioning variables, likewise; ``None`` for an unconditional test.

        Returns
        -------
        CITestResult
            The p-value and all that belongs to it.
        """
        started = time.perf_counter()
        seed = _resolve_seed(self.random_state)
        data = prepare(x, y, z, missing=self.missing, min_rows=self.min_rows)
        outcome = self._run(data, seed)
        return self._wrap(outcome, data, seed, seconds=time.perf_counter() - started)

    def _wrap(self, outcome: Outcome, data: CIData, seed: int, *, seconds: float) -> CITestResult:
        """Turn an outcome into what users get."""
        return CITestResult(
            statistic=outcome.statistic,
            pvalue=_never_zero(outcome.pvalue),
            effect_size=outcome.effect_size,
            method=registered_name(type(self)),
            n=data.n,
            n_train=outcome.n_train,
            n_test=outcome.n_test,
            null=outcome.null,
            diagnostics=outcome.diagnostics,
            warnings=(*data.notes, *outcome.warnings),
            seconds=seconds,
            seed=seed,
        )

    @abstractmethod
    def _run(self, data: CIData, seed: int) -> Outcome:
        """Compute statistic and p-value from checked data.

        Parameters
        ----------
        data
            Checked and encoded inputs, not standardised.
        seed
            The only source of randomness.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement _run(data, seed)")


def _resolve_seed(random_state: int | None) -> int:
    if random_state is None:
        return secrets.randbelow(_SEED_LIMIT)
    if isinstance(random_state, bool) or not isinstance(random_state, numbers.Integral):
        raise ParameterError(f"random_state must be an integer or None, got {random_state!r}")
    if not 0 <= random_state < _SEED_LIMIT:
        raise ParameterError(f"random_state must be in [0, 2**32), got {random_state!r}")
    return int(random_state)


def _never_zero(pvalue: float) -> float:
    # A tail probability below 1e-308 underflows to zero, but no finite sample proves dependence outright.
    return sys.float_info.min if pvalue == 0.0 else pvalue
