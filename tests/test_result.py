from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralcit import CITestResult, NullDistribution
from spectralcit.errors import ParameterError
from spectralcit.question import Question

finite = st.floats(allow_nan=False, allow_infinity=False)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.integers(-9, 9).map(np.int32),
    finite.map(np.float64),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.text(max_size=4).filter(lambda k: k != "__float__"), inner, max_size=3),
        st.lists(st.floats(), max_size=4).map(np.array),
    ),
    max_leaves=8,
)
dictionaries = st.dictionaries(st.text(max_size=6).filter(lambda k: k != "__float__"), trees, max_size=4)
results = st.builds(
    CITestResult,
    statistic=finite,
    pvalue=st.floats(0, 1, exclude_min=True),
    method=st.text(),
    n=st.integers(1, 10**9),
    null=st.builds(
        NullDistribution,
        name=st.text(),
        parameters=st.dictionaries(
            st.text(max_size=4).filter(lambda k: k != "__float__"),
            st.one_of(finite, st.integers(), st.lists(st.floats(allow_nan=False))),
        ),
    ),
    effect_size=st.none() | finite,
    n_train=st.none() | st.integers(0, 10**9),
    n_test=st.none() | st.integers(0, 10**9),
    diagnostics=dictionaries,
    warnings=st.lists(st.text()).map(tuple),
    seconds=st.floats(0, 1e6),
    seed=st.none() | st.integers(0, 2**32 - 1),
    question=st.none()
    | st.builds(
        Question,
        *[st.lists(st.text(), min_size=least, max_size=3).map(tuple) for least in (1, 1, 0)],
        source=st.text(),
        event=st.text(),
        rows=st.lists(st.tuples(st.text(), st.text() | st.integers())).map(tuple),
    ),
)


def make(**changes):
    given = {
        "statistic": 9.0,
        "pvalue": 0.06,
        "method": "toy",
        "n": 100,
        "null": NullDistribution("chi2", {"df": 4}),
    }
    return CITestResult(**{**given, **changes})


@given(results)
def test_round_trip_through_strict_json_is_exact(result):
    text = json.dumps(result.to_dict(), allow_nan=False)
    back = CITestResult.from_dict(json.loads(text))
    assert back == result
    assert json.dumps(back.to_dict(), allow_nan=False) == text


@given(results)
def test_copies_are_equal(result):
    assert pickle.loads(pickle.dumps(result)) == result
    assert copy.deepcopy(result) == result


def test_infinities_survive_and_nan_becomes_none():
    result = make(diagnostics={"condition": math.inf, "list": [-math.inf, math.nan, np.float32(0.5)]})
    assert result.diagnostics == {"condition": math.inf, "list": [-math.inf, None, 0.5]}
    assert CITestResult.from_dict(json.loads(json.dumps(result.to_dict()))).diagnostics == result.diagnostics


def test_arrays_become_lists_and_the_result_owns_them():
    curve = np.array([[1.0, 2.0]])
    shared = {"curve": curve, "shape": (1, 2), 3: np.bool_(True)}
    result = make(diagnostics=shared)
    curve[:] = 0.0
    shared["new"] = 1
    assert result.diagnostics == {"curve": [[1.0, 2.0]], "shape": [1, 2], "3": True}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pvalue": 0.0}, "pvalue"),
        ({"pvalue": -0.1}, "pvalue"),
        ({"pvalue": 1.0000001}, "pvalue"),
        ({"pvalue": math.nan}, "pvalue must be finite"),
        ({"statistic": math.nan}, "statistic must be finite"),
        ({"statistic": math.inf}, "statistic must be finite"),
        ({"statistic": "high"}, "statistic must be a number"),
        ({"effect_size": math.nan}, "effect_size"),
        ({"seconds": -1.0}, "seconds"),
        ({"null": "chi2"}, "NullDistribution"),
        ({"diagnostics": {"f": object()}}, r"diagnostics\['f'\] holds a object"),
        ({"diagnostics": {"a": {"__float__": "1"}}}, "reserved"),
        ({"diagnostics": {1: 0, "1": 0}}, "repeated"),
    ],
)
def test_impossible_results_cannot_be_made(changes, message):
    with pytest.raises(ParameterError, match=message):
        make(**changes)


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        make().pvalue = 0.5


@pytest.mark.parametrize(
    "content",
    [{}, {"pvalue": 1}, [], None, {**make().to_dict(), "extra": 1}, {**make().to_dict(), "null": "chi2"}],
)
def test_from_dict_refuses_what_is_not_a_result(content):
    with pytest.raises(ParameterError, match="not a stored CITestResult"):
        CITestResult.from_dict(content)


def test_reject_includes_the_level_itself():
    result = make(pvalue=0.05)
    assert result.reject()
    assert not result.reject(alpha=0.049)
    for alpha in (0.0, 1.0, -1, math.nan):
        with pytest.raises(ParameterError, match="alpha"):
            result.reject(alpha)


def test_text_says_what_matters():
    text = str(
        make(pvalue=0.001, effect_size=0.25, n_train=80, n_test=20, seed=7, warnings=("mind the gap",))
    )
    assert text.splitlines()[0].startswith("toy: Evidence that X and Y depend on each other given Z.")
    split = "100 (80 train, 20 test)"
    for part in ("0.001 (level 0.05)", "0.25", "chi2(df=4)", split, "7", "warning: mind the gap"):
        assert part in text
    assert "No evidence that X and Y depend" in str(make(pvalue=0.5))


def test_html_is_escaped():
    hostile = "<script>alert('1')</script>"
    page = make(
        method=hostile, warnings=(hostile,), null=NullDistribution(hostile, {hostile: 1})
    )._repr_html_()
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 4
    assert "<table>" in page
