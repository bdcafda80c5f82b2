from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from spectralcit import BaseCITest, NullDistribution, Outcome
from spectralcit.errors import MissingValuesError, ParameterError, TooFewRowsError

rng = np.random.default_rng(0)
X, Y, Z = rng.normal(size=(3, 60))


class Fixed(BaseCITest):
    """Reports whatever outcome it was given."""

    outcome = Outcome(1.0, 0.5, NullDistribution("normal"))
    min_rows = 50

    def _run(self, data, seed):
        return self.outcome


def test_sklearn_manners(toy):
    test = toy(offset=2.0, random_state=3)
    assert test.get_params() == {"offset": 2.0, "random_state": 3, "missing": "raise"}
    twin = clone(test)
    assert twin is not test
    assert twin.get_params() == test.get_params()
    assert twin.set_params(offset=5.0) is twin
    assert (twin.offset, test.offset) == (5.0, 2.0)
    assert repr(test) == "Toy(offset=2.0, random_state=3)"
    with pytest.raises(ValueError, match="Invalid parameter"):
        test.set_params(unknown=1)


def test_parameters_are_keyword_only_and_stored_as_given(toy):
    with pytest.raises(TypeError):
        toy(1.0)
    marker = object()
    assert toy(offset=marker).offset is marker


def test_testing_changes_no_parameter(toy):
    test = toy(random_state=None)
    test.test(X, Y, Z)
    assert test.get_params() == {"offset": 0.0, "random_state": None, "missing": "raise"}


def test_same_seed_same_result_and_a_drawn_seed_is_recorded(toy):
    first = toy(random_state=None).test(X, Y, Z)
    again = toy(random_state=first.seed).test(X, Y, Z)
    assert again.diagnostics == first.diagnostics
    assert (
        toy(random_state=(first.seed + 1) % 2**32).test(X, Y, Z).diagnostics["draw"]
        != first.diagnostics["draw"]
    )
    assert toy().test(X, Y).seed != toy().test(X, Y).seed


def test_the_global_random_state_is_not_touched(toy):
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    toy(random_state=0).test(X, Y, Z)
    toy().test(X, Y, Z)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("bad", [-1, 2**32, 1.5, "0", True, np.random.RandomState(0)])
def test_bad_seeds(toy, bad):
    with pytest.raises(ParameterError, match="random_state"):
        toy(random_state=bad).test(X, Y)


def test_numpy_integers_are_seeds(toy):
    assert toy(random_state=np.int64(5)).test(X, Y).seed == 5


def test_missing_policy_and_notes_reach_the_result(toy):
    x = X.copy()
    x[4] = np.nan
    with pytest.raises(MissingValuesError):
        toy().test(x, Y)
    result = toy(missing="drop").test(x, Y)
    assert result.n == 59
    assert result.warnings[0].startswith("1 of 60 rows were dropped")


def test_min_rows_of_the_class_is_enforced():
    assert Fixed().test(X[:50], Y[:50]).n == 50
    with pytest.raises(TooFewRowsError, match="at least 50 rows, got 49"):
        Fixed().test(X[:49], Y[:49])


def test_outcome_is_wrapped_whole(monkeypatch):
    outcome = Outcome(
        2.0,
        0.25,
        NullDistribution("chi2", {"df": 3}),
        0.1,
        {"a": np.arange(2)},
        ("careful",),
        n_train=48,
        n_test=12,
    )
    monkeypatch.setattr(Fixed, "outcome", outcome)
    result = Fixed(random_state=1).test(X, Y)
    assert (result.statistic, result.pvalue, result.effect_size) == (2.0, 0.25, 0.1)
    assert (result.n, result.n_train, result.n_test, result.seed) == (60, 48, 12, 1)
    assert result.diagnostics == {"a": [0, 1]}
    assert result.warnings == ("careful",)
    assert result.method == "Fixed"
    assert result.seconds > 0


def test_an_underflowed_pvalue_becomes_the_smallest_normal_float(monkeypatch):
    monkeypatch.setattr(Fixed, "outcome", Outcome(1e9, 0.0, NullDistribution("normal")))
    assert Fixed().test(X, Y).pvalue == np.finfo(float).tiny


@pytest.mark.parametrize(
    ("statistic", "pvalue"), [(1.0, np.nan), (np.nan, 0.5), (np.inf, 0.5), (1.0, -0.1), (1.0, 2.0)]
)
def test_an_impossible_outcome_is_an_error_not_a_result(monkeypatch, statistic, pvalue):
    monkeypatch.setattr(Fixed, "outcome", Outcome(statistic, pvalue, NullDistribution("normal")))
    with pytest.raises(ParameterError):
        Fixed().test(X, Y)


def test_a_class_without_run_says_so():
    with pytest.raises(NotImplementedError, match="must implement _run"):
        BaseCITest().test(X, Y)
