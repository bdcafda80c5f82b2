from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from spectralcit import ci_test
from spectralcit.discovery import DoWhyTest
from spectralcit.errors import ParameterError

from .graphs import additive_noise

pytestmark = pytest.mark.adapters

falsify = pytest.importorskip("dowhy.gcm.falsify")

EDGES = [(0, 2), (1, 2), (2, 3), (3, 4)]


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(additive_noise(EDGES, 5, 400, seed=0), columns=list("abcde"))


@pytest.fixture(scope="module")
def test_():
    return DoWhyTest()  # one for the module: its answers are kept


def falsified(edges, frame, test):
    graph = nx.DiGraph([("abcde"[i], "abcde"[j]) for i, j in edges])
    return falsify.falsify_graph(
        graph,
        frame,
        independence_test=test,
        conditional_independence_test=test,
        significance_ci=0.01,
        n_permutations=-1,  # all of them: nothing is left to chance
        show_progress_bar=False,
        n_jobs=1,
    )


def test_the_true_graph_is_accepted(frame, test_):
    result = falsified(EDGES, frame, test_)
    assert result.falsifiable
    assert not result.falsified


def test_a_wrong_graph_is_rejected(frame, test_):
    result = falsified([(4, 0), (0, 3), (3, 1), (1, 2)], frame, test_)
    assert result.falsified


def test_the_callable_returns_the_pvalue_of_our_test(frame):
    test = DoWhyTest(test="kcit", random_state=1)
    a, b, c = (frame[name].values for name in "abc")
    assert test(a, b) == test(b, a)
    pvalue = test(a, b, c[:, None])
    (seed,) = {result.seed for result in test.cache.values() if result.pvalue == pvalue}
    sides = {ci_test(*pair, c, method="kcit", random_state=seed).pvalue for pair in ((a, b), (b, a))}
    assert pvalue in sides


def test_seeds_of_dowhy_do_not_matter(frame):
    answers = set()
    for seed in (0, 1):
        test = DoWhyTest(test="rcit")
        answers.add(falsify._compute_p_value(frame, "a", "b", ["c", "d"], test, test, seed))
        answers.add(falsify._compute_p_value(frame, "b", "a", ["d", "c"], test, test, seed))
    assert len(answers) == 1


def test_it_can_be_pickled_with_its_answers(frame):
    test = DoWhyTest(test="gcm")
    expected = test(frame["a"].values, frame["c"].values)
    again = pickle.loads(pickle.dumps(test))
    assert again.cache == test.cache
    assert again(frame["a"].values, frame["c"].values) == expected


def test_mixed_columns_as_dowhy_hands_them_over(frame):
    mixed = frame.assign(d=pd.cut(frame["d"], [-9, 0, 9], labels=["low", "high"]))
    test = DoWhyTest()
    assert test(mixed["c"].values, mixed["d"].values) < 0.01
    pvalue = test(mixed["a"].values, mixed["b"].values, mixed[["c", "d"]].values)
    assert 0 < pvalue <= 1


@pytest.mark.parametrize("typed", ["fisherz", "Fisher_Z"])
def test_names_as_people_type_them(typed):
    x, y, z = np.random.default_rng(0).normal(size=(3, 60))
    assert DoWhyTest(test=typed)(x, y, z) == DoWhyTest(test="fisher-z")(x, y, z)


def test_parameters_are_checked_at_once_and_zero_has_no_sign():
    with pytest.raises(ParameterError, match=r"^n_folds must be"):
        DoWhyTest(test="gcm", n_folds=0.5)
    x, y = np.random.default_rng(0).normal(size=(2, 60)).round()
    assert DoWhyTest(test="rcit")(x + 0.0, y + 0.0) == DoWhyTest(test="rcit")(np.where(x == 0, -0.0, x), y)
