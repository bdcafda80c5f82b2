"""`CISelector`: keep the features that tell something about the target that the others do not."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ..base import BaseCITest
from ..errors import ConstantColumnError, LengthMismatchError, SpectralCITWarning
from ..inputs.columns import Column
from ..inputs.table import DataTable
from ..making import Method, chosen_method, make_test
from ..null.resampling import jobs_option
from ..numeric.streams import seed_option
from ..parameters import anything, check_parameters, choice, document
from .evaluate import Evaluator
from .features import always_given, check_told, read_features, varies
from .options import alpha_option
from .queries import QueryTester
from .store import PValueStore

__all__ = ["CISelector"]


def _is_test(value: Any) -> bool:
    if isinstance(value, type):
        return issubclass(value, BaseCITest)
    return value is None or isinstance(value, str | BaseCITest)


@dataclass(eq=False, repr=False)
class CISelector(SelectorMixin, BaseEstimator):
    """Select features by conditional independence tests with the target.

    With ``strategy="rest"`` a feature is kept when it depends on the target given all other features: one
    test per feature, and the false discovery rate is controlled. ``"forward-backward"`` grows a set by the
    feature that depends most clearly on the target given the set, until there is none, then removes what
    became redundant: an estimate of the target's Markov blanket, with small conditioning sets. The tests were
    then chosen by looking at the data, so the corrected level is a guide and no guarantee.

    Attributes
    ----------
    pvalues_ : ndarray of shape (n_features,)
        For ``"rest"``, given all other features. For ``"forward-backward"``, given the selected features
        (other than the feature itself). A constant feature has p-value one, and so has one of `given`, which
        is not tested.
    adjusted_pvalues_ : ndarray of shape (n_features,)
        These, corrected; for ``"forward-backward"`` over the selected and over the other features apart.
    support_ : ndarray of shape (n_features,)
        Which features are kept.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Features of a frame and targets may be numbers, text, booleans or categories. With fewer rows than the
    test needs, every p-value is one, and a warning says so.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> y = np.where(X[:, 0] ** 2 + 0.3 * rng.normal(size=300) > 1, "yes", "no")
    >>> CISelector(random_state=0).fit(X, y).support_
    array([ True, False, False, False])

    References
    ----------
    Benjamini, Hochberg (1995). Controlling the false discovery rate. JRSS B 57. Benjamini, Yekutieli (2001).
    The control of the false discovery rate in multiple testing under dependency. Annals of Statistics 29.
    Tsamardinos, Aliferis, Statnikov (2003). Algorithms for large scale Markov blanket discovery. FLAIRS.
    """

    test: Method | None = anything(  # noqa: RUF009 - the result is a field
        None,
        "The test, ``'spectral'`` when not given; the ``random_state`` of an instance is ignored.",
        words="the name of a test, its class or an instance, or None",
        accepts=_is_test,
    )
    _: KW_ONLY
    strategy: str = choice("rest", "What each feature is tested given.", "rest", "forward-backward")
    alpha: float = alpha_option("Level, after the correction.")
    fdr: str | None = choice(
        "bh",
        "Correction for the number of features: Benjamini-Hochberg, or Benjamini-Yekutieli, which is valid "
        "whatever the dependence between the tests.",
        "bh",
        "by",
        None,
    )
    given: Any = anything(  # noqa: RUF009 - the result is a field
        None,
        "Columns of X that every test is given; they are not tested, and kept.",
        words="a name or a number of a column, a list of these, or None",
        accepts=lambda value: value is None or isinstance(value, str | int | list | tuple | np.ndarray),
    )
    missing: str | None = choice(
        None,
        "What to do with missing values: an error; ``'drop'``, for each test, the rows that lack something "
        "in its columns; or ``'impute'`` them. None leaves it to the test, which has an error unless told.",
        "raise",
        "drop",
        "impute",
        None,
    )
    random_state: int | np.random.Generator | None = seed_option(  # noqa: RUF009 - the result is a field
        "Seed of all tests together; of a Generator, or with None, one is drawn."
    )
    n_jobs: int | None = jobs_option()
    method: Method | None = anything(  # noqa: RUF009 - the result is a field
        None,
        "Another name of `test`.",
        words="the name of a test, its class or an instance, or None",
        accepts=_is_test,
    )

    def fit(
        self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None, *, time: Any = None
    ) -> CISelector:
        """Test every feature.

        Parameters
        ----------
        X
            Numbers, shape (n_samples, n_features), or a data frame, in which there may be categories.
        y
            The target, shape (n_samples,).
        groups
            Labels of rows that belong together, as in scikit-learn's splitters; see `ci_test`.
        sample_weight
            Inverse probabilities of having been sampled, as the `weights` of `ci_test`. A row of weight two
            is not two rows: it tells nothing twice.
        time
            The time of each row, or True for rows in order: rows that are near in time depend on each other;
            see `ci_test`. With `groups`, each group is a series of its own.
        """
        check_told({"groups": groups, "sample_weight": sample_weight, "time": time})
        rows = {"groups": groups, "weights": sample_weight, "time": time}
        check_parameters(self)
        test = self._test()
        columns, target = read_features(self, X, y, gaps=test.missing != "raise")
        n, width = len(target.values), len(columns)
        if sample_weight is not None and (shape := np.asarray(sample_weight).shape) != (n,):
            raise LengthMismatchError(
                f"sample_weight must have one number per row, shape ({n},), got {shape}"
            )
        if not varies(target):
            raise ConstantColumnError("the target y is constant; there is nothing to select for")
        always = always_given(self.given, [column.name for column in columns])
        known = [columns[j] for j in always if varies(columns[j])]
        usable = [j for j, column in enumerate(columns) if j not in always and varies(column)]
        self.pvalues_, self.adjusted_pvalues_ = np.ones(width), np.ones(width)
        self.support_ = np.isin(np.arange(width), always)
        if n < test.min_rows:
            warnings.warn(
                f"n_samples={n} is less than the {test.min_rows} that the test needs: no feature can be "
                "selected",
                SpectralCITWarning,
                stacklevel=2,
            )
        elif usable:
            questions = self._questions([columns[j] for j in usable], known, target, test, rows)
            strategy = self._given_the_rest if self.strategy == "rest" else self._forward_backward
            pvalues, adjusted, kept = strategy(questions)
            self.pvalues_[usable], self.adjusted_pvalues_[usable] = pvalues, adjusted
            self.support_[usable] = kept
        return self

    def _test(self) -> BaseCITest:
        missing = {} if self.missing is None else {"missing": self.missing}
        return make_test(chosen_method(self.test, self.method), **missing)

    def _questions(
        self,
        columns: Sequence[Column],
        known: Sequence[Column],
        target: Column,
        test: BaseCITest,
        rows: dict[str, Any],
    ) -> _Questions:
        outcome = "target"
        while any(column.name == outcome for column in (*columns, *known)):
            outcome += "_"
        named = {column.name: column for column in (*columns, *known)}
        tester = QueryTester(
            DataTable("features", len(target.values), {**named, outcome: target}),
            test=test,
            random_state=self.random_state,
            **{name: given for name, given in rows.items() if given is not None},
        )
        evaluator = Evaluator(tester, PValueStore(None, ""), n_jobs=self.n_jobs, progress=False)
        return _Questions(evaluator, len(columns))

    def _given_the_rest(self, ask: _Questions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        features = range(ask.n_features)
        pvalues = ask({k: [other for other in features if other != k] for k in features})
        adjusted = self._adjusted(pvalues)
        return pvalues, adjusted, adjusted <= self.alpha

    def _forward_backward(self, ask: _Questions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        selected: list[int] = []
        while len(selected) < ask.n_features:
            outside = [k for k in range(ask.n_features) if k not in selected]
            adjusted = self._adjusted(raw := ask(dict.fromkeys(outside, selected)))
            best = int(np.argmin(raw))
            if adjusted[best] > self.alpha:
                break
            selected.append(outside[best])
        while selected:
            adjusted = self._adjusted(raw := ask(_leaving_one_out(selected)))
            worst = int(np.argmax(raw))
            if adjusted[worst] <= self.alpha:
                break
            del selected[worst]
        return self._given_selected(ask, selected)

    def _given_selected(
        self, ask: _Questions, selected: list[int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        pvalues, adjusted = np.ones((2, ask.n_features))
        kept = np.isin(np.arange(ask.n_features), selected)
        outside = np.flatnonzero(~kept).tolist()
        questions = _leaving_one_out(selected), dict.fromkeys(outside, selected)
        for members, given in zip((selected, outside), questions, strict=True):
            if members:
                pvalues[members] = ask(given)
                adjusted[members] = self._adjusted(pvalues[members])
        return pvalues, adjusted, kept

    def _adjusted(self, pvalues: np.ndarray) -> np.ndarray:
        if self.fdr is None:
            return pvalues
        return stats.false_discovery_control(pvalues, method=self.fdr)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.missing in ("drop", "impute")
        return tags


CISelector.__doc__ = document(CISelector)


def _leaving_one_out(selected: list[int]) -> dict[int, list[int]]:
    return {k: [other for other in selected if other != k] for k in selected}


class _Questions:
    """Asks whether features are independent of the target, the last node of the tester.

    Nodes between the features and the target are given always.
    """

    def __init__(self, evaluator: Evaluator, n_features: int) -> None:
        self._evaluator = evaluator
        self.n_features = n_features
        self._target = evaluator.tester.n_nodes - 1

    def __call__(self, given: dict[int, list[int]]) -> np.ndarray:
        """Return the p-value of each feature given its own set, and what is given always."""
        always = range(self.n_features, self._target)
        queries = [(k, self._target, (*sorted(others), *always)) for k, others in given.items()]
        found = self._evaluator(sorted(queries, key=lambda query: query[2]), 0)
        return np.array([found[query] for query in queries])
