"""What users give as a censored time, and what is wrong with it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from spectralcit import ci_test, prepare, read_table, screen, suggest_tests
from spectralcit.errors import (
    CensoredTimesError,
    InfiniteValuesError,
    LengthMismatchError,
    MissingValuesError,
    OverlappingColumnsError,
    UnknownColumnError,
)
from spectralcit.inputs import select_columns

RNG = np.random.default_rng(0)
X, TIME = RNG.normal(size=40), RNG.exponential(size=40)
EVENT = np.arange(40) % 3 > 0
FRAME = {"x": X, "time": TIME, "died": EVENT.astype(int)}


def from_csv(tmp_path):
    pd.DataFrame(FRAME).to_csv(tmp_path / "study.csv", index=False)
    return read_table(tmp_path / "study.csv")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, None])
def test_columns_of_a_frame(make, tmp_path):
    frame = from_csv(tmp_path) if make is None else make(FRAME)
    data = prepare(*select_columns(frame, "x", ("time", "died"), None))
    np.testing.assert_allclose(data.y.values[:, 0], TIME)
    np.testing.assert_array_equal(data.y.event, EVENT)
    assert data.y.names == ("time",)
    np.testing.assert_array_equal(data.subset(EVENT).y.event, np.ones(EVENT.sum(), dtype=bool))


@pytest.mark.parametrize(
    "y",
    [
        (TIME, EVENT),
        (TIME.tolist(), EVENT.astype(int).tolist()),
        (pd.Series(TIME), pd.Series(EVENT)),
        np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("status", bool), ("days", float)]),
    ],
    ids=["arrays", "lists", "series", "structured"],
)
def test_arrays(y):
    data = prepare(X, y)
    np.testing.assert_array_equal(data.y.values[:, 0], TIME)
    np.testing.assert_array_equal(data.y.event, EVENT)


def test_a_list_of_two_columns_stays_two_columns():
    data = prepare(*select_columns(pd.DataFrame(FRAME), "x", ["time", "died"], None))
    assert data.y.n_columns == 2
    assert data.y.event is None


def test_rows_with_missing_values_are_dropped_together():
    time, event = TIME.copy(), EVENT.astype(float)
    time[3], event[5] = np.nan, np.nan
    data = prepare(X, (time, event), missing="drop")
    assert data.n == 38
    np.testing.assert_array_equal(data.y.event, np.delete(EVENT, [3, 5]))


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        ((TIME, 2 * EVENT), CensoredTimesError, "0 .censored. and 1 .event.*has 2 in row"),
        ((TIME, np.where(EVENT, "dead", "alive")), CensoredTimesError, "categories 'alive', 'dead'"),
        ((-TIME, EVENT), CensoredTimesError, "times must be positive"),
        (
            (np.where(np.arange(40) == 7, 0.0, TIME), EVENT),
            CensoredTimesError,
            "has 1 that are not.*0, in row 7",
        ),
        ((TIME, 0 * EVENT), CensoredTimesError, "no event among 40 rows: all times are censored"),
        ((TIME, EVENT[:-1]), LengthMismatchError, "event has 39 rows"),
        ((np.column_stack([TIME, X]), EVENT), CensoredTimesError, "one column of numbers, got 2 columns"),
    ],
    ids=["two", "text", "negative", "zero", "all censored", "lengths", "two times"],
)
def test_bad_arguments(y, error, words):
    with pytest.raises(error, match=words):
        ci_test(X, y)


def test_the_event_cannot_be_x():
    with pytest.raises(OverlappingColumnsError, match="event"):
        ci_test(EVENT.astype(float), (TIME, EVENT))


def test_an_unknown_event_column():
    with pytest.raises(UnknownColumnError, match="'dead'"):
        ci_test("x", ("time", "dead"), data=pd.DataFrame(FRAME))


def gap_in(column):
    frame = pd.DataFrame(FRAME).astype(float)
    frame.loc[3, column] = np.nan
    return frame


@pytest.mark.parametrize("column", ["x", "time", "died"])
def test_an_error_about_a_gap_names_what_works(column):
    with pytest.raises(MissingValuesError, match=f"'{column}' of .* pass missing='drop'") as told:
        ci_test("x", ("time", "died"), data=gap_in(column))
    assert "missing='impute'" not in str(told.value)
    assert "nothing can be imputed" in str(told.value)
    assert ci_test("x", ("time", "died"), data=gap_in(column), missing="drop", random_state=0).n == 39
    with pytest.raises(MissingValuesError, match="missing='impute'"):
        ci_test("x", "time", "died", data=gap_in(column))


def test_a_note_about_gaps_advises_no_imputation():
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 400))
    time = rng.exponential(size=400)
    z[(x > 0) & (time > 0.7)] = np.nan
    asked = {"x": x, "z": z, "missing": "drop", "random_state": 0, "method": "gcm"}
    assert any("use missing='impute'" in note for note in ci_test(y=time, **asked).warnings)
    notes = ci_test(y=(time, np.arange(400) % 3 > 0), **asked).warnings
    assert any("depends on x and y" in note and "nothing can be imputed" in note for note in notes)
    assert not any("missing='impute'" in note for note in notes)


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (-2.0, CensoredTimesError, "times must be positive, but column 'time' of y has 1.*-2, in row 5"),
        (np.inf, InfiniteValuesError, "column 'time' of y"),
        (np.nan, MissingValuesError, "column 'time' of y: 1, first in row 5"),
    ],
)
@pytest.mark.parametrize("ask", [ci_test, screen], ids=lambda ask: ask.__name__)
def test_times_that_are_none_are_one_error(ask, value, error, words):
    frame = pd.DataFrame(FRAME)
    frame.loc[5, "time"] = value
    with pytest.raises(error, match=words):
        ask(data=frame, x="x", y=("time", "died"))


def test_suggestions_name_what_works_with_gaps_too():
    frame = gap_in("died")
    with pytest.raises(MissingValuesError, match="nothing can be imputed"):
        suggest_tests(frame["x"], (frame["time"], frame["died"]))
