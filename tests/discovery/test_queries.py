from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectralcit import SpectralCITWarning, ci_test
from spectralcit.discovery import QueryTester
from spectralcit.discovery.arrays import ArrayTester
from spectralcit.errors import (
    ConstantColumnError,
    DuplicateColumnError,
    InfiniteValuesError,
    LengthMismatchError,
    MissingExtraError,
    MissingValuesError,
    OverlappingColumnsError,
    ParameterError,
    TooFewRowsError,
    UnknownColumnError,
    UnknownTestError,
)
from spectralcit.methods.rcit import RCIT

SMALLEST = sys.float_info.min


@pytest.fixture
def table():
    rng = np.random.default_rng(5)
    a, b, c, d = rng.normal(size=(4, 120))
    return np.column_stack([a, a**2 + b, c, a + c + d])


def test_an_answer_is_that_of_ci_test_with_the_seed_of_the_query(table):
    # rcit draws random features and is not symmetric: seed and order of the sides both matter.
    tester = QueryTester(table, test="rcit", random_state=3)
    result = tester.result(3, 0, [2])
    direct = ci_test(table[:, 0], table[:, 3], table[:, [2]], method="rcit", random_state=result.seed)
    assert result.pvalue == direct.pvalue
    assert result.statistic == direct.statistic


@settings(max_examples=25)
@given(st.permutations(range(4)), st.integers(0, 2))
def test_order_and_history_do_not_matter(order, n_given):
    table = np.random.default_rng(1).normal(size=(60, 4))
    i, j, *rest = order
    conditions = rest[:n_given]
    fresh = QueryTester(table, test="rcit").pvalue(i, j, conditions)
    used = QueryTester(table, test="rcit")
    used.pvalue(0, 1, [2, 3])
    assert used.pvalue(j, i, conditions[::-1] * 2) == fresh


def test_the_seed_belongs_to_random_state_and_conditioning_set(table):
    # Queries given the same nodes share it, so that work on these nodes can be shared.
    conditions = [(), (2,), (3,), (2, 3)]
    testers = [QueryTester(table, test="gcm", random_state=state) for state in (0, 1)]
    seeds = [tester.result(0, 1, given).seed for tester in testers for given in conditions]
    assert len(set(seeds)) == 8
    assert testers[0].result(1, 3, [2]).seed == testers[0].result(0, 1, [2]).seed


def test_the_seed_is_the_same_in_every_process(table):
    # Written down on purpose: Python's own hash differs from process to process.
    assert QueryTester(table, test="gcm").result(0, 1, [2]).seed == 2952012945


def test_answers_are_kept_and_travel_with_the_pickle(table):
    tester = QueryTester(table, test="rcit")
    first = tester.result(0, 3, [1])
    assert tester.result(3, 0, [1]) is first
    again = pickle.loads(pickle.dumps(tester))
    assert again.cache == tester.cache
    assert again.pvalue(1, 2, [0]) == tester.pvalue(1, 2, [0])


def test_threads_get_the_same_answers(table):
    queries = [(i, j, [k]) for i, j in combinations(range(4), 2) for k in range(4) if k not in (i, j)] * 3
    alone = QueryTester(table, test="rcit")
    together = QueryTester(table, test="rcit")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda query: together.pvalue(*query), queries))
    assert found == [alone.pvalue(*query) for query in queries]


def test_the_container_does_not_matter(table):
    names = list("abcd")
    pandas, polars = pd.DataFrame(table, columns=names), pl.DataFrame(table, schema=names)
    expected = QueryTester(table, test="rcit", names=names).pvalue(0, 1, [2])
    for frame in (pandas, polars):
        tester = QueryTester(frame, test="rcit")
        assert tester.names == ("a", "b", "c", "d")
        assert tester.pvalue("b", "a", ["c"]) == expected


def test_the_tester_keeps_its_own_copy(table):
    mine = table.copy()
    tester = QueryTester(mine, test="gcm")
    expected = QueryTester(table, test="gcm")
    mine[:] = 0.0
    assert tester.pvalue(0, 1) == expected.pvalue(0, 1)


def test_the_fingerprint_tells_apart_whatever_changes_an_answer(table):
    changed = table.copy()
    changed[60, 2] = np.nextafter(changed[60, 2], 9.0)  # invisible when printed
    testers = [
        QueryTester(table, test="gcm"),
        QueryTester(changed, test="gcm"),
        QueryTester(table, test="rcit"),
        QueryTester(table, test="gcm", random_state=1),
        QueryTester(table, test="gcm", missing="drop"),
        QueryTester(table, test="gcm", nodes=[[0, 1], [2], [3]]),
    ]
    assert len({tester.fingerprint for tester in testers}) == len(testers)
    assert testers[0].fingerprint == QueryTester(pd.DataFrame(table), test="gcm").fingerprint


