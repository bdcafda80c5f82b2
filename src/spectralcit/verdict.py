"""The answer of a test in words: one verdict for results, terminal and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = [
    "INDEPENDENT_ROWS",
    "LEVEL",
    "Verdict",
    "direction",
    "enumerated",
    "kind_in_words",
    "most_visible_kind",
    "pvalue_text",
    "verdict",
]

LEVEL = 0.05  # the level when nobody gives one, as in most of the literature
_LEAST_SHOWN = 1e-10  # by hand: no model of rows is so exact that smaller p-values differ in meaning
# What every test takes for granted unless it is told otherwise.
INDEPENDENT_ROWS = "The rows are independent of each other: none repeats or follows from another."
_NAMED = 4  # by hand: columns of one role that a sentence names before it counts the others

# By hand: another part has to be so many times as surprising to be named in place of a straight line that was
# seen, for a straight line shows in most parts.
_STRAIGHT_FIRST = 20.0

# What each part of the default test looks for.
_KINDS = {
    "linear × linear": "linear",
    "linear × nonlinear": "the spread or a curve of {y} goes with {x}",
    "nonlinear × linear": "{y} follows a curve of {x}",
    "nonlinear × nonlinear": "curved on both sides",
    "largest linear × fine": "fine waves of {y} go with {x}",
    "largest fine × linear": "{y} follows fine waves of {x}",
    "direct × all": "{y} follows the value of {x}, not what Z leaves of it",
    "all × direct": "{x} goes with the value of {y}, not what Z leaves of it",
    "linear × linear × Z": "the slope changes with Z",
    "all × all × Z": "the dependence changes with Z",
    "largest linear × linear × column of Z": "the slope changes with one column of Z",
    "largest linear × linear × function of Z": "the slope changes with a curve of Z",
    "learned": "along learned directions",
    "learned linear × linear": "directions of {x} and of {y} go together",
    "learned linear × square": "the square of a direction of {y} goes with one of {x}",
    "learned square × linear": "{y} follows the square of a direction of {x}",
    "learned square × square": "squares of directions of {x} and of {y} go together",
    "largest linear pair": "linear, one pair of columns",
    "largest curved pair": "curved, one pair of columns",
}
# What holds of the rows instead, where it was said how they belong together.
_TIED_ROWS = {
    "groups": "Rows of different groups are independent of each other; those of one group need not be.",
    "time": "Rows far apart in time are independent of each other; near ones need not be.",
}


@dataclass(frozen=True)
class Verdict:
    """An answer, what follows from it, clauses ("that ...") of what does not, and what it rests on."""

    dependent: bool
    answer: str
    means: tuple[str, ...]
    does_not_mean: tuple[str, ...]
    assumes: tuple[str, ...] = (INDEPENDENT_ROWS,)


def verdict(
    pvalue: float,
    alpha: float = LEVEL,
    x: Sequence[str] = ("X",),
    y: Sequence[str] = ("Y",),
    z: Sequence[str] = ("Z",),
    rows: Sequence[str] = (),
) -> Verdict:
    """Put a p-value into words about the columns called `x` and `y` given those called `z`, if any.

    `rows` says which of ``"groups"``, ``"time"`` and ``"weights"`` were given.
    """
    here, there, known = enumerated(x), enumerated(y), enumerated(z) if z else ""
    given = f" given {known}" if known else ""
    tie = f"that {here} and {there} depend on each other{given}."
    p = pvalue_text(pvalue).replace("< ", "below ")
    assumes = tuple(_TIED_ROWS[name] for name in rows if name in _TIED_ROWS) or (INDEPENDENT_ROWS,)
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
            assumes,
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
        assumes,
    )


def direction(correlation: float, seen: bool, x: str, y: str, x_level: str = "", y_level: str = "") -> str:
    """Say which way two single columns go together, if that was seen.

    A level names the one that a category is compared by.

    Examples
    --------
    >>> direction(0.31, True, "gene", "relapse", y_level="yes")
    'relapse is more often yes where gene is higher (partial correlation +0.31).'
    >>> direction(0.02, False, "gene", "outcome")
    'outcome goes neither up nor down with gene on average (partial correlation +0.02).'
    """
    number = f"(partial correlation {correlation:+.2f})."
    if not seen:
        return f"{y} goes neither up nor down with {x} on average {number}"
    up = correlation > 0
    said = (
        f"is {'more' if up else 'less'} often {y_level}" if y_level else f"is {'higher' if up else 'lower'}"
    )
    return f"{y} {said} where {x} is {x_level or 'higher'} {number}"


def kind_in_words(name: str, x: str = "x", y: str = "y") -> str | None:
    """Say what a part of the default test looks for; ``None`` for a name that is not one of them.

    Examples
    --------
    >>> kind_in_words("nonlinear × linear", "gene", "outcome")
    'outcome follows a curve of gene'
    """
    return _KINDS[name].replace("{x}", x).replace("{y}", y) if name in _KINDS else None


def most_visible_kind(block_pvalues: Mapping[str, float], x: str = "x", y: str = "y") -> str | None:
    """Name the kind of dependence that the most surprising part of the default test looks for.

    A straight line that was seen is named unless another kind is clearly more surprising.

    Examples
    --------
    >>> most_visible_kind({"linear × linear": 0.4, "nonlinear × linear": 1e-5})
    'y follows a curve of x'
    """
    known = {name: p for name, p in block_pvalues.items() if name in _KINDS}
    if known.get("linear × linear", 1.0) <= LEVEL:
        known["linear × linear"] /= _STRAIGHT_FIRST
    return kind_in_words(min(known, key=lambda name: known[name]), x, y) if known else None


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
