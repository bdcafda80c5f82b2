"""One self-contained file about one test: HTML without script or network, every text escaped, or its PDF."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingExtraError, UnknownTestError
from ..inputs import CIData
from ..question import Question
from ..result import CITestResult
from ..verdict import LEVEL, enumerated, pvalue_text
from . import facts
from .output import check_target, write_page
from .pictures import draw_pictures
from .provenance import file_facts, moment

if TYPE_CHECKING:
    from ..views import LeadingPair

__all__ = ["write_report"]

MAX_PAIR_ROWS = 5000  # twice what a picture shows; a test of a million rows should not run again for one
_MAX_COLUMNS = 60  # by hand: rows of the table of columns, about two screens
_TEMPLATE = Path(__file__).with_name("report.html.j2")  # beside this file, and in the wheel


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
        The file: HTML, or PDF if its name ends in ``.pdf`` (``pip install 'spectralcit[pdf]'``). Its folder
        must be there.
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
    target = check_target(path)
    text = render(
        result, data, question, alpha, dict(params or {}), dict(reading or {}), pair, written=moment()
    )
    return write_page(target, text)


def render(
    result: CITestResult,
    data: CIData,
    question: Question,
    alpha: float,
    params: dict[str, Any],
    reading: dict[str, Any],
    pair: LeadingPair | None = None,
    *,
    written: str = "",
) -> str:
    """The report as text; the same result, written at the same moment, gives the same text."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtraError("reports need jinja2: pip install 'spectralcit[report]'") from error
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    described = facts.columns(data, question)
    pair = pair or _pair(result, data, params)
    # An estimator, say, cannot be typed on a command line.
    typed = all(value is None or isinstance(value, (str, int, float)) for value in params.values())
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        question=question,
        answer=question.answered(result.pvalue, alpha),
        result=result,
        alpha=alpha,
        pvalue=pvalue_text(result.pvalue, result.pvalue_error),
        pvalue_text=pvalue_text,
        enumerated=enumerated,
        interval=result.diagnostics.get("effect_interval"),
        direction=question.direction(result, data, alpha),
        pictures=draw_pictures(result, data, pair),
        by_column={} if pair is None else pair.columns,
        joint=_joint(pair),
        sides=_sides(result),
        directions=_directions(result),
        learned=_learned(result),
        columns=described[:_MAX_COLUMNS],
        n_more_columns=max(0, len(described) - _MAX_COLUMNS),
        data=data,
        settings=facts.settings(result, data, alpha, params),
        versions=facts.versions(),
        written=written,
        file=file_facts(question.source),
        command=facts.command(result, data, question, alpha, params, reading) if typed else None,
        code=facts.python_code(result, data, question, params, reading),
        json=json.dumps(result.to_dict(), indent=1, ensure_ascii=False),
    )


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


def _joint(pair: LeadingPair | None) -> str:
    """Which column of a joint question depends most."""
    if pair is None or not pair.columns:
        return ""
    most = "; ".join(
        f"of the columns of {role.upper()}, {views[0].name} depends most"
        for role, views in pair.columns.items()
    )
    return f"One joint question about several columns. One by one, {most}."


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
        (
            f"function of {role.upper()}",
            ", ".join(
                f"{facts.feature_in_words(name)} ({share:.0%})" for name, share in found[role][0].items()
            ),
        )
        for role in ("x", "y")
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