def test_nodes_of_several_columns(table):
    tester = QueryTester(table, test="rcit", nodes=[[0, 1], 2, [3]])
    assert (tester.n_nodes, tester.names) == (3, ("X0+X1", "X2", "X3"))
    result = tester.result(2, 0, [1])
    direct = ci_test(table[:, :2], table[:, 3], table[:, [2]], method="rcit", random_state=result.seed)
    assert result.pvalue == direct.pvalue
    frame = pd.DataFrame(table, columns=list("abcd"))
    named = QueryTester(frame, test="rcit", nodes={"pair": ["a", "b"], "c": "c", "d": ["d"]})
    assert named.pvalue("d", "pair", ["c"]) == result.pvalue


def test_categories_are_encoded_as_by_ci_test(table):
    kind = np.array(["u", "v", "w"])[np.digitize(table[:, 0], [-0.5, 0.5])]
    frame = pd.DataFrame({"kind": kind, "y": table[:, 1], "flag": table[:, 2] > 0})
    result = QueryTester(frame).result("kind", "y", ["flag"])
    direct = ci_test("kind", "y", "flag", data=frame, random_state=result.seed)
    assert (result.pvalue, result.statistic) == (direct.pvalue, direct.statistic)


def test_a_test_may_be_given_as_an_instance(table):
    given = RCIT(random_state=99)
    by_instance = QueryTester(table, test=given, missing="drop")
    assert by_instance.pvalue(0, 1, [2]) == QueryTester(table, test="rcit", missing="drop").pvalue(0, 1, [2])
    assert (given.random_state, given.missing) == (99, "raise")


def test_missing_values_are_dropped_query_by_query(table):
    holes = table.copy()
    holes[:10, 0] = np.nan
    with pytest.raises(MissingValuesError, match=r"data\[0\]: 10, first in row 0"):
        QueryTester(holes, test="gcm")
    tester = QueryTester(holes, test="gcm", missing="drop")
    assert tester.result(0, 1).n == 110
    assert tester.result(1, 3, [2]).n == 120
    assert tester.pvalue(1, 3, [2]) == QueryTester(table, test="gcm").pvalue(1, 3, [2])


# Copies: X2 is a copy of X0.


@pytest.fixture
def copied(table):
    data = np.column_stack([table[:, 0], table[:, 3], table[:, 0], table[:, 1]])
    with pytest.warns(SpectralCITWarning, match="'X0' and 'X2' hold the same values"):
        return QueryTester(data, test="gcm")


def test_identical_nodes_are_dependent_given_anything_else(copied):
    for conditions in ([], [1], [1, 3]):
        assert copied.pvalue(0, 2, conditions) == SMALLEST
    assert "same column" in copied.result(0, 2).warnings[0]


def test_a_node_is_independent_of_all_others_given_its_copy(copied):
    assert copied.pvalue(0, 1, [2]) == copied.pvalue(1, 2, [0, 3]) == 1.0
    assert "nothing that Z does not hold" in copied.result(0, 1, [2]).warnings[0]


def test_a_copy_within_the_conditioning_set_counts_once(copied, table):
    result = copied.result(1, 3, [0, 2])
    direct = ci_test(table[:, 3], table[:, 1], table[:, [0]], method="gcm", random_state=result.seed)
    assert result.pvalue == direct.pvalue


def test_a_copy_among_several_columns_leaves_the_others_to_be_tested(table):
    data = np.column_stack([table, table[:, 0]])
    with pytest.warns(SpectralCITWarning, match="hold the same values"):
        tester = QueryTester(data, test="gcm", nodes=[[0, 1], 2, 3, 4])
    result = tester.result(0, 2, [3])  # given the copy of column 0, only column 1 of the first node is left
    direct = ci_test(table[:, 1], table[:, 3], table[:, 0], method="gcm", random_state=result.seed)
    assert result.pvalue == direct.pvalue
    assert tester.pvalue(0, 3, [1]) == SMALLEST


def test_a_copy_that_only_missing_values_tell_apart(table):
    data = np.column_stack([table[:, 0], table[:, 1], table[:, 0]])
    data[3, 0] = np.nan
    tester = QueryTester(data, test="gcm", missing="drop")
    assert tester.pvalue(0, 2, [1]) == SMALLEST
    assert tester.pvalue(0, 1, [2]) == 1.0


def test_a_boolean_and_its_numbers_are_copies(table):
    flag = table[:, 0] > 0
    with pytest.warns(SpectralCITWarning, match="'flag' and 'number'"):
        tester = QueryTester(pd.DataFrame({"flag": flag, "number": flag.astype(float), "y": table[:, 1]}))
    assert tester.pvalue("flag", "y", ["number"]) == 1.0


# Errors come before the search starts, and say where.


