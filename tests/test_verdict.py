from __future__ import annotations

import pytest

from spectralcit import CITestResult, NullDistribution
from spectralcit.report import Question
from spectralcit.verdict import INDEPENDENT_ROWS, direction, most_visible_kind, verdict


@pytest.mark.parametrize("pvalue", [0.001, 0.05, 0.4])
def test_result_and_question_use_the_same_words(pvalue):
    result = CITestResult(1.0, pvalue, "toy", 100, NullDistribution("normal"))
    said = verdict(pvalue)
    assert said.dependent == result.reject()
    assert said == Question(("X",), ("Y",), ("Z",)).answered(pvalue, 0.05)
    assert str(result).startswith(f"toy: {said.answer}\n")
    assert said.answer in result._repr_html_()


def test_the_level_and_what_is_known_are_in_the_words():
    strict = verdict(0.02, 0.01, ("a", "b"), ("c",), ())
    assert strict.answer == "No evidence that a and b and c depend on each other."
    assert "above the level 0.01" in strict.means[0]
    loose = verdict(0.02, 0.1, ("a",), ("b",), ("c", "d"))
    assert loose.answer == "Evidence that a and b depend on each other given c and d."
    assert loose.means[1] == "a and b are tied in a way that c and d do not explain."
    assert all(clause.startswith("that ") for one in (strict, loose) for clause in one.does_not_mean)


@pytest.mark.parametrize(
    ("correlation", "levels", "expected"),
    [
        (-0.4, {}, "y is lower where x is higher"),
        (0.4, {"x_level": "m"}, "y is higher where x is m"),
        (-0.4, {"y_level": "yes"}, "y is less often yes where x is higher"),
        (0.19, {}, "y goes neither up nor down with x on average"),
    ],
)
def test_the_direction_is_the_sign_where_one_was_seen(correlation, levels, expected):
    said = direction(correlation, correlation != 0.19, "x", "y", **levels)
    assert said == f"{expected} (partial correlation {correlation:+.2f})."


@pytest.mark.parametrize("pvalue", [0.001, 0.4])
def test_rows_are_taken_to_be_independent_unless_something_was_said_of_them(pvalue):
    assert verdict(pvalue).assumes == (INDEPENDENT_ROWS,)
    assert verdict(pvalue, rows=("weights",)).assumes == (INDEPENDENT_ROWS,)
    told = Question(("X",), ("Y",), ("Z",), rows=(("groups", "patient"),)).answered(pvalue, 0.05).assumes
    assert told == (
        "Rows of different groups are independent of each other; those of one group need not be.",
    )


def test_a_straight_line_is_named_unless_something_else_is_clearly_more_surprising():
    """A linear effect shows in the parts for curves too, sometimes a little more clearly."""
    assert most_visible_kind({"linear × linear": 2.5e-8, "all × direct": 4e-9}) == "linear"
    assert most_visible_kind({"linear × linear": 2.5e-8, "nonlinear × linear": 1e-12}).startswith("y follows")
    assert (
        most_visible_kind({"linear × linear": 0.2, "nonlinear × linear": 0.011}) == "y follows a curve of x"
    )
    assert most_visible_kind({"learned": 0.2}) == "along learned directions"
    assert most_visible_kind({}) is None
