"""A tuple of two names is a censored outcome in a screen, as it is in `ci_test`."""

import numpy as np
import pandas as pd
import pytest

from spectralcit import ci_test, screen
from spectralcit.errors import (
    CensoredTimesError,
    MissingValuesError,
    OverlappingColumnsError,
    ParameterError,
    UnknownColumnError,
)
from spectralcit.screening.files import write_table
from spectralcit.screening.page import screen_page

N = 120
GENES = [f"g{k}" for k in range(9)]  # as many as a quick look would be worth


@pytest.fixture(scope="module")
def trial():
    """The first gene hastens the event; the others do not, but who has much of the second leaves early."""
    rng = np.random.default_rng(300_220)
    age = rng.normal(size=N)
    genes = rng.normal(size=(9, N)) + 0.5 * age
    time = rng.exponential(size=N) * np.exp(-age - 1.5 * genes[0])
    limit = 2.0 * rng.exponential(size=N) * np.exp(-genes[1])
    frame = pd.DataFrame({**dict(zip(GENES, genes, strict=True)), "age": age})
    frame["holes"] = np.where(np.arange(N) % 20 == 3, np.nan, rng.normal(size=N))
    frame["days"], frame["died"] = np.minimum(time, limit), (time <= limit).astype(int)
    frame["patient"] = 1 + np.arange(N) // 3
    return frame


def by_name(found):
    return {row.x: row for row in found.rows}


@pytest.mark.parametrize("test", ["spectral", "gcm", "wgcm"])
def test_every_row_is_that_of_ci_test(trial, test):
    names = ["g0", "g1", "holes"]
    settings = {"test": test, "missing": "drop", "random_state": 4}
    found = by_name(screen(trial, names, ("days", "died"), "age", **settings))
    for name in names:
        direct = ci_test(name, ("days", "died"), "age", data=trial, **settings)
        row = found[name]
        assert (row.y, row.pvalue, row.effect, row.n, row.warnings) == (
            "days",
            direct.pvalue,
            direct.effect_size,
            direct.n,
            direct.warnings,
        ), name
    alone = ci_test("g1", "days", "age", data=trial, **settings)
    assert alone.pvalue != found["g1"].pvalue


def test_groups_go_with_censored_times(trial):
    found = screen(trial, ["g0"], ("days", "died"), "age", groups="patient", random_state=4)
    direct = ci_test("g0", ("days", "died"), "age", data=trial, groups="patient", random_state=4)
    assert found.rows[0].pvalue == direct.pvalue


def test_every_other_column_gets_the_whole_test_and_the_event_none(trial):
    found = screen(trial.drop(columns=["holes", "patient"]), y=("days", "died"), z="age", test="gcm")
    assert sorted(by_name(found)) == GENES
    assert {row.stage for row in found.rows} == {"full"}


def test_the_default_takes_no_quick_look(trial):
    rows = screen(trial, GENES, ("days", "died"), "age").rows
    assert {row.stage for row in rows} == {"full"}
    assert "quick" in {row.stage for row in screen(trial, GENES, "days", "age").rows}


def test_a_list_stays_two_outcomes(trial):
    found = screen(trial, ["g0"], ["days", "died"], "age", test="fisher-z")
    assert {row.y for row in found.rows} == {"days", "died"}
    assert not found.events


def test_where_no_time_is_censored_the_event_changes_nothing(trial):
    names = ["g0", "g1"]
    found = screen(trial.assign(died=1), names, ("days", "died"), "age")
    assert [row.pvalue for row in found.rows] == [
        row.pvalue for row in screen(trial, names, "days", "age").rows
    ]


def test_the_event_as_a_column_to_test_has_a_row_that_says_why(trial):
    found = by_name(screen(trial.assign(copy=trial["died"]), ["g0", "copy"], ("days", "died"), "age"))
    assert "event" in found["copy"].reason
    assert found["g0"].pvalue is not None


def test_what_is_stored_of_another_event_or_role_is_not_used(trial, tmp_path):
    def run(y, z):
        return screen(trial, ["g0"], y, z, test="gcm", store=tmp_path / "s.sqlite").n_computed

    trial = trial.assign(left=1 - trial["died"])
    assert run(("days", "died"), ["age"]) == 1
    assert run(("days", "died"), ["age"]) == 0
    assert run(("days", "left"), ["age"]) == 1
    assert run("days", ["died", "age"]) == 1


def test_files_and_pages_name_the_event(trial, tmp_path):
    found = screen(trial, ["g0", "g1"], ("days", "died"), "age")
    page = screen_page(found, source="trial.csv", level=0.1)
    assert "y=(&#x27;days&#x27;, &#x27;died&#x27;)" in page
    assert "days censored unless died" in page
    write_table(found, tmp_path / "hits.json")
    assert '"died"' in (tmp_path / "hits.json").read_text()


def changed(column, value):
    return lambda trial: trial.assign(**{column: value(trial)})


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (changed("died", lambda t: 0 * t["died"]), CensoredTimesError, "no event among 120 rows"),
        (
            changed("died", lambda t: 2 * t["died"]),
            CensoredTimesError,
            "must hold 0 .censored. and 1 .event.",
        ),
        (changed("days", lambda t: -t["days"]), CensoredTimesError, "times must be positive"),
        (changed("days", lambda t: t["days"].where(t["age"] < 1)), MissingValuesError, "'days' of y"),
        (changed("died", lambda t: t["died"].where(t["age"] < 1)), MissingValuesError, "'died' of event"),
    ],
    ids=["all censored", "not 0 or 1", "negative", "time missing", "event missing"],
)
def test_what_is_wrong_with_the_outcome_is_one_error_as_in_ci_test(trial, change, error, words):
    wrong = change(trial)
    with pytest.raises(error, match=words) as in_screen:
        screen(wrong, GENES, ("days", "died"), "age")
    with pytest.raises(error, match=words) as alone:
        ci_test("g0", ("days", "died"), "age", data=wrong)
    assert str(in_screen.value) == str(alone.value)


@pytest.mark.parametrize(
    ("y", "settings", "error", "words"),
    [
        (("days", "died"), {"test": "fisher-z"}, CensoredTimesError, "tests that can: gcm, spectral, wgcm"),
        (("days", "died"), {"statistic": "witness"}, CensoredTimesError, "statistic='blocks'"),
        (("days", "died"), {"weights": "patient"}, CensoredTimesError, "combined with weights="),
        (("days", "died"), {"missing": "impute"}, ParameterError, "use missing='drop'"),
        (("days", "dead"), {}, UnknownColumnError, "no column 'dead'"),
        (("days", "days"), {}, OverlappingColumnsError, "both time and event"),
        (("days", "g*"), {}, CensoredTimesError, "event of a censored y must be one column, got g0, g1"),
    ],
    ids=["test", "setting", "weights", "impute", "unknown", "twice", "several"],
)
def test_what_cannot_be_is_one_error(trial, y, settings, error, words):
    with pytest.raises(error, match=words):
        screen(trial, ["g0", "g1"], y, "age", **settings)
