"""The class that every test derives from: prepares inputs, fixes the seed, wraps the result."""

from __future__ import annotations

import sys
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from sklearn.base import BaseEstimator, clone

from .errors import ParameterError, suggestion
from .inputs import CIData, prepare
from .numeric.streams import resolve_seed, seed_option
from .numeric.threads import suited_threads
from .parameters import anything, check_parameters, choice, document, flag, integer, real
from .progress import progress_option
from .registry import get_test, registered_name
from .result import CITestResult, Outcome

if TYPE_CHECKING:
    from .inputs import Block
    from .views import LeadingPair

__all__ = ["BaseCITest", "SharedConditioning", "make_test", "never_zero"]


class SharedConditioning:
    """Tests of one kind given one Z, which is decomposed once; see `BaseCITest.share`."""

    @abstractmethod
    def pvalue(self, x: Any, y: Any) -> float:
        """P-value of the variables under the keys `x` and `y`, bit for bit that of a test on its own."""
        raise NotImplementedError(f"{type(self).__name__} must implement pvalue(x, y)")


@dataclass_transform(
    kw_only_default=True,
    eq_default=False,
    field_specifiers=(anything, choice, flag, integer, real, progress_option),
)
class BaseCITest(BaseEstimator):
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

    random_state: int | None = seed_option(
        "Seed of every random choice; with None one is drawn and recorded in ``result.seed``."
    )
    missing: str = choice("raise", "What to do with rows that have missing values.", "raise", "drop")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _declare(cls)

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
        return self._conduct(self.prepare(x, y, z), None, started)[0]

    def prepare(self, x: Any, y: Any, z: Any = None) -> CIData:
        """Check the parameters, then the inputs, and encode these as the test wants them.

        Parameters
        ----------
        x, y, z
            As in `test`.

        Returns
        -------
        CIData
            What `run` takes; tests of other kinds take it too.
        """
        check_parameters(self)
        return prepare(x, y, z, missing=self.missing, min_rows=self.min_rows)

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
        seed = resolve_seed(self.random_state if seed is None else seed)
        with suited_threads(data.n):
            outcome = self._run(data, seed)
        return self._wrap(outcome, data, seed, seconds=time.perf_counter() - started), outcome

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

    def share(self, blocks: Mapping[Any, Block], z: Block | None, *, seed: int) -> SharedConditioning | None:
        """Prepare many tests given one Z, when this test can share what it computes of Z.

        Parameters
        ----------
        blocks
            The variables, under any keys: prepared columns of equal length.
        z
            The conditioning variables; ``None`` for unconditional tests.
        seed
            The seed of all these tests.

        Returns
        -------
        SharedConditioning or None
            None when nothing can be shared; then each question is a test of its own.
        """
        return None

    def batches(self, datas: Sequence[CIData]) -> list[list[int]]:
        """Say which of many problems to run together, when that is quicker than one by one.

        Parameters
        ----------
        datas
            From `prepare`.

        Returns
        -------
        list of list of int
            Positions of the problems of each batch. One that comes again is there to fill up its batch, and
            its first result counts.
        """
        return [[k] for k in range(len(datas))]

    def run_batch(
        self, datas: Sequence[CIData], seeds: Sequence[int], labels: Sequence[str]
    ) -> list[CITestResult]:
        """Test the problems of one batch.

        Parameters
        ----------
        datas, seeds
            As in `run`, one of each per problem.
        labels
            Names of the problems, for error messages.

        Returns
        -------
        list of CITestResult
            In the order of the problems.
        """
        return [self.run(data, seed) for data, seed in zip(datas, seeds, strict=True)]

    def _wrap(self, outcome: Outcome, data: CIData, seed: int, *, seconds: float) -> CITestResult:
        """Turn an outcome into what users get."""
        return CITestResult(
            statistic=outcome.statistic,
            pvalue=never_zero(outcome.pvalue),
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
        """Compute statistic and p-value from checked data, with `seed` as the only source of randomness."""
        raise NotImplementedError(f"{type(self).__name__} must implement _run(data, seed)")


def _declare(cls: type) -> None:
    """Make a keyword-only dataclass of a test, and its docstring from its fields."""
    described = "__doc__" in cls.__dict__ and cls.__doc__ is not None
    # A signature that somebody wrote by hand stays, also for classes derived from theirs.
    inherited: Any = cls.__init__  # type: ignore[misc]
    by_hand = inherited is not object.__init__ and not hasattr(inherited, "is_declared")
    # No __eq__ (a test is equal to itself only) and no __repr__ (scikit-learn's shows what is not default).
    dataclass(kw_only=True, eq=False, repr=False, init=not by_hand)(cls)
    if not by_hand:
        cls.__dict__["__init__"].is_declared = True
    if described:
        cls.__doc__ = document(cls)


_declare(BaseCITest)


def make_test(test: str | type[BaseCITest] | BaseCITest, /, **params: Any) -> BaseCITest:
    """A new test from a name, a class or an instance (which stays as it is), with `params` set."""
    given: Any = get_test(test) if isinstance(test, str) else test
    cls: type[BaseCITest] = given if isinstance(given, type) else type(given)
    if not issubclass(cls, BaseCITest):
        raise ParameterError(f"a test is the name of a test or an instance or class of one, got {test!r}")
    known = cls._get_param_names()
    for name in params:
        if name not in known:
            raise ParameterError(
                f"{registered_name(cls)!r} has no parameter {name!r}.{suggestion(name, known)} "
                f"It has: {', '.join(known)}"
            )
    return cls(**params) if given is cls else clone(given).set_params(**params)


def never_zero(pvalue: float) -> float:
    """A tail probability below 1e-308 underflows to zero, but no finite sample proves dependence outright."""
    return sys.float_info.min if pvalue == 0.0 else pvalue
