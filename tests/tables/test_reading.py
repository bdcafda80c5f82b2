from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

from spectralcit import read_table
from spectralcit.cli.options import _READING
from spectralcit.errors import ParameterError
from spectralcit.inputs import MAX_CATEGORIES
from spectralcit.tables.reading import Reading


def test_the_bundle_the_function_and_the_command_line_have_the_same_options():
    bundle = {each.name: each.default for each in fields(Reading)}
    signature = inspect.signature(read_table).parameters
    assert bundle == {name: one.default for name, one in signature.items() if name != "source"}
    assert set(bundle) == set(_READING)
    assert bundle["max_levels"] == MAX_CATEGORIES


def test_what_is_not_a_default_is_named():
    assert Reading().given() == {}
    given = {"delimiter": "tab", "encoding": "latin-1", "decimal": ",", "categorical": "a"}
    assert Reading(**given).given() == given
    assert Reading(delimiter="tab").mark == Reading(delimiter="\\t").mark == "\t"


@pytest.mark.parametrize(
    "wrong", [{"format": "xls"}, {"decimal": ""}, {"delimiter": ""}, {"delimiter": '"'}, {"delimiter": "ab"}]
)
def test_wrong_options(wrong):
    (name,) = wrong
    with pytest.raises(ParameterError, match=f"{name} must be"):
        Reading(**wrong)
