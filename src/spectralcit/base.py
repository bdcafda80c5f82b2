"""The class that every test derives from: prepares inputs, fixes the seed, wraps the result."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Unpack, dataclass_transform

from sklearn.base import BaseEstimator

from .abilities import require_censored, require_honours
from .errors import ResultWarning, warn_caller
from .inputs import CIData, RowArguments, prepare
from .making import make_test
from .null.bounds import SMALLEST_PVALUE
from .numeric.streams import resolve_seed, seed_option
from .numeric.threads import suited_threads
from .parameters import (
    anything,
    changed_parameters,
    check_parameters,
    choice,
    declare_fields,
    flag,
    integer,
    real,
)
from .progress import progress_option
from .registry import registered_name
from .result import CITestResult, Outcome
from .sharing import ManyProblems
from .views import Kept

if TYPE_CHECKING:
    import numpy as np

    from .inputs import RowDesign
    from .views import LeadingPair

__all__ = ["BaseCITest", "make_test"]

_NOT_SETTINGS = ("random_state", "missing", "progress")  # what a report has from elsewhere or not at all
_MOST_KEPT = 2**27  # bytes of data that a result keeps, by hand: a shelf of results should fit in memory


@dataclass_transform(
    kw_only_default=True,
    eq_default=False,
    field_specifiers=(anything, choice, flag, integer, real, progress_option),
)
class BaseCITest(ManyProblems, BaseEstimator):
    """Base of every conditional independence test.

    A subclass implements `_run`. Its parameters are fields made by `spectralcit.parameters`: each is declared
    once, and signature, documentation, ``get_params``, ``clone``, ``repr`` and the check of values follow.
    Values are stored as given and checked when the test runs, as scikit-learn does it.

    Attributes
    ----------
    min_rows : int
        Fewest rows the test accepts.
    threads_suffice : bool
        Whether threads are as good as processes for running many of this test side by side.

    Examples
    --------
    >>> from scipy import stats
    >>> from spectralcit import NullDistribution, Outcome
    >>> class Correlation(BaseCITest):
    ...     def _run(self, data, seed):
    ...         r, p = stats.pearsonr(data.x.values[:, 0], data.y.values[:, 0])
    ...         return Outcome(statistic=r, pvalue=p, null=NullDistribution("t", {"df": data.n - 2}))
    >>> x = [float(k) for k in range(30)]
    >>> Correlation(random_state=0).test(x, [value**2 for value in x]).reject()
    True
    """

    min_rows: ClassVar[int] = 20
    threads_suffice: ClassVar[bool] = False

    random_state: int | np.random.Generator | None = seed_option(
        "Seed of every random choice; of a Generator, or with None, one is drawn for each test and recorded "
        "in ``result.seed``."
    )
    missing: str = choice(
        "raise",
        "What to do with missing values: an error; ``'drop'`` rows that have some; or ``'impute'`` them, "
        "drawn several times under the null hypothesis.",
        "raise",
        "drop",
        "impute",
    )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declare_fields(cls)

    def test(self, x: Any, y: Any, z: Any = None, **rows: Unpack[RowArguments]) -> CITestResult:
        """Test whether `x` is independent of `y` given `z`.

        Parameters
        ----------
        x, y
            1-d or 2-d arrays, lists, pandas or polars frames or series, with one row per observation. A tuple
            ``(times, events)``, or scikit-survival's structured array, is a `y` of which some are censored.
        z
            The conditioning variables, likewise; ``None`` for an unconditional test.
        **rows
            ``groups``, ``time``, ``weights``, ``block_length`` and ``weight_kind``: how rows belong
            together and how much each counts, see `ci_test`.

        Returns
        -------
        CITestResult
            The p-value and all that belongs to it.

        Warns
        -----
        ResultWarning
            Each of ``result.warnings``, pointing at the caller.
        """
        started = time.perf_counter()
        data = self.prepare(x, y, z, **rows)
        result = self._conduct(data, None, started)[0]
        warn_caller(result.warnings, ResultWarning)
        if data.nbytes > _MOST_KEPT:
            return result
        return result.keeping(Kept(data, changed_parameters(self, without=_NOT_SETTINGS)))

    def prepare(self, x: Any, y: Any, z: Any = None, **rows: Unpack[RowArguments]) -> CIData:
        """Check the parameters, then the inputs, and encode these as the test wants them.

        Parameters
        ----------
        x, y, z, **rows
            As in `test`.

        Returns
        -------
        CIData
            What `run` takes; tests of other kinds take it too.
        """
        check_parameters(self)
        data = prepare(x, y, z, missing=self.missing, min_rows=self.min_rows, **rows)
        self.check_design(data.design)
        return data

    def check_design(self, design: RowDesign | None) -> None:
        """Refuse a `design` of rows that this test cannot honour."""
        if design is not None:
            require_honours(type(self), design.given)

    def run(self, data: CIData, seed: int | None = None) -> CITestResult:
        """Test prepared data.

        Parameters
        ----------
        data
            From `prepare`.
        seed
            Seed of this run; that of ``random_state`` when not given.

        Returns
        -------
        CITestResult
            That of `test` on the same data and seed.
        """
        check_parameters(self)
        return self._conduct(data, seed, time.perf_counter())[0]

    def examine(self, data: CIData, seed: int | None = None) -> tuple[CITestResult, LeadingPair | None]:
        """Test prepared data, and hand back also what a report draws: residuals and the leading pair.

        Parameters
        ----------
        data, seed
            As in `run`.

        Returns
        -------
        result : CITestResult
            As from `run`.
        pair : LeadingPair or None
            None when the test has nothing of this kind to show.
        """
        check_parameters(self)
        result, outcome = self._conduct(data, seed, time.perf_counter())
        return result, None if outcome.show is None else outcome.show()

    def _conduct(self, data: CIData, seed: int | None, started: float) -> tuple[CITestResult, Outcome]:
        self.check_design(data.design)
        seed = resolve_seed(self.random_state if seed is None else seed)
        if data.y.event is not None:
            require_censored(type(self), () if data.design is None else data.design.given)
        with suited_threads(data.n):
            outcome = self._run(data, seed) if data.incomplete is None else self._run_on_draws(data, seed)
        return self._wrap(outcome, data, seed, seconds=time.perf_counter() - started), outcome

    def _run_on_draws(self, data: CIData, seed: int) -> Outcome:
        from .imputation.pooling import pooled_outcome  # few data need it

        return pooled_outcome(self._run, data, seed)

    def leading_pair(self, data: CIData, seed: int) -> LeadingPair | None:
        """Compute again what `examine` showed of an earlier run with this seed, without that run.

        Parameters
        ----------
        data, seed
            As in `run`.

        Returns
        -------
        LeadingPair or None
            None when there is nothing to show, or when it would cost as much as the test.
        """
        return None

    def _wrap(self, outcome: Outcome, data: CIData, seed: int, *, seconds: float) -> CITestResult:
        """Turn an outcome into what users get."""
        about = {} if data.design is None else {"rows": dict(data.design.facts)}
        return CITestResult(
            statistic=outcome.statistic,
            pvalue=outcome.pvalue or SMALLEST_PVALUE,
            effect_size=outcome.effect_size,
            method=registered_name(type(self)),
            n=data.n,
            n_train=outcome.n_train,
            n_test=outcome.n_test,
            null=outcome.null,
            diagnostics={**outcome.diagnostics, **data.y.censoring, **about},
            warnings=(*data.notes, *outcome.warnings),
            seconds=seconds,
            seed=seed,
            question=data.question,
        )

    @abstractmethod
    def _run(self, data: CIData, seed: int) -> Outcome:
        """Compute statistic and p-value from checked data, with `seed` as the only source of randomness."""
        raise NotImplementedError(f"{type(self).__name__} must implement _run(data, seed)")


declare_fields(BaseCITest)
