from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from spectralcit import ci_test
from spectralcit.errors import (
    DuplicateColumnError,
    MissingValuesError,
    OverlappingColumnsError,
    ParameterError,
    UnknownColumnError,
    UnknownTestError,
    UnsupportedTypeError,
)

rng = np.random.default_rng(0)
AGE = rng.normal(size=80)
FRAME = pd.DataFrame(
    {
        "gene": AGE + rng.normal(size=80),
        "outcome": AGE + rng.normal(size=80),
        "age": AGE,
        "stage": np.resize(["I", "II", "III"], 80),
        "visit": pd.date_range("2020-01-01", periods=80),
        "clock": [datetime.time(3)] * 80,
    }
)


def test_by_name_equals_the_class_itself(toy):
    x, y, z = (FRAME[name].to_numpy() for name in ("gene", "outcome", "age"))
    result = ci_test(x, y, z, method="toy", random_state=3, offset=0.5)
    direct = toy(random_state=3, offset=0.5).test(x, y, z)
    assert (result.pvalue, result.statistic, result.seed) == (direct.pvalue, direct.statistic, 3)
    assert result.method == "toy"


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas, lambda f: pl.from_pandas(f).to_arrow()])
def test_columns_of_a_frame_equal_arrays(make):
    expected = ci_test(FRAME[["gene"]], FRAME["outcome"], FRAME[["age", "stage"]], method="toy")
    result = ci_test(data=make(FRAME), x="gene", y=["outcome"], z=("age", "stage"), method="toy")
    assert result.pvalue == expected.pvalue
    assert result.diagnostics["z_columns"] == 4


@pytest.mark.usefixtures("toy")
def test_columns_that_are_not_asked_for_may_be_of_any_type():
    assert ci_test(data=FRAME, x="gene", y="outcome", method="toy").n == 80
    with pytest.raises(UnsupportedTypeError, match="column 'clock' of z"):
        ci_test(data=FRAME, x="gene", y="outcome", z="clock", method="toy")


@pytest.mark.usefixtures("toy")
def test_no_names_in_z_is_an_unconditional_test():
    for z in (None, [], ()):
        assert ci_test(data=FRAME, x="gene", y="outcome", z=z, method="toy").diagnostics["z_columns"] == 0


@pytest.mark.usefixtures("toy")
def test_integer_labels_are_names():
    frame = FRAME.rename(columns={"gene": 0, "outcome": 1})
    assert ci_test(data=frame, x=0, y=[np.int64(1)], method="toy").n == 80


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"x": "Gene", "y": "outcome"}, UnknownColumnError, "no column 'Gene'. Did you mean 'gene'?"),
        ({"x": "gene", "y": "outcome", "z": ["agee"]}, UnknownColumnError, "z: .*'agee'. Did you mean 'age'"),
        (
            {"x": "gene", "y": "outcome", "z": ["age", "gene"]},
            OverlappingColumnsError,
            "'gene' of x .* 'gene' of z",
        ),
        ({"x": "gene", "y": "gene"}, OverlappingColumnsError, "'gene' of x"),
        (
            {"x": ["gene", "gene"], "y": "outcome"},
            DuplicateColumnError,
            "x names the column 'gene' more than once",
        ),
        ({"x": AGE, "y": "outcome"}, ParameterError, "x must be a column name.*ndarray.*without data="),
        ({"x": "gene", "y": FRAME["outcome"]}, ParameterError, "y must be a column name.*Series"),
        ({"x": "gene", "y": "outcome", "z": list(AGE)}, ParameterError, "z must be a column name"),
        ({"x": "gene", "y": True}, ParameterError, "y must be a column name"),
        ({"x": "gene"}, ParameterError, "y must name at least one column"),
        ({"x": [], "y": "outcome"}, ParameterError, "x must name at least one column"),
    ],
)
def test_bad_names(arguments, error, message):
    with pytest.raises(error, match=message):
        ci_test(data=FRAME, method="toy", **arguments)


@pytest.mark.usefixtures("toy")
def test_data_must_be_a_frame():
    for data in (FRAME.to_numpy(), {"gene": [1]}, FRAME["gene"]):
        with pytest.raises(UnsupportedTypeError, match="data must be an eager data frame"):
            ci_test(data=data, x="gene", y="outcome", method="toy")
    with pytest.raises(UnsupportedTypeError, match="collect"):
        ci_test(data=pl.from_pandas(FRAME).lazy(), x="gene", y="outcome", method="toy")
    duplicated = FRAME.rename(columns={"age": "gene"})
    with pytest.raises(DuplicateColumnError, match="data has several columns called 'gene'"):
        ci_test(data=duplicated, x="gene", y="outcome", method="toy")


@pytest.mark.usefixtures("toy")
def test_arrays_need_both_x_and_y():
    for arguments in ({}, {"x": AGE}, {"y": AGE}):
        with pytest.raises(ParameterError, match="is missing: give an array"):
            ci_test(**arguments, method="toy")
    with pytest.raises(ParameterError, match="'gene'; to name a column, give the data frame as data="):
        ci_test("gene", AGE, method="toy")


@pytest.mark.usefixtures("toy")
def test_unknown_parameters_are_named_and_corrected():
    with pytest.raises(ParameterError, match=r"'toy' has no parameter 'ofset'\. Did you mean 'offset'"):
        ci_test(AGE, AGE**2, method="toy", ofset=1.0)


@pytest.mark.parametrize("typed", ["fisherz", "FisherZ", "fisher_z", "FISHER-Z"])
def test_names_as_people_type_them(typed):
    result = ci_test(AGE, FRAME["gene"], method=typed)
    assert result.method == "fisher-z"
    assert result.pvalue == ci_test(AGE, FRAME["gene"], method="fisher-z").pvalue
    with pytest.raises(ParameterError, match="'fisher-z' has no parameter 'alpha'"):
        ci_test(AGE, FRAME["gene"], method=typed, alpha=0.1)


def test_a_class_or_an_instance_instead_of_a_name(toy):
    expected = ci_test(AGE, FRAME["gene"], method="toy", offset=0.5, random_state=7)
    given = toy(offset=0.5, random_state=7, missing="drop")
    for result in (
        ci_test(AGE, FRAME["gene"], method=toy, offset=0.5, random_state=7),
        ci_test(AGE, FRAME["gene"], method=given),
        ci_test(AGE, FRAME["gene"], method=toy(), offset=0.5, random_state=7),
    ):
        assert (result.pvalue, result.diagnostics) == (expected.pvalue, expected.diagnostics)
    holes = AGE.copy()
    holes[3] = np.nan
    assert ci_test(holes, FRAME["gene"], method=given).n == 79  # the instance's own way with missing values
    with pytest.raises(MissingValuesError):
        ci_test(holes, FRAME["gene"], method=given, missing="raise")
    assert ci_test(AGE, FRAME["gene"], method=given, random_state=8).seed == 8
    assert given.get_params() == {"offset": 0.5, "random_state": 7, "missing": "drop"}


@pytest.mark.parametrize("wrong", [None, 3, int, object(), ["toy"]])
def test_what_is_not_a_test(wrong):
    with pytest.raises(ParameterError, match="name of a test or an instance or class of one"):
        ci_test(AGE, AGE**2, method=wrong)


def test_unknown_method():
    with pytest.raises(UnknownTestError, match="spectral"):
        ci_test(AGE, AGE**2, method="spectrum")
