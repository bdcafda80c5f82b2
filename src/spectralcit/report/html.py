"""One self-contained HTML file about one test: no script, no network, every text escaped."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingExtraError, ParameterError, UnknownTestError
from ..files import write_atomically
from ..inputs import CIData
from ..question import Question
from ..result import CITestResult
from ..verdict import LEVEL, pvalue_text
from . import facts, plots
from .figures import svg

if TYPE_CHECKING:
    from ..views import LeadingPair

__all__ = ["write_report"]

MAX_PAIR_ROWS = 5000  # twice what a picture shows; a test of a million rows should not run again for one
_MAX_COLUMNS = 60  # by hand: rows of the table of columns, about two screens
_TEMPLATE = Path(__file__).with_name("report.html.j2")  # beside this file, and in the wheel

# Below each picture: how to read it, for people who never saw one of its kind.
_CAPTIONS = {
    "null": "The statistic (red) on what it would be if there were no tie (blue). The shaded part is at "
    "least as extreme.",
    "blocks": "Which kinds of dependence were seen. The numbers are each kind's own p-values; the answer "
    "allows for having looked at all of them.",
    "pair": "The function of X and the function of Y that go together most closely when Z is removed. They "
    "were picked because they do: some tilt is there under independence too.",
    "partial": "What is left of X and of Y without Z. A level red line: no tie in the mean.",
    "values": "Partial correlation of the leading pairs of features, on the data they were picked from.",
    "nuisance": "How much of X and of Y can be predicted from Z for rows that the prediction has not seen, "
    "and how much of the data that took.",
    "residuals": "A red line that leaves zero shows something of Z that was not removed, and that could be "
    "mistaken for a tie.",
}


@dataclass(frozen=True)
class _Picture:
    svg: str
    caption: str


def write_report(
    result: CITestResult,
    path: str | Path,
    *,
    data: CIData,
    question: Question,
    alpha: float = LEVEL,
    params: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
    pair: LeadingPair | None = None,
) -> Path:
    """Write the report of a result; the file appears whole or not at all.

    Parameters
    ----------
    result
        What the test said. Parts that a test does not have are left out; the default test has all.
    path
        The HTML file.
    data
        The prepared inputs that were tested.
    question
        The columns in the user's words.
    alpha
        The level of the verdict.
    params
        Parameters of the test that differ from its defaults.
    reading
        Options of `spectralcit.tables.read_table` with which the file was read, unless they were its
        defaults.
    pair
        What `BaseCITest.examine` handed back beside the result. When it is not given and the test has one,
        it is computed again, from 5,000 of the rows if there are more.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from spectralcit import ci_test, prepare
    >>> x, y, z = np.random.default_rng(0).normal(size=(3, 200))
    >>> result = ci_test(x, y, z, method="gcm", random_state=0)
    >>> question = Question(("gene",), ("outcome",), ("age",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_report(result, f"{folder}/report.html", data=prepare(x, y, z), question=question)
    ...     "Is gene independent of outcome once age is known?" in file.read_text(encoding="utf-8")
    True
    """
    text = render(result, data, question, alpha, dict(params or {}), dict(reading or {}), pair)
    return write_atomically(Path(path), text)


def render(
    result: CITestResult,
    data: CIData,
    question: Question,
    alpha: float,
    params: dict[str, Any],
    reading: dict[str, Any],
    pair: LeadingPair | None = None,
) -> str:
    """The report as text; the same result gives the same text."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtraError("reports need jinja2: pip install 'spectralcit[report]'") from error
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    described = facts.columns(data, question)
    # An estimator, say, cannot be typed on a command line.
    typed = all(value is None or isinstance(value, (str, int, float)) for value in params.values())
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        question=question,
        answer=question.answered(result.pvalue, alpha),
        result=result,
        alpha=alpha,
        pvalue=pvalue_text(result.pvalue),
        interval=result.diagnostics.get("effect_interval"),
        pictures=_pictures(result, data, pair or _pair(result, data, params)),
        sides=_sides(result),
        directions=_directions(result),
        learned=_learned(result),
        columns=described[:_MAX_COLUMNS],
        n_more_columns=max(0, len(described) - _MAX_COLUMNS),
        data=data,
        settings=facts.settings(result, data, alpha, params),
        versions=facts.versions(),
        command=facts.command(result, data, question, alpha, params, reading) if typed else None,
        code=facts.python_code(result, data, question, params, reading),
        json=json.dumps(result.to_dict(), indent=1, ensure_ascii=False),
    )


def _pictures(result: CITestResult, data: CIData, pair: LeadingPair | None) -> list[_Picture]:
    """Draw everything that this result has."""
    wanted: list[tuple[str, Callable[..., Any], Any]] = [
        ("null", plots.plot_null, result),
        ("blocks", plots.plot_blocks, result),
    ]
    if pair is not None:
        wanted += [("pair", plots.plot_leading_pair, pair), ("partial", plots.plot_partial, pair)]
    wanted.append(("values", plots.plot_singular_values, result))
    if data.z is not None:
        wanted.append(("nuisance", plots.plot_nuisance, result))
        if pair is not None:
            wanted += [
                ("residuals-x", plots.plot_residuals, pair.x),
                ("residuals-y", plots.plot_residuals, pair.y),
            ]
    note = "" if pair is None else _rows_note(pair)
    pictures = []
    for name, draw, what in wanted:
        try:
            picture = svg(partial(draw, what), name)
        except ParameterError:
            continue  # this result has no such part
        rows = note if what is not result else ""
        pictures.append(_Picture(picture, f"{_CAPTIONS[name.partition('-')[0]]} {rows}".strip()))
    return pictures


def _pair(result: CITestResult, data: CIData, params: dict[str, Any]) -> LeadingPair | None:
    """Compute the leading pair again, if it is sure to be the one of this result."""
    values = result.diagnostics.get("singular_values")
    if not values or result.seed is None or data.incomplete is not None:
        return None
    from ..base import make_test  # with scikit-learn; most reports do without

    try:
        test = make_test(result.method, **params)
    except UnknownTestError:  # a result can be read where its test is not known
        return None
    if data.n > MAX_PAIR_ROWS:
        rows = np.sort(np.random.default_rng(result.seed).choice(data.n, MAX_PAIR_ROWS, replace=False))
        pair = test.leading_pair(data.subset(rows), result.seed)
        return None if pair is None else replace(pair, n_total=data.n)
    pair = test.leading_pair(data, result.seed)
    return None if pair is None or abs(pair.singular_value - values[0]) > 1e-6 else pair


def _rows_note(pair: LeadingPair) -> str:
    if len(pair.u) < pair.n_total:
        return (
            f"Computed from {len(pair.u):,} of {pair.n_total:,} rows, drawn at random, of which "
            f"{plots.MAX_POINTS:,} are shown."
        )
    if len(pair.u) > plots.MAX_POINTS:
        return f"{plots.MAX_POINTS:,} of {len(pair.u):,} rows are shown."
    return ""


def _sides(result: CITestResult) -> list[dict[str, Any]]:
    """How well Z was removed from either side, for results that say so."""
    return [
        {"role": role.upper(), **side}
        for role in ("x", "y")
        if isinstance(side := result.diagnostics.get(role), dict) and "r_squared" in side
    ]


def _directions(result: CITestResult) -> list[tuple[str, str]]:
    """What the leading pair is made of, largest share first."""
    found = result.diagnostics.get("directions")
    if not isinstance(found, dict):
        return []
    return [
        (name, ", ".join(f"{feature} ({share:.0%})" for feature, share in found[role][0].items()))
        for name, role in (("u₁", "x"), ("v₁", "y"))
        if found.get(role)
    ]


def _learned(result: CITestResult) -> list[tuple[str, str]]:
    """Which directions were learned, and through which shape they depend; for sides with several columns."""
    found = result.diagnostics.get("learned_pair")
    if not isinstance(found, dict):
        return []
    rows = [("p-value", f"{found['pvalue']:.2g}, the search included")]
    for role in ("x", "y"):
        side = found[role]
        columns = ", ".join(f"{name} ({share:.0%})" for name, share in side["columns"].items())
        shape = "the square of a direction" if side["shape"] == "square" else "a direction"
        rows.append((role.upper(), f"{shape} in {side['components']} components, most of it {columns}"))
    return rows
