import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from spectralcit import CISelector, ci_test
from spectralcit.discovery.queries import query_seed
from spectralcit.errors import (
    ConstantColumnError,
    MissingValuesError,
    ParameterError,
    SpectralCITWarning,
    UnknownTestError,
)
from spectralcit.methods.fisher_z import FisherZ
from spectralcit.parameters import parameters_of


# Some checks use ten rows, fewer than any test needs: nothing is selected then, with a warning.
@pytest.mark.filterwarnings("ignore:n_samples=:spectralcit.errors.SpectralCITWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(
    [CISelector("fisher-z", fdr=None), CISelector("fisher-z", strategy="forward-backward", alpha=0.5)],
    expected_failed_checks=lambda estimator: (
        {"check_sample_weight_equivalence_on_dense_data": "weights are a survey's, not numbers of copies"}
        if estimator.strategy == "forward-backward"
        else {}
    ),
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def chain_and_noise(n=300, seed=0):
    """Columns: parent, grandparent (through parent), child, noise, spouse (parent of child)."""
    rng = np.random.default_rng(seed)
    grandparent = rng.normal(size=n)
    parent = grandparent + rng.normal(size=n)
    y = parent + rng.normal(size=n)
    spouse = rng.normal(size=n)
    child = y + spouse + rng.normal(size=n)
    return np.column_stack([parent, grandparent, child, rng.normal(size=n), spouse]), y


@pytest.mark.parametrize("strategy", ["rest", "forward-backward"])
def test_finds_the_markov_blanket(strategy):
    X, y = chain_and_noise()
    chosen = CISelector("fisher-z", strategy=strategy, alpha=0.01, random_state=0).fit(X, y)
    assert chosen.support_.tolist() == [True, False, True, False, True]
    assert np.array_equal(chosen.transform(X), X[:, [0, 2, 4]])


def test_pvalues_are_those_of_the_public_test():
    X, y = chain_and_noise(n=120)
    chosen = CISelector(random_state=3, fdr="by").fit(X, y)
    for j in (0, 3):
        rest = [k for k in range(5) if k != j]
        seed = query_seed(3, (j, 5, tuple(rest)))
        assert chosen.pvalues_[j] == ci_test(X[:, j], y, X[:, rest], random_state=seed).pvalue
    assert np.allclose(chosen.adjusted_pvalues_, by_hand(chosen.pvalues_, yekutieli=True))


def by_hand(pvalues, *, yekutieli):
    """The definition: the least level at which the step-up procedure rejects."""
    m = len(pvalues)
    factor = sum(1 / k for k in range(1, m + 1)) if yekutieli else 1.0
    ranked = np.sort(pvalues)
    bound = [min(1.0, min(m * factor * ranked[k] / (k + 1) for k in range(i, m))) for i in range(m)]
    return np.array(bound)[np.argsort(np.argsort(pvalues))]


@pytest.mark.parametrize("fdr", ["bh", "by", None])
def test_false_discovery_rate_under_the_global_null(fdr):
    """With no relevant feature every selection is false: its rate is at most alpha under control."""
    rng = np.random.default_rng(5)
    hits = np.mean(
        [
            CISelector("fisher-z", alpha=0.2, fdr=fdr, random_state=0)
            .fit(rng.normal(size=(60, 6)), rng.normal(size=60))
            .support_.any()
            for _ in range(60)
        ]
    )
    error = np.sqrt(0.2 * 0.8 / 60)
    if fdr is None:
        assert hits > 0.2 + 3 * error  # 1 - 0.8^6 = 0.74
    else:
        assert hits < 0.2 + 3 * error


@pytest.mark.parametrize("strategy", ["rest", "forward-backward"])
def test_text_targets_and_pipelines(strategy):
    X, labels = make_classification(
        n_samples=200, n_features=5, n_informative=2, n_redundant=0, shuffle=False, random_state=0
    )
    names = np.array(["cat", "dog"])[labels]
    selector = CISelector("gcm", strategy=strategy, random_state=0)
    model = make_pipeline(selector, LogisticRegression()).fit(X, names)
    assert selector.support_[:2].any()
    assert not selector.support_[2:].all()
    assert model.score(X, names) > 0.8


def test_same_result_for_any_number_of_jobs():
    X, y = chain_and_noise(n=60)
    one, two = (CISelector("fisher-z", random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert np.array_equal(one.pvalues_, two.pvalues_)


def test_constant_and_repeated_features():
    X, y = chain_and_noise()
    X = np.column_stack([X, np.full(len(X), 7.0), X[:, 0]])
    with pytest.warns(SpectralCITWarning, match="same values"):
        chosen = CISelector("fisher-z", random_state=0).fit(X, y)
    # Given its copy, the parent tells nothing new.
    assert chosen.pvalues_[[0, 5, 6]].tolist() == [1.0, 1.0, 1.0]
    assert chosen.support_.tolist() == [False, False, True, False, True, False, False]
    with pytest.raises(ConstantColumnError, match="target"):
        CISelector("fisher-z").fit(X, np.ones(len(X)))


def test_names_of_a_frame_are_kept():
    X, y = chain_and_noise()
    frame = pd.DataFrame(X, columns=["parent", "grandparent", "child", "noise", "spouse"])
    chosen = CISelector("fisher-z", alpha=0.01, random_state=0).fit(frame, y)
    assert chosen.get_feature_names_out().tolist() == ["parent", "child", "spouse"]


@pytest.mark.parametrize("wrong", [{"strategy": "all"}, {"fdr": "holm"}, {"alpha": 0.0}])
def test_wrong_parameters(wrong):
    X, y = chain_and_noise(n=30)
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        CISelector("fisher-z", **wrong).fit(X, y)


@pytest.mark.parametrize("name", parameters_of(CISelector))
def test_ten_wrong_values_of_each_parameter(name):
    X, y = chain_and_noise(n=30)
    allowed = parameters_of(CISelector)[name][1]
    for value in (object(), float("nan"), float("inf"), -1, 0, 10**30, 1e300, "nonsense", None, [1], True):
        test = None if name == "method" else "fisher-z"
        selector = CISelector(test, random_state=0).set_params(**{name: value})
        if allowed.accepts(value) and value is None and name in ("test", "method"):
            continue  # the default
        if allowed.accepts(value) and name not in ("test", "method", "given"):
            selector.fit(X, y)
            continue
        if name == "given" and (value is None or (type(value) is int and 0 <= value < 5) or value == [1]):
            selector.fit(X, y)
            continue
        message = f"^{name} must be|^no test is called|^given names the column"
        with pytest.raises((ParameterError, UnknownTestError), match=message):
            selector.fit(X, y)


def test_the_test_may_be_named_as_people_type_it_or_given_as_class_or_instance():
    X, y = chain_and_noise(n=60)
    expected = CISelector("fisher-z", random_state=0).fit(X, y).pvalues_
    for test in ("FisherZ", "fisher_z", FisherZ, FisherZ(random_state=5)):
        assert np.array_equal(CISelector(test, random_state=0).fit(X, y).pvalues_, expected)
    assert "\nstrategy\n" in CISelector.__doc__


def test_pvalues_of_irrelevant_features_are_uniform():
    rng = np.random.default_rng(2)
    pvalues = []
    for _ in range(60):
        X = rng.normal(size=(50, 3))
        pvalues.extend(CISelector("fisher-z").fit(X, X[:, 0] + rng.normal(size=50)).pvalues_[1:])
    assert stats.kstest(pvalues, "uniform").pvalue > 0.001


def patients(n=300, seed=0):
    """A frame with a category that matters, one that does not, gaps, and a confounder of the target."""
    rng = np.random.default_rng(seed)
    age = rng.normal(size=n)
    drug = rng.choice(["none", "low", "high"], n)
    y = age + 1.5 * (drug == "high") + rng.normal(size=n)
    echo = age + rng.normal(size=n)  # nothing but age
    frame = pd.DataFrame({"age": age, "drug": drug, "site": rng.choice(list("abcd"), n), "echo": echo})
    return frame, y


def test_categories_of_a_frame_are_features():
    X, y = patients()
    for frame in (X, X.astype({"drug": "category"}), pl.from_pandas(X)):
        chosen = CISelector("fisher-z", alpha=0.01, random_state=0).fit(frame, y)
        assert chosen.get_feature_names_out().tolist() == ["age", "drug"]
    given_rest = [name for name in X.columns if name != "drug"]
    seed = query_seed(0, (1, 4, (0, 2, 3)))
    assert (
        chosen.pvalues_[1] == ci_test(X.drug, y, X[given_rest], method="fisher-z", random_state=seed).pvalue
    )
    assert chosen.transform(X).shape == (300, 2)


def test_missing_values_leave_rows_out_of_the_tests_that_need_them():
    X, y = patients()
    holes = X.copy()
    holes.loc[:9, "age"] = np.nan
    holes.loc[20:24, "drug"] = None
    with pytest.raises(MissingValuesError):
        CISelector("fisher-z").fit(holes, y)
    chosen = CISelector("fisher-z", alpha=0.01, missing="drop", random_state=0).fit(holes, y)
    assert chosen.get_feature_names_out().tolist() == ["age", "drug"]
    keep = holes.notna().all(axis=1).to_numpy()
    seed = query_seed(0, (0, 4, (1, 2, 3)))
    given = X[["drug", "site", "echo"]][keep]
    expected = ci_test(X.age[keep], y[keep], given, method="fisher-z", random_state=seed)
    assert chosen.pvalues_[0] == expected.pvalue
    numbers = holes[["age", "echo"]].to_numpy()
    assert (
        CISelector("fisher-z", missing="drop", random_state=0).fit(numbers, y).transform(numbers).shape[0]
        == 300
    )


@pytest.mark.parametrize("strategy", ["rest", "forward-backward"])
def test_columns_that_are_always_given_are_not_tested_and_kept(strategy):
    X, y = patients()
    settings = {"alpha": 0.01, "strategy": strategy, "random_state": 0}
    assert CISelector("fisher-z", **settings).fit(X[["echo", "drug"]], y).support_.all()
    chosen = CISelector("fisher-z", given="age", **settings).fit(X, y)
    assert chosen.get_feature_names_out().tolist() == ["age", "drug"]  # given age, its echo says nothing
    assert chosen.pvalues_[0] == 1.0
    by_number = CISelector("fisher-z", given=[0], **settings).fit(X, y)
    assert np.array_equal(by_number.pvalues_, chosen.pvalues_)
    only = CISelector("fisher-z", given=["age"], fdr=None, random_state=0).fit(X[["echo", "age"]], y)
    seed = query_seed(0, (0, 2, (1,)))
    assert only.pvalues_[0] == ci_test(X.echo, y, X.age, method="fisher-z", random_state=seed).pvalue
    with pytest.raises(ParameterError, match=r"'Age', which X does not have. Did you mean 'age'"):
        CISelector("fisher-z", given="Age").fit(X, y)


def test_rows_of_another_order_are_told():
    X, y = patients(n=60)
    with pytest.warns(SpectralCITWarning, match="same pandas index in another order"):
        CISelector("fisher-z").fit(X, pd.Series(y)[::-1])


def test_method_is_another_name_of_test():
    X, y = chain_and_noise(n=60)
    expected = CISelector("fisher-z", random_state=0).fit(X, y).pvalues_
    assert np.array_equal(CISelector(method=FisherZ, random_state=0).fit(X, y).pvalues_, expected)
    with pytest.raises(ParameterError, match="two names"):
        CISelector("fisher-z", method="gcm").fit(X, y)
