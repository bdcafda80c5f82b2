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


@pytest.mark.parametrize("wrong", [3, int, object(), ["toy"]])
def test_what_is_not_a_test(wrong):
    with pytest.raises(ParameterError, match="name of a test or an instance or class of one"):
        ci_test(AGE, AGE**2, method=wrong)


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    "formula",
    [
        "outcome ~ gene | age + stage",
        "`outcome`~gene|age+`stage`",
        " outcome  ~ gene |  age\n + stage ",
    ],
)
def test_a_formula_is_the_same_question(formula):
    named = ci_test(data=FRAME, x="gene", y="outcome", z=["age", "stage"], method="toy", random_state=1)
    written = ci_test(formula, data=FRAME, method="toy", random_state=1)
    assert (written.pvalue, written.question) == (named.pvalue, named.question)


@pytest.mark.usefixtures("toy")
def test_formulas_take_any_name_and_several_columns():
    frame = FRAME.rename(columns={"gene": "a ~ b|c+d", "age": "age (years)"})
    result = ci_test("outcome ~ `a ~ b|c+d` + `age (years)`", data=frame, method="toy")
    assert result.question.x == ("a ~ b|c+d", "age (years)")
    assert result.question.z == ()
    # With y= given, a text with a tilde is a name.
    assert ci_test("a ~ b|c+d", "outcome", data=frame, method="toy").question.x == ("a ~ b|c+d",)


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    ("formula", "more", "message"),
    [
        ("outcome ~ gene", {}, "names columns: give the data frame as data="),
        ("outcome ~ gene | age", {"data": FRAME, "z": "stage"}, "leave z= out"),
        ("outcome ~ gene ~ age", {"data": FRAME}, "one '~', not 2"),
        ("outcome ~ gene | age | stage", {"data": FRAME}, "one '|'"),
        ("outcome | age ~ gene", {"data": FRAME}, "on the right of '~'"),
        ("~ gene", {"data": FRAME}, "a name is missing left of '~'"),
        ("outcome ~ ", {"data": FRAME}, "a name is missing right of '~'"),
        ("outcome ~ gene |", {"data": FRAME}, "a name is missing right of '|'"),
        ("outcome ~ gene + + age", {"data": FRAME}, "a name is missing"),
        ("outcome ~ blood pressure", {"data": FRAME}, "backticks: `blood pressure`"),
        ("outcome ~ gene * age", {"data": FRAME}, "'gene \\* age' is not one name"),
        ("outcome ~ gene*age", {"data": FRAME}, "joined by '.' only"),
        ("Surv(time, event) ~ gene", {"data": FRAME}, "is not one name"),
        ("outcome ~ `gene", {"data": FRAME}, "a backtick is opened and not closed"),
    ],
)
def test_formulas_that_cannot_be_read(formula, more, message):
    with pytest.raises(ParameterError, match=message):
        ci_test(formula, method="toy", **more)
    with pytest.raises(UnknownColumnError, match=r"no column 'genes'. Did you mean 'gene'"):
        ci_test("outcome ~ genes", data=FRAME, method="toy")


def test_test_and_method_are_two_names_of_one_argument(toy):
    x, y = AGE, FRAME["gene"]
    expected = ci_test(x, y, method="toy", random_state=2).pvalue
    for given in ("toy", toy, toy()):
        assert ci_test(x, y, test=given, random_state=2).pvalue == expected
    with pytest.raises(ParameterError, match="two names: give one of them"):
        ci_test(x, y, test="toy", method="gcm")


def test_a_generator_gives_one_seed_and_moves_on(toy):
    x, y = AGE, FRAME["gene"]
    rng = np.random.default_rng(5)
    first, second = (ci_test(x, y, method="toy", random_state=rng) for _ in range(2))
    expected = np.random.default_rng(5).integers(2**32, size=2).tolist()
    assert [first.seed, second.seed] == expected
    assert ci_test(x, y, method="toy", random_state=first.seed).pvalue == first.pvalue
    test = toy(random_state=np.random.default_rng(5))
    assert [
        test.test(x, y).seed,
        ci_test(x, y, test=test).seed,
    ] == expected  # a copy would draw the first again
    with pytest.raises(ParameterError, match="Generator or None"):
        ci_test(x, y, method="toy", random_state=np.random.RandomState(0))


def test_unknown_method():
    with pytest.raises(UnknownTestError, match="spectral"):
        ci_test(AGE, AGE**2, method="spectrum")
