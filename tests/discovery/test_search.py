import json
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.stats import rankdata

from spectralcit import SpectralCIT
from spectralcit.discovery import QueryTester, evaluate, pc, skeleton
from spectralcit.discovery.queries import query_seed
from spectralcit.errors import (
    ConstantColumnError,
    MissingExtraError,
    ParameterError,
    SpectralCITWarning,
    TooFewRowsError,
    TooLargeError,
)
from spectralcit.methods.fisher_z import FisherZ


def collider_and_chain(n=220, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    c = np.abs(a) + np.sin(b) + 0.3 * rng.normal(size=n)
    d = c**2 + 0.5 * rng.normal(size=n)
    return np.column_stack([a, b, c, d])


def linear_data(n_nodes=8, n=200, seed=0):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(n, n_nodes))
    for j in range(2, n_nodes):
        data[:, j] += data[:, rng.choice(j, 2, replace=False)].sum(axis=1)
    return data


def test_finds_a_nonlinear_graph_with_the_pvalues_of_the_public_test():
    data = collider_and_chain()
    found = pc(data, names=["a", "b", "c", "d"], random_state=4)
    assert {(e.source, e.kind, e.target) for e in found.edges} == {
        ("a", "->", "c"),
        ("b", "->", "c"),
        ("c", "->", "d"),
    }
    tester = QueryTester(data, random_state=4)
    for (i, j, given), pvalue in found.pvalues.items():
        z = data[:, given] if given else None
        direct = SpectralCIT(random_state=query_seed(4, (i, j, given))).test(data[:, i], data[:, j], z)
        assert pvalue == direct.pvalue == tester.pvalue(j, i, given)
    for edge, pair in zip(found.edges, ((0, 2), (1, 2), (2, 3)), strict=True):
        assert edge.pvalue == max(p for query, p in found.pvalues.items() if query[:2] == pair)


def test_a_test_that_prepares_its_own_way_is_asked_one_by_one():
    class Ranked(SpectralCIT):
        def prepare(self, x, y, z=None):
            return super().prepare(ranks(x), ranks(y), z)

    def ranks(table):
        return np.column_stack([rankdata(column.values) for column in table.columns.values()])

    data = collider_and_chain(n=60)[:, :3]
    found = pc(data, Ranked, max_depth=0)
    expected = pc(rankdata(data, axis=0), max_depth=0)
    assert found.pvalues == expected.pvalues


@pytest.mark.parametrize("test", ["fisher-z", "gcm", "rcot", "kcit"])
def test_pvalues_of_other_tests_are_those_of_the_public_test_too(test):
    data = linear_data(4, n=60)
    data[:, 3] = np.round(data[:, 3])
    tester = QueryTester(data, test=test, random_state=2)
    for (i, j, given), pvalue in pc(data, test, random_state=2).pvalues.items():
        assert pvalue == tester.pvalue(i, j, given)


def test_same_graph_for_any_number_of_jobs(tmp_path):
    data = collider_and_chain(n=120)
    one = pc(data, random_state=1)
    two = pc(data, random_state=1, n_jobs=2, store=tmp_path / "p.jsonl")
    assert one.pvalues == two.pvalues
    assert np.array_equal(one.marks, two.marks)


def test_the_order_of_the_columns_does_not_decide_the_skeleton():
    data = linear_data()
    order = np.random.default_rng(1).permutation(data.shape[1])
    straight, shuffled = pc(data, "fisher-z"), pc(data[:, order], "fisher-z")
    assert np.array_equal(shuffled.skeleton, straight.skeleton[np.ix_(order, order)])


@pytest.mark.adapters
def test_graph_object_is_causal_learns():
    pytest.importorskip("causallearn")
    from causallearn.search.ConstraintBased.PC import pc as peer

    data = linear_data(seed=2)
    found = pc(data, "fisher-z", names=[f"v{j}" for j in range(8)])
    theirs = peer(data, 0.05, "fisherz", show_progress=False)  # Fisher's z is the same test in both packages
    assert np.array_equal(found.graph.graph, theirs.G.graph)
    assert np.array_equal(found.graph.graph, found.marks)
    assert found.graph.get_node_names() == list(found.names)


def test_without_causal_learn_only_the_graph_object_is_missing(monkeypatch):
    found = pc(linear_data(4), "fisher-z")
    monkeypatch.setitem(sys.modules, "causallearn.graph.Edge", None)
    assert found.to_dot().startswith("digraph")
    with pytest.raises(MissingExtraError, match=r"spectralcit\[discovery\]"):
        _ = found.graph


KILLED = """
import os, signal, sys
import numpy as np
from spectralcit.discovery import evaluate, pc
from spectralcit.discovery.store import PValueStore

evaluate._CHUNK_PAIRS = 4
add, calls = PValueStore.add, []
def add_and_die(self, results):
    add(self, results)
    calls.append(1)
    if len(calls) == 5:
        os.kill(os.getpid(), signal.SIGKILL)
PValueStore.add = add_and_die
pc(np.load(sys.argv[1]), "fisher-z", store=sys.argv[2])
"""


