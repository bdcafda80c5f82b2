from __future__ import annotations

import pytest

from spectralcit.report import Question


@pytest.mark.parametrize(
    ("x", "y", "z", "expected"),
    [
        ("a", "b", "", "Is a independent of b?"),
        ("a", "b", "c", "Is a independent of b once c is known?"),
        ("ab", "c", "de", "Are a and b independent of c once d and e are known?"),
        (
            "a",
            "bcde",
            "fghij",
            "Is a independent of b, c, d and e once f, g, h and 2 other columns are known?",
        ),
    ],
)
def test_in_words(x, y, z, expected):
    assert Question(tuple(x), tuple(y), tuple(z)).in_words() == expected
