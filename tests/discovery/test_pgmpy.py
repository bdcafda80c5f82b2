from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from spectralcit import ci_test
from spectralcit.discovery import QueryTester
from spectralcit.errors import MissingValuesError, ParameterError

from .graphs import TWO_PARTS, additive_noise, skeleton_f1

pytestmark = pytest.mark.adapters

causal_discovery = pytest.importorskip("pgmpy.causal_discovery")
from spectralcit.discovery import PgmpyTest  # noqa: E402


@pytest.fixture
def frame():
    return pd.DataFrame(additive_noise([(0, 1), (1, 2)], 3, 150, seed=4), columns=["b", "a", "c"])


def fitted(frame, test, **options):
    options = {"significance_level": 0.01, "variant": "stable", "show_progress": False, "n_jobs": 1} | options
    return causal_discovery.PC(ci_test=test, **options).fit(frame)


@pytest.mark.usefixtures("remembered")
def test_pc_recovers_a_nonlinear_skeleton_of_eight_nodes():
    data = additive_noise(TWO_PARTS, 8, 2000, seed=0)
    frame = pd.DataFrame(data, columns=[f"v{j}" for j in range(8)])
    found = fitted(frame, PgmpyTest(frame)).skeleton_.edges()
    truth = [(f"v{i}", f"v{j}") for i, j in TWO_PARTS]
    assert skeleton_f1(found, truth) >= 0.9
    assert skeleton_f1(fitted(frame, "pearsonr").skeleton_.edges(), truth) < 0.8


def test_a_query_by_name_sets_the_attributes(frame):
    test = PgmpyTest(frame, test="gcm", random_state=5)
    result = QueryTester(frame, test="gcm", random_state=5).result("c", "b", ["a"])
    direct = ci_test("b", "c", "a", data=frame, method="gcm", random_state=result.seed)
    assert test.run_test("c", "b", ["a"]) == (direct.statistic, direct.pvalue)
    assert (test.statistic_, test.p_value_) == (direct.statistic, direct.pvalue)
    assert test.effect_size_ == direct.effect_size
    assert test("b", "c", ("a",), significance_level=direct.pvalue)
    assert not test("b", "c", ("a",), significance_level=min(1.0, np.nextafter(direct.pvalue, 2)))


def test_a_test_without_effect_size_gives_its_statistic(frame, toy):
    test = PgmpyTest(frame, test="toy")
    statistic, _ = test.run_test("a", "b", [])
    assert test.effect_size_ == abs(statistic)


@pytest.mark.parametrize("rule", ["pvalue", "effect"])
def test_both_rules_of_orientation_find_a_collider(rule):
    data = additive_noise([(0, 2), (1, 2)], 3, 300, seed=1)
    frame = pd.DataFrame(data, columns=list("xyz"))
    found = fitted(frame, PgmpyTest(frame), orient_rule=rule).causal_graph_
    assert set(found.directed_edges) == {("x", "z"), ("y", "z")}


def test_threads_do_not_mix_up_decisions():
    # pgmpy's parallel variant calls one instance from several threads.
    data = additive_noise([(0, 1), (1, 2), (3, 4)], 6, 120, seed=2)
    frame = pd.DataFrame(data, columns=list("abcdef"))
    alone = fitted(frame, PgmpyTest(frame, test="gcm"))
    for _ in range(3):
        together = fitted(frame, PgmpyTest(frame, test="gcm"), variant="parallel", n_jobs=4)
        assert {frozenset(e) for e in together.skeleton_.edges()} == {
            frozenset(e) for e in alone.skeleton_.edges()
        }


def test_a_decision_does_not_read_what_another_thread_wrote(frame):
    test = PgmpyTest(frame, test="gcm")
    run = test.run_test

    def disturbed(*query):
        answer = run(*query)
        test.p_value_ = 1.0 - round(answer[1])  # the opposite, as a thread in between might leave it
        return answer

    test.run_test = disturbed
    assert test("a", "b", []) == (run("a", "b", [])[1] >= 0.05)


def test_pickled_and_cloned_instances_give_the_same_answers(frame):
    test = PgmpyTest(frame, test="rcit", random_state=3)
    expected = test.run_test("a", "c", ["b"])
    assert pickle.loads(pickle.dumps(test)).run_test("a", "c", ["b"]) == expected
    assert test.clone().run_test("c", "a", ["b"]) == expected


def test_categorical_columns_and_numbers_as_names(frame):
    kinds = pd.cut(frame["a"], [-9, -0.5, 0.5, 9], labels=["low", "mid", "high"])
    mixed = pd.DataFrame({1: kinds, 0: frame["b"], 2: frame["c"]})
    test = PgmpyTest(mixed)
    seed = QueryTester(mixed).result(0, 1).seed
    test.run_test(0, 1, [])
    assert test.p_value_ == ci_test(kinds, frame["b"], random_state=seed).pvalue


def test_errors(frame):
    test = PgmpyTest(frame, test="gcm")
    with pytest.raises(ParameterError, match="no node 'd'"):
        test("a", "d", [])
    with pytest.raises(ValueError, match="cannot appear in Z"):
        test("a", "b", ["a"])
    frame.iloc[0, 0] = np.nan
    with pytest.raises(MissingValuesError, match="column 'b'"):
        PgmpyTest(frame, test="gcm")
    assert PgmpyTest(frame, test="gcm", missing="drop").run_test("a", "b", [])[1] < 1


@pytest.mark.parametrize("typed", ["fisherz", "Fisher_Z"])
def test_names_as_people_type_them(typed):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    pair = [PgmpyTest(frame, test=name).run_test("a", "b", ["c"]) for name in (typed, "fisher-z")]
    assert pair[0] == pair[1]