def test_killed_and_started_again_it_repeats_nothing(tmp_path):
    data, store = linear_data(), tmp_path / "p.jsonl"
    np.save(tmp_path / "data.npy", data)
    command = [sys.executable, "-c", KILLED, str(tmp_path / "data.npy"), str(store)]
    assert subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}).returncode == -signal.SIGKILL
    n_before = len(store.read_text().splitlines())
    assert n_before == 20
    resumed, fresh = pc(data, "fisher-z", store=store), pc(data, "fisher-z")
    assert resumed.n_computed == len(fresh.pvalues) - n_before
    assert resumed.pvalues == fresh.pvalues
    assert np.array_equal(resumed.marks, fresh.marks)
    queries = [
        (line["x"], line["y"], *line["given"]) for line in map(json.loads, store.read_text().splitlines())
    ]
    assert len(set(queries)) == len(queries) == len(fresh.pvalues)
    # Other levels use the same p-values; another seed of a random test, or other data, does not.
    assert pc(data, "fisher-z", alpha=0.01, max_depth=1, store=store).n_computed == 0
    assert pc(data + 1e-9, "fisher-z", max_depth=0, store=store).n_computed == 28


def test_bad_input_is_refused_clearly():
    data = linear_data(4)
    with pytest.raises(TooFewRowsError, match="got 2"):
        pc(data[:2])
    constant = np.column_stack([data, np.ones(len(data))])
    with pytest.raises(ConstantColumnError, match="constant"):
        pc(constant)
    with pytest.raises(ParameterError, match="two nodes"):
        pc(data[:, :1])
    for alpha in (0.0, 1.0, -1, "0.05"):
        with pytest.raises(ParameterError, match="alpha"):
            pc(data, alpha=alpha)
    for depth in (-1, 1.5, True):
        with pytest.raises(ParameterError, match="max_depth"):
            pc(data, max_depth=depth)


WRONG = [object(), float("nan"), float("inf"), -1, 0, 10**30, 1e300, "nonsense", None, [1], True]


@pytest.mark.parametrize(
    ("option", "allowed"), [("alpha", []), ("n_jobs", [-1, None]), ("max_depth", [0, None])]
)
def test_ten_wrong_values_of_each_option(option, allowed):
    for value in WRONG:
        if value in allowed and value is not True:
            assert pc(linear_data(3), "fisher-z", **{option: value}).n_rows == 200
        else:
            with pytest.raises(ParameterError, match=f"^{option} must be .*; got "):
                pc(linear_data(3), "fisher-z", **{option: value})


@pytest.mark.parametrize("store", [3, "", [1], True, ".", "no such folder/p.jsonl"])
def test_a_store_that_cannot_be_a_file_is_refused_before_the_first_test(store):
    with pytest.raises(ParameterError, match="store"):
        pc(linear_data(3), "fisher-z", store=store)


def test_parameters_of_the_test_are_checked_before_the_search():
    with pytest.raises(ParameterError, match=r"^n_folds must be an integer"):
        pc(linear_data(3), "gcm", n_folds="five")


@pytest.mark.parametrize("typed", ["fisherz", "Fisher_Z"])
def test_names_as_people_type_them_share_one_store(typed, tmp_path):
    store = tmp_path / "p.jsonl"
    first = pc(linear_data(4), "fisher-z", store=store)
    again = pc(linear_data(4), typed, store=store)
    assert (again.test, again.n_computed) == ("fisher-z", 0)
    assert again.pvalues == first.pvalues
    assert pc(linear_data(4), FisherZ, store=store).n_computed == 0


def test_progress_is_told_to_a_function():
    told = []
    found = pc(linear_data(), "fisher-z", progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 28)
    assert (28, 28) in told
    assert sum(total for done, total in told if done == total) == len(found.pvalues)


@pytest.mark.parametrize("test", ["fisher-z", "spectral"])
def test_duplicated_columns_are_named_and_do_not_stop_the_search(test):
    data = linear_data(3, n=80)
    with pytest.warns(SpectralCITWarning, match="'X0' and 'X3' hold the same values"):
        found = pc(np.column_stack([data, data[:, 0]]), test)
    assert found.skeleton[0, 3]
    assert "same values" in found.warnings[0]


def test_many_tests_are_announced_with_an_estimate(monkeypatch):
    monkeypatch.setattr(evaluate, "_MANY_TESTS", 20)
    with pytest.warns(SpectralCITWarning, match=r"size 0 need 28 tests, about \d+ seconds more"):
        pc(linear_data(), "fisher-z", max_depth=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setattr(evaluate, "_MANY_TESTS", 10_000)
        pc(linear_data(), "fisher-z", max_depth=0)


def test_a_hopeless_level_is_refused_before_it_starts(monkeypatch, tmp_path):
    monkeypatch.setattr(skeleton, "MAX_QUERIES", 60)
    common = np.random.default_rng(0).normal(size=(200, 1))
    data = common + 0.1 * np.random.default_rng(1).normal(size=(200, 8))  # all pairs stay dependent
    with pytest.raises(TooLargeError, match="max_depth=0"):
        pc(data, "fisher-z", store=tmp_path / "p.jsonl")
    again = pc(data, "fisher-z", max_depth=0, store=tmp_path / "p.jsonl")
    assert again.n_computed == 0
    assert again.skeleton.sum() == 56


def test_nodes_of_several_columns_and_categories():
    rng = np.random.default_rng(0)
    pose = rng.normal(size=(250, 2))
    size = np.where(np.hypot(*pose.T) + 0.1 * rng.normal(size=250) > 1.2, "large", "small")
    frame = {"p": pose[:, 0], "q": pose[:, 1], "size": size, "noise": rng.normal(size=250)}
    pd = pytest.importorskip("pandas")
    found = pc(pd.DataFrame(frame), nodes={"pose": ["p", "q"], "size": ["size"], "noise": ["noise"]})
    assert found.names == ("pose", "size", "noise")
    assert [(e.source, e.target) for e in found.edges] == [("pose", "size")]
