"""What a test can do, assumes and costs: the words by which tests are listed, suggested and explained."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TestTags"]


@dataclass(frozen=True)
class TestTags:
    """What a test can do, in a form that people and programs can read.

    Parameters
    ----------
    conditional
        Accepts a conditioning set ``z``.
    multivariate
        Accepts more than one column in ``x`` and ``y``.
    mixed
        Handles continuous and categorical columns together.
    discrete
        Accepts categories and other columns with few values only.
    symmetric
        Exchanging ``x`` and ``y`` does not change what is being tested.
    cost
        How the time grows with the number of rows, for instance ``"O(n)"``.
    summary
        One line for a table of tests.
    assumes
        What must hold for its p-values, in one sentence.
    fails
        How it goes wrong when that does not hold, and what it cannot see.
    """

    __test__ = False  # the name starts with "Test", and pytest would try to collect it

    conditional: bool = True
    multivariate: bool = True
    mixed: bool = True
    discrete: bool = False
    symmetric: bool = True
    cost: str = "O(n)"
    summary: str = ""
    assumes: str = ""
    fails: str = ""