@pytest.mark.parametrize(
    "spoil, error, text",
    [
        (lambda t: np.column_stack([t, np.full(len(t), 7.0)]), ConstantColumnError, r"data\[4\] is constant"),
        (lambda t: t[:2], TooFewRowsError, "at least 20 rows, got 2"),
        (lambda t: np.where(t == t[4, 1], np.inf, t), InfiniteValuesError, r"data\[1\] has 1 infinite"),
        (lambda t: pd.DataFrame(t, columns=list("abcd")).assign(d="x"), ConstantColumnError, "column 'd'"),
    ],
)
def test_bad_data(table, spoil, error, text):
    with pytest.raises(error, match=text):
        QueryTester(spoil(table), test="gcm")


def test_a_column_with_hardly_any_values(table):
    table[5:, 2] = np.nan
    with pytest.raises(TooFewRowsError, match=r"data\[2\] has 5 values"):
        QueryTester(table, test="gcm", missing="drop")


def test_a_level_of_a_category_in_another_node(table):
    kind = np.array(["u", "v", "w"])[np.digitize(table[:, 0], [-0.5, 0.5])]
    with pytest.raises(OverlappingColumnsError, match="one is a level of the other"):
        QueryTester(pd.DataFrame({"kind": kind, "is_u": kind == "u", "y": table[:, 1]}), test="gcm")


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"test": "spektral"}, UnknownTestError, "Did you mean 'spectral'"),
        ({"test": 3}, ParameterError, "name of a test or an instance"),
        (
            {"test": "gcm", "misssing": "drop"},
            ParameterError,
            "no parameter 'misssing'. Did you mean 'missing'",
        ),
        ({"names": ["a"]}, LengthMismatchError, "4 nodes, but 1 names"),
        ({"names": list("abca")}, DuplicateColumnError, "two nodes are called 'a'"),
        ({"nodes": [[0, 1], [1]]}, DuplicateColumnError, r"data\[1\] is used more than once"),
        ({"names": 4}, ParameterError, "names must be a list"),
        ({"nodes": 4}, ParameterError, "nodes must hold"),
        ({"nodes": [0, 1.5]}, ParameterError, "nodes must hold"),
        ({"nodes": [[[0]]]}, ParameterError, "nodes must hold"),
        ({"nodes": [[0], []]}, ParameterError, "at least one column"),
        ({"nodes": [[0], [4]]}, UnknownColumnError, "no column 4"),
        ({"random_state": -1}, ParameterError, "random_state"),
    ],
)
def test_bad_options(table, options, error, text):
    with pytest.raises(error, match=text):
        QueryTester(table, **options)


@pytest.mark.parametrize(
    "query, text",
    [
        ((0, 0, []), "disjoint"),
        ((0, 1, [1]), "X0 and X1 given {X1}"),
        ((0, 9, []), "no node 9"),
        ((0, "q"), "'q'"),
    ],
)
def test_bad_queries(table, query, text):
    with pytest.raises(ParameterError, match=text):
        QueryTester(table, test="gcm").pvalue(*query)


def test_an_error_during_a_query_names_the_query(table):
    tester = QueryTester(table, test="hsic")
    with pytest.raises(ParameterError) as caught:
        tester.pvalue(0, 1, [3])
    assert caught.value.__notes__ == ["in the query X0 and X1 given {X3}"]


def test_five_hundred_columns_are_read_at_once():
    table = np.random.default_rng(0).normal(size=(100, 500))
    tester = QueryTester(table, test="fisher-z")
    assert 0 < tester.pvalue(3, 499, [7, 8]) <= 1


def test_arrays_are_put_into_an_order_of_their_own(table):
    x, y, z = table[:, 0], table[:, 1], table[:, 2:]
    first = ArrayTester(test="rcit").result(x, y, z)
    tester = ArrayTester(test="rcit")
    assert tester.result(y, x, z[:, ::-1]).pvalue == first.pvalue
    assert len(tester.cache) == 1
    assert tester.result(x, y).pvalue == tester.result(x[:, None], y, z[:, :0]).pvalue
    assert ArrayTester(test="rcit", random_state=1).result(x, y, z).seed != first.seed
    with pytest.warns(SpectralCITWarning, match="nothing that Z does not hold"):
        assert tester.result(x, y, x).pvalue == 1.0


@pytest.mark.parametrize(
    "adapter, host, extra",
    [
        ("causal_learn", "causallearn.utils", "causal-learn"),
        ("pgmpy", "pgmpy.ci_tests", "pgmpy"),
        ("tigramite", "tigramite.independence_tests.independence_tests_base", "tigramite"),
    ],
)
def test_a_missing_host_is_an_error_with_the_command_that_helps(adapter, host, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, host, None)
    monkeypatch.delitem(sys.modules, f"spectralcit.discovery.{adapter}", raising=False)
    with pytest.raises(MissingExtraError, match=rf"pip install .*'spectralcit\[{extra}\]'"):
        importlib.import_module(f"spectralcit.discovery.{adapter}")


def test_importing_the_package_imports_no_host():
    probe = (
        "import sys, spectralcit.discovery as d; d.QueryTester; d.DoWhyTest;"
        "print([m for m in ('causallearn', 'pgmpy', 'tigramite', 'dowhy', 'jax') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
