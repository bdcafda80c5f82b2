from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralcit.errors import OverlappingColumnsError, ParameterError, UnknownColumnError
from spectralcit.tables import columns_matching

NAMES = ("id", "age", "stage", "img_1", "img_2", "c3", "c4", "c5", "site, city", "a:b", "x*")


@pytest.mark.parametrize(
    "spec, expected",
    [
        ("age", ("age",)),
        (" age , stage ", ("age", "stage")),
        ("img_*", ("img_1", "img_2")),
        ("c?", ("c3", "c4", "c5")),
        ("c3:c5", ("c3", "c4", "c5")),
        ("age:img_1,c5", ("age", "stage", "img_1", "c5")),
        (":age", ("id", "age")),
        ("a:b:", ("a:b", "x*")),
        ("c4,c3:c5", ("c4", "c3", "c5")),
        ('"site, city",age', ("site, city", "age")),
        (r"site\, city", ("site, city",)),
        ("'x*'", ("x*",)),
        ("x*", ("x*",)),
        ("a:b", ("a:b",)),
        ("id:stage,!age", ("id", "stage")),
        ("*,!img_*,!c3:x*", ("id", "age", "stage")),
    ],
)
def test_selections(spec, expected):
    assert columns_matching(spec, NAMES) == expected


def test_patterns_and_ranges_skip_columns_with_another_role_and_names_do_not():
    assert columns_matching("id:img_1", NAMES, without=("age",)) == ("id", "stage", "img_1")
    assert "age" not in columns_matching("*", NAMES, without=("age",))
    with pytest.raises(OverlappingColumnsError, match="'age' already has another role"):
        columns_matching("id,age", NAMES, without=("age",))


@pytest.mark.parametrize(
    "spec, error, message",
    [
        ("Stag", UnknownColumnError, "no column 'Stag'. Did you mean 'stage'"),
        ("c3:c9", UnknownColumnError, r"no column 'c9' \(an end of the range 'c3:c9'\)"),
        ("gene_*", UnknownColumnError, "no column matches 'gene_\\*'"),
        ("'img_*'", UnknownColumnError, "no column 'img_"),
        ("c5:c3", ParameterError, "runs backwards"),
        ('"age', ParameterError, "left open"),
        (" , ", ParameterError, "selects no column"),
        ("age,!age", ParameterError, "selects no column"),
    ],
)
def test_what_is_wrong_is_named(spec, error, message):
    with pytest.raises(error, match=message):
        columns_matching(spec, NAMES)


@given(st.lists(st.text(min_size=1, max_size=6).map(str.strip).filter(bool), min_size=1, unique=True))
def test_every_name_can_be_written_with_escapes(names):
    for name in names:
        escaped = "".join("\\" + character for character in name)
        assert columns_matching(escaped, names) == (name,)
