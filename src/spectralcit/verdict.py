"""The answer of a test in words: one verdict for results, terminal and reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["LEVEL", "Verdict", "enumerated", "pvalue_text", "verdict"]

LEVEL = 0.05  # the level when nobody gives one, as in most of the literature
_LEAST_SHOWN = 1e-10  # by hand: no model of rows is so exact that smaller p-values differ in meaning
_NAMED = 4  # by hand: columns of one role that a sentence names before it counts the others


@dataclass(frozen=True)
class Verdict:
    """An answer, what follows from it, and clauses ("that ...") of what does not follow."""

    dependent: bool
    answer: str
    means: tuple[str, ...]
    does_not_mean: tuple[str, ...]


def verdict(
    pvalue: float,
    alpha: float = LEVEL,
    x: Sequence[str] = ("X",),
    y: Sequence[str] = ("Y",),
    z: Sequence[str] = ("Z",),
) -> Verdict:
    """Put a p-value into words about the columns called `x` and `y` given those called `z`, if any."""
    here, there, known = enumerated(x), enumerated(y), enumerated(z) if z else ""
    given = f" given {known}" if known else ""
    tie = f"that {here} and {there} depend on each other{given}."
    p = pvalue_text(pvalue).replace("< ", "below ")
    if pvalue <= alpha:
        return Verdict(
            True,
            f"Evidence {tie}",
            (
                "If there were no such dependence, data that speak for it as strongly as these would turn up "
                f"with probability {p}. That is at most the level {alpha:g}, so independence is rejected.",
                f"{here} and {there} are tied in a way that {known or 'chance'} "
                f"{'do' if len(z) > 1 else 'does'} not explain.",
            ),
            (
                "that one causes the other: something else may drive both.",
                "that the tie is strong or useful: with many rows a tiny one is found too. "
                "See the effect size.",
                f"that it is certain: at this level a valid test errs in up to {alpha:.3g} of the data sets "
                "without a tie.",
            ),
        )
    return Verdict(
        False,
        f"No evidence {tie}",
        (
            f"If there were no such dependence, data like these would be nothing unusual: the p-value {p} is "
            f"above the level {alpha:g}.",
            f"What is seen of a tie between {here} and {there} "
            f"{f'is explained by {known} or ' if known else ''}is within chance.",
        ),
        (
            "that they are independent. The tie may be too weak for this many rows, or of a kind that this "
            "test does not see.",
            f"that the p-value is the probability of independence: {p} is computed as if independence held.",
        ),
    )


def enumerated(names: Sequence[str]) -> str:
    """Names, at least one, as a list in a sentence; the rest of a long one is counted.

    Examples
    --------
    >>> enumerated("abc"), enumerated("abcdefgh")
    ('a, b and c', 'a, b, c and 5 other columns')
    """
    shown = list(names)
    if len(shown) > _NAMED:
        shown = [*shown[: _NAMED - 1], f"{len(shown) - _NAMED + 1} other columns"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def pvalue_text(pvalue: float, error: float | None = None) -> str:
    """A p-value for reading, with its Monte-Carlo error if it has one.

    Examples
    --------
    >>> pvalue_text(0.0312), pvalue_text(3.2e-9), pvalue_text(2.3e-30), pvalue_text(0.0312, 0.0055)
    ('0.031', '3.2e-09', '< 1e-10', '0.031 ± 0.005')
    """
    if pvalue < _LEAST_SHOWN:
        return f"< {_LEAST_SHOWN:g}"
    return f"{pvalue:.2g}" + (f" ± {error:.1g}" if error else "")
