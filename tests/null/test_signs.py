"""When signs are too few to decide, by what they said."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit.null.signs import are_too_few


@pytest.mark.parametrize(
    ("count", "pvalue", "expected"),
    [
        (1000, 0.05, True),
        (1000, 0.01, True),
        (1000, 0.2, False),
        (1000, 0.001, False),
        (200, 0.001, True),  # fitted tails of few draws
        (200, 0.2, False),
        (4000, 0.05, False),
    ],
)
def test_signs_are_too_few_near_a_level(count, pvalue, expected):
    assert are_too_few(np.ones((count, 1)), pvalue) is expected
