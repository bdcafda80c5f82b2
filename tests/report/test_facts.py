from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spectralcit import prepare
from spectralcit.report import Question
from spectralcit.report.facts import columns

N = 40
STAGE = ["I", "II", "II", "III"] * 10
NUMBERS = np.linspace(-1.0, 3.0, N)


@pytest.mark.parametrize("named", [True, False])
def test_columns_are_described_whether_or_not_the_data_have_names(named):
    x, z = pd.DataFrame({"gene": NUMBERS}), pd.DataFrame({"stage": STAGE, "sex": ["f", "m"] * 20})
    question = Question(("gene",), ("score",), ("stage", "sex") if named else ("stage",), "")
    data = prepare(
        x if named else NUMBERS,
        pd.Series([1.0, 2.0, 2.0, 5.0] * 10, name="score") if named else [1.0, 2.0, 2.0, 5.0] * 10,
        z if named else STAGE,
    )
    found = {fact.name: (fact.role, fact.kind, fact.values) for fact in columns(data, question)}
    assert found["gene"] == ("X", "continuous", "-1 to 3, median 1")
    assert found["score"] == ("Y", "few values", "1 to 5, median 2")
    assert found["stage"] == ("Z", "categories", "3 levels: II (50%), I (25%), III (25%)")
    if named:
        assert found["sex"] == ("Z", "categories", "m (50%) and another (50%)")


def test_brackets_in_a_name_are_not_levels():
    frame = pd.DataFrame({"a[0]": NUMBERS, "a": STAGE, "a[b]": [0, 3] * 20})
    data = prepare(frame, NUMBERS**2)
    found = {
        fact.name: (fact.kind, fact.values) for fact in columns(data, Question(tuple(frame), ("y",), ()))
    }
    assert found["a[0]"] == ("continuous", "-1 to 3, median 1")
    assert found["a"][1] == "3 levels: II (50%), I (25%), III (25%)"
    assert found["a[b]"] == ("two values", "0 (50%), 3")
