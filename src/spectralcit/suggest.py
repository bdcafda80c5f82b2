"""Which tests suit a table: rules about its size and the kinds of its columns, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .registry import TestInfo, TestTags, list_tests

if TYPE_CHECKING:
    from .inputs import Block, CIData

__all__ = ["Profile", "Suggestion", "profile_of", "rank_tests", "suggest_tests"]

Verdict = Literal["good", "care", "no"]

# A test that nobody placed higher is never called good.
_UNPLACED = TestTags().standing
_LOWER = 5.0  # for each reason to be careful: as far as neighbours in the order are apart
_FULL_CELLS = 60  # above every other test: with enough rows in each cell nothing is assumed or missed

# Limits by hand, from what the tests' pages say of them.
_FEW_ROWS = 300
_LOCAL_COLUMNS = 5
_CUBIC_SLOW, _CUBIC_END = 3_000, 10_000
_SQUARE_END = 30_000  # rows: a square table of them takes 7 GB
_ROWS_PER_CELL = 10  # twice what a chi-squared approximation is commonly held to need


@dataclass(frozen=True)
class Profile:
    """What the rules look at.

    Parameters
    ----------
    n
        Rows.
    x, y, z
        Numbers of encoded columns; ``z`` is 0 for an unconditional question.
    categories
        Whether any column is a category or a yes/no column.
    discrete
        Whether every column takes few values.
    cells
        Combinations of values of z times those of x and y, when all are discrete; else 0.
    censored
        Whether y is a time of which some are censored.

    Examples
    --------
    >>> [one.name for one in rank_tests(Profile(n=500, x=1, y=1, z=3))][0]
    'spectral'
    """

    n: int
    x: int = 1
    y: int = 1
    z: int = 0
    categories: bool = False
    discrete: bool = False
    cells: int = 0
    censored: bool = False


@dataclass(frozen=True)
class Suggestion:
    """A test, whether it suits the table, and why.

    Parameters
    ----------
    name
        Registered name.
    verdict
        ``"good"``, ``"care"`` (it runs; read the reasons) or ``"no"`` (it cannot answer this question).
    reasons
        Sentences, the weightiest first.
    score
        Order among tests of one verdict; larger is better.
    """

    name: str
    verdict: Verdict
    reasons: tuple[str, ...]
    score: float


_Finding = tuple[Verdict, str]


def suggest_tests(x: Any, y: Any, z: Any = None, *, missing: str = "raise") -> list[Suggestion]:
    """Rank all tests by how well they suit these data.

    Parameters
    ----------
    x, y, z, missing
        As in `ci_test`, without ``data=``.

    Returns
    -------
    list of Suggestion
        Best first; the last ones cannot be used at all, and say why.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y, z = rng.normal(size=(3, 500))
    >>> suggest_tests(x, y, z)[0].name
    'spectral'
    """
    from .inputs import prepare

    return rank_tests(profile_of(prepare(x, y, z, missing=missing, min_rows=1)))


def profile_of(data: CIData) -> Profile:
    """Return the profile of prepared inputs.

    Parameters
    ----------
    data
        What `prepare` returned.

    Returns
    -------
    Profile
        What the rules look at.
    """
    blocks = [block for block in (data.x, data.y, data.z) if block is not None]
    kinds = {kind for block in blocks for kind in block.kinds}
    discrete = "continuous" not in kinds
    cells = int(np.prod([float(_combinations(block)) for block in blocks])) if discrete else 0
    return Profile(
        n=data.n,
        x=data.x.n_columns,
        y=data.y.n_columns,
        z=0 if data.z is None else data.z.n_columns,
        categories="indicator" in kinds,
        discrete=discrete,
        cells=cells,
        censored=data.y.event is not None,
    )


def rank_tests(profile: Profile, infos: Sequence[TestInfo] | None = None) -> list[Suggestion]:
    """Apply the rules to every test.

    Parameters
    ----------
    profile
        What is known about the data.
    infos
        The tests; all registered ones when not given.

    Returns
    -------
    list of Suggestion
        As from `suggest_tests`.
    """
    judged = [_judge(info, profile) for info in (list_tests() if infos is None else infos)]
    order = {"good": 0, "care": 1, "no": 2}
    return sorted(judged, key=lambda one: (order[one.verdict], -one.score, one.name))


def _judge(info: TestInfo, profile: Profile) -> Suggestion:
    findings = [finding for rule in _RULES if (finding := rule(info, profile)) is not None]
    findings = findings or [_nothing_special(info)]
    worst: Verdict = "good"
    for verdict in ("care", "no"):
        if any(found == verdict for found, _ in findings):
            worst = verdict  # type: ignore[assignment]
    weighty = [reason for found, reason in findings if found == worst]
    rest = [reason for found, reason in findings if found != worst and worst != "no"]
    score = info.tags.standing - _LOWER * sum(found == "care" for found, _ in findings)
    if info.tags.discrete and worst == "good":
        score += _FULL_CELLS
    return Suggestion(info.name, worst, tuple(weighty + rest), score)


def _conditions(info: TestInfo, profile: Profile) -> _Finding | None:
    if profile.z and not info.tags.conditional:
        return "no", "it cannot take anything as given"
    return None


def _censoring(info: TestInfo, profile: Profile) -> _Finding | None:
    if profile.censored and not info.tags.censored:
        return "no", "it would take censored times for times of events"
    return None


def _widths(info: TestInfo, profile: Profile) -> _Finding | None:
    if max(profile.x, profile.y) > 1 and not info.tags.multivariate:
        return "no", "X or Y has several columns (a category counts one per level), and it takes one each"
    return None


def _kinds(info: TestInfo, profile: Profile) -> _Finding | None:
    if info.tags.discrete:
        if not profile.discrete:
            return "no", "it counts combinations of values, and some column is continuous"
        if profile.cells * _ROWS_PER_CELL > profile.n:
            return "care", f"{profile.cells} combinations of values leave fewer than ten rows each on average"
        return (
            "good",
            f"all columns are discrete and {profile.n} rows fill their {profile.cells} combinations",
        )
    if profile.categories and not info.tags.mixed:
        return "care", "it treats the 0/1 columns of categories as numbers"
    return None


def _linearity(info: TestInfo, profile: Profile) -> _Finding | None:
    if info.tags.linear:
        return "care", f"{info.tags.linear}, and it sees such dependence only; useful as a quick first look"
    return None


def _time(info: TestInfo, profile: Profile) -> _Finding | None:
    n = profile.n
    if "n^3" in info.tags.cost and n > _CUBIC_SLOW:
        verdict: Verdict = "no" if n > _CUBIC_END else "care"
        return verdict, f"its time grows with the cube of the rows, and there are {n}"
    if "n^2" in info.tags.cost and n > _SQUARE_END:
        return "no", f"it needs a square table of {n} rows in memory"
    return None


def _few_rows(info: TestInfo, profile: Profile) -> _Finding | None:
    if info.tags.splits and profile.n < _FEW_ROWS:
        return "care", f"it learns on one part of the rows and tests on another; {profile.n} are few for that"
    return None


def _many_columns(info: TestInfo, profile: Profile) -> _Finding | None:
    if info.tags.local and profile.z > _LOCAL_COLUMNS:
        return "care", f"it compares rows by their distance in Z, which says little in {profile.z} columns"
    if info.tags.fourier and profile.z > _LOCAL_COLUMNS:
        return "care", f"a hundred random cosines cannot follow {profile.z} columns of Z if they act strongly"
    return None


def _rows_per_column(info: TestInfo, profile: Profile) -> _Finding | None:
    if profile.z >= profile.n / 3:
        return (
            "care",
            f"{profile.z} columns of Z are many for {profile.n} rows: what Z explains is hard to learn",
        )
    return None


def _recommended(info: TestInfo, profile: Profile) -> _Finding | None:
    return ("good", info.tags.recommended) if info.tags.recommended else None


def _unconditional(info: TestInfo, profile: Profile) -> _Finding | None:
    if not profile.z and not info.tags.conditional:
        return "good", "made for questions without Z"
    return None


def _nothing_special(info: TestInfo) -> _Finding:
    limits = f"; it fails {info.tags.fails}" if info.tags.fails else ""
    return "good" if info.tags.standing > _UNPLACED else "care", f"{info.tags.summary}{limits}"


# In the order in which their reasons are read.
_RULES: tuple[Callable[[TestInfo, Profile], _Finding | None], ...] = (
    _conditions,
    _censoring,
    _widths,
    _kinds,
    _linearity,
    _time,
    _few_rows,
    _many_columns,
    _rows_per_column,
    _recommended,
    _unconditional,
)


def _combinations(block: Block) -> int:
    return len(np.unique(block.values, axis=0))
