from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralcit import prepare
from spectralcit.errors import TooManyCategoriesError
from spectralcit.inputs import MAX_CATEGORIES
from spectralcit.inputs.read import read

OTHER = np.random.default_rng(0).normal(size=400)


def block_of(column):
    return prepare(column, OTHER[: len(column)], min_rows=1).x


def test_two_levels_give_one_indicator_of_the_second():
    block = block_of(["no", "yes", "yes", "no", "no"])
    assert block.names == ("x[yes]",)
    assert block.kinds == ("indicator",)
    np.testing.assert_array_equal(block.values[:, 0], [0, 1, 1, 0, 0])


@given(st.lists(st.text(min_size=1, max_size=2), min_size=5, max_size=40).filter(lambda v: len(set(v)) > 2))
def test_one_hot_columns_tell_the_levels_apart(column):
    block = block_of(column)
    levels = sorted(set(column))
    assert block.names == tuple(f"x[{level}]" for level in levels)
    np.testing.assert_array_equal(block.values.sum(axis=1), 1.0)
    assert [levels[j] for j in block.values.argmax(axis=1)] == column
    assert set(block.kinds) == {"indicator"}
    assert set(block.groups) == {0}


def test_the_cap_is_fifty_levels():
    assert MAX_CATEGORIES == 50
    names = [f"level{i}" for i in range(51)]
    assert block_of((names[:50] * 3)[:150]).n_columns == 50
    assert block_of(names * 3).n_columns == 50


def test_rare_levels_are_one_and_a_note_says_what_that_costs():
    frequent = [f"site{i:02d}" for i in range(49)] * 6
    rare = [f"rare{i}" for i in range(20)] * 2 + ["other"] * 2
    x, y = np.random.default_rng(0).normal(size=(2, len(frequent + rare)))
    data = prepare(x, y, frequent + rare)
    assert data.z.n_columns == 50
    assert data.z.names[-1] == "z[other_]"  # "other" is taken
    assert data.z.values[:, -1].sum() == 42
    assert any("the 21 rarest, 12% of the rows" in note and "not removed" in note for note in data.notes)
    assert any("not seen" in note for note in prepare(frequent + rare, y, x).notes)


def test_names_of_subjects_are_pooled_in_z_only():
    names = [f"subject {chr(65 + i % 26)}{i}" for i in range(150)] * 2
    x, y = np.random.default_rng(0).normal(size=(2, 300))
    with pytest.raises(TooManyCategoriesError, match="150 categories"):
        prepare(names, y, x)
    assert prepare(x, y, names).z.n_columns == 50
    with pytest.raises(TooManyCategoriesError, match="150 categories"):
        prepare(x[:150], y[:150], names[:150])  # every row its own level: nothing is known of any


def test_ordered_categories_are_positions_on_their_scale():
    order = ["none", "mild", "severe", "unused", "worst"]
    values = ["mild", "worst", "none", "severe"] * 20
    codes = pa.array([order.index(value) for value in values], pa.int8())
    series = [
        pd.Series(pd.Categorical(values, categories=order, ordered=True)),
        pa.chunked_array([pa.DictionaryArray.from_arrays(codes, order, ordered=True)]),
    ]
    for one in series:
        block = block_of(one)
        assert block.names == ("x",)
        assert block.values[:4, 0].tolist() == [1.0, 4.0, 0.0, 2.0]
        assert block.kinds == ("discrete",)
    unordered = pd.Series(pd.Categorical(values, categories=order)), pl.Series(values, dtype=pl.Enum(order))
    assert [block_of(one).n_columns for one in unordered] == [4, 4]


def test_a_missing_label_of_a_scale_is_missing():
    ordered = pd.Series(pd.Categorical(["b", None, "a"] * 10, categories=["b", "a"], ordered=True))
    column = read(ordered, "x").columns[0]
    assert column.scale == ("b", "a")
    assert column.missing.tolist() == [False, True, False] * 10


def test_levels_that_are_declared_but_absent_give_no_column():
    column = pd.Series(pd.Categorical(["a", "b", "c"] * 5, categories=["z", "c", "b", "a"]))
    assert block_of(column).names == ("x[a]", "x[b]", "x[c]")


def test_levels_that_disappear_with_dropped_rows_give_no_column():
    other = OTHER[:40].copy()
    other[0] = np.nan
    block = prepare(["rare"] + ["a", "b", "c"] * 13, other, missing="drop").x
    assert block.names == ("x[a]", "x[b]", "x[c]")


def test_categories_that_print_alike_stay_apart():
    column = pd.Series(pd.Categorical([1, "1", 2] * 5, categories=[1, "1", 2]))
    block = block_of(column)
    assert block.n_columns == 3
    np.testing.assert_array_equal(block.values.sum(axis=0), [5, 5, 5])


@pytest.mark.parametrize(
    ("n", "distinct", "kind"),
    [
        (40, 2, "indicator"),
        (50, 3, "discrete"),
        (50, 10, "discrete"),
        (49, 10, "continuous"),  # fewer than five rows per value
        (400, 10, "discrete"),
        (400, 11, "continuous"),
        (12, 3, "continuous"),
    ],
)
def test_kinds_of_numeric_columns_follow_the_documented_rule(n, distinct, kind):
    column = (np.arange(n) % distinct) * 1.5
    block = block_of(column)
    assert block.kinds == (kind,)
    np.testing.assert_array_equal(block.values[:, 0], column)  # numbers are kept, also two-valued ones


def test_a_late_eleventh_value_is_noticed():
    column = np.resize(np.arange(10.0), 2000)
    column[-1] = 99.0
    assert prepare(column, np.random.default_rng(0).normal(size=2000)).x.kinds == ("continuous",)


def test_bytes_are_text():
    assert block_of(np.array([b"u", b"v", b"\xff"] * 5)).names == ("x[\\xff]", "x[u]", "x[v]")
