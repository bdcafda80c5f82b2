"""``spectralcit compare``: several tests on one question, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..abilities import able_tests
from ..base import make_test
from ..errors import SpectralCITError
from ..registry import get_test, registered_name
from ..result import CITestResult
from ..tables.reading import Reading
from ..verdict import LEVEL, pvalue_text
from .options import (
    Alpha,
    AsJson,
    Asked,
    Asking,
    Missing,
    Seed,
    asks,
    comma_separated,
    complete_method,
    reads_tables,
)
from .shell import busy, console, print_json
from .test import show_question, show_warnings

__all__ = ["compare"]

_BY_DEFAULT = 4  # by hand: tests to run when none is named; more would invite picking


@dataclass(frozen=True)
class _Row:
    """What one test said, or why it said nothing."""

    method: str
    result: CITestResult | None = None
    error: str = ""


@asks
@reads_tables
def compare(
    asking: Asking,
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            "--tests",
            help="Tests, separated by commas. Default: those that suit best, see spectralcit suggest.",
            autocompletion=complete_method,
        ),
    ] = "",
    alpha: Alpha = LEVEL,
    seed: Seed = 0,
    as_json: AsJson = False,
    missing: Missing = "raise",
    *,
    reading: Reading,
) -> None:
    """Ask several tests the same question."""
    from ..inputs import prepare
    from ..suggest import profile_of, rank_tests

    # A wrong name is a slip of the user, not a failure of a test.
    names = [registered_name(get_test(name)) for name in comma_separated(methods)]
    with busy(f"reading {asking.data}"):
        asked = asking.read(reading)
        # Bad data are an error of the whole command, before any test runs.
        prepared = prepare(asked.x, asked.outcome, asked.z, missing=missing, min_rows=1, **asked.rows)
    ranked = rank_tests(profile_of(prepared))
    if not names and prepared.design is not None:
        ranked = [one for one in ranked if one.name in able_tests(prepared.design.given)]
    names = names or [one.name for one in ranked if one.verdict == "good"][:_BY_DEFAULT]
    rows = _run(asked, names, seed, missing)
    if as_json:
        print_json({**asked.to_dict(), "alpha": alpha, "results": [_as_json(row, alpha) for row in rows]})
    else:
        _show(console(), asked, prepared.notes, rows, alpha)


def _run(asked: Asked, names: list[str], seed: int, missing: str) -> list[_Row]:
    rows: list[_Row] = []
    with busy("testing", total=len(names)) as go:
        for name in names:
            go(len(rows), f"testing ({name})")
            try:
                test = make_test(name, random_state=seed, missing=missing)
                result = test.run(test.prepare(asked.x, asked.outcome, asked.z, **asked.rows))
            except SpectralCITError as error:
                rows.append(_Row(name, error=str(error)))
            else:
                rows.append(_Row(name, result))
    return rows


def _as_json(row: _Row, alpha: float) -> dict[str, Any]:
    if row.result is None:
        return {"method": row.method, "error": row.error}
    return {"method": row.method, "reject": row.result.reject(alpha), "result": row.result.to_dict()}


def _show(screen: Console, asked: Asked, notes: tuple[str, ...], rows: list[_Row], alpha: float) -> None:
    show_question(screen, asked)
    table = Table()
    table.add_column("test", no_wrap=True)
    for heading in ("p-value", "statistic", "effect", "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column(f"at level {alpha:g}")
    remarks = [("warning", note) for note in notes]
    for row in rows:
        if row.result is None:
            table.add_row(row.method, "-", "-", "-", "-", Text(f"failed: {row.error}", style="red"))
            continue
        result, effect = row.result, row.result.effect_size
        verdict = Text("dependent") if result.reject(alpha) else Text("no evidence of dependence")
        own = [text for text in result.warnings if text not in notes]  # those about the data are said once
        if own:
            verdict.append(" (see below)")
        remarks += [(row.method, text) for text in own]
        table.add_row(
            row.method,
            pvalue_text(result.pvalue, result.pvalue_error),
            f"{result.statistic:.4g}",
            "-" if effect is None else f"{effect:.2g}",
            f"{result.seconds:.2g}",
            verdict,
        )
    screen.print(table)
    show_warnings(screen, remarks)
    screen.print(
        "Tests differ in what they can see, and effect sizes in their scale. Choose the test before you\n"
        "look: the smallest of several p-values is no longer a p-value.",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
