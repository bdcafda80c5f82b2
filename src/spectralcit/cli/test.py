"""``spectralcit test``: one question, one test, one answer in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from ..parameters import check_parameters
from ..registry import get_test
from ..result import CITestResult
from ..tables.reading import Reading
from ..verdict import LEVEL, pvalue_text
from .columns import described
from .options import (
    Alpha,
    AsJson,
    Asked,
    Asking,
    Missing,
    Seed,
    asks,
    complete_method,
    parameters,
    reads_tables,
)
from .shell import busy, can_report, console, in_shell_words, print_json, print_text, report_to

__all__ = ["run_test", "show_question", "show_warnings"]

_SHOWN = 8  # by hand: columns of one role that are listed; the rest are counted


@asks
@reads_tables
def run_test(
    asking: Asking,
    method: Annotated[
        str,
        typer.Option(
            "--method", "--test", help="Test; see spectralcit tests.", autocompletion=complete_method
        ),
    ] = "spectral",
    alpha: Alpha = LEVEL,
    seed: Seed = 0,
    as_json: AsJson = False,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Write a report to this file, .html or .pdf.", dir_okay=False),
    ] = None,
    missing: Missing = "raise",
    param: Annotated[
        list[str] | None,
        typer.Option("--param", help="Parameter of the test, name=value; may be repeated."),
    ] = None,
    *,
    reading: Reading,
) -> None:
    """Test whether X is independent of Y once the given columns are known."""
    from ..base import make_test  # scikit-learn is behind it, and `spectralcit --help` need not wait

    # A wrong name or value is an error before a large file is read.
    settings = parameters(param or [], get_test(method))
    test = make_test(method, random_state=seed, missing=missing, **settings)
    check_parameters(test)
    if report is not None:
        from ..report.output import check_target

        check_target(report)
    with busy(f"reading {asking.data}"):
        asked = asking.read(reading)
    if len(asked.x.columns) > 1:
        console(stderr=True).print(
            f"note: --x names {len(asked.x.columns)} columns: one joint question about all of them; for one "
            "answer per column use spectralcit screen",
            highlight=False,
            soft_wrap=True,
        )
    with busy(f"testing ({method})", total=1.0 if can_report(test) else None) as advance_to:
        report_to(advance_to, test)
        prepared = test.prepare(asked.x, asked.outcome, asked.z, **asked.rows)
        # What a report draws costs a little, so it is asked for only when there will be one.
        result, pair = test.examine(prepared) if report is not None else (test.run(prepared), None)
    if as_json:
        rejected = result.reject(alpha)
        print_json({**asked.to_dict(), "alpha": alpha, "reject": rejected, "result": result.to_dict()})
    else:
        _show(console(), asked, result, alpha, asked.question.direction(result, prepared, alpha))
    if report is not None:
        from ..report.html import write_report

        write_report(
            result,
            report,
            data=prepared,
            question=asked.question,
            alpha=alpha,
            params=settings,
            reading=asked.reading.given(),
            pair=pair,
        )
        console(stderr=True).print(f"report: {report}", markup=False, highlight=False)


def _show(screen: Console, asked: Asked, result: CITestResult, alpha: float, direction: str) -> None:
    said = asked.question.answered(result.pvalue, alpha)
    show_question(screen, asked)
    screen.print(Text(said.answer, style="bold bright_blue" if said.dependent else "bold"), highlight=False)
    if direction:
        print_text(screen, direction)
    for label, value in _figures(result):
        screen.print(f"  {label:<12}{value}", markup=False, highlight=False, soft_wrap=True)
    show_warnings(screen, [("warning", text) for text in result.warnings])
    screen.print()
    print_text(screen, f"{said.means[0]} This does not mean {said.does_not_mean[0]}")


def show_question(screen: Console, asked: Asked) -> None:
    """Print the question in words, which column plays which role, and how each was read."""
    screen.print(asked.question.in_words(), markup=False, highlight=False, style="bold")
    rows: list[tuple[str, str, str]] = []
    for role, table in asked.roles:
        columns = list(table.columns.items())
        listed = [(name, described(column)) for name, column in columns[:_SHOWN]]
        hidden = [column for _, column in columns[_SHOWN:]]
        if hidden:
            numbers = sum(column.levels is None for column in hidden)
            kinds = [(numbers, "numbers"), (len(hidden) - numbers, "categories")]
            listed.append((f"... {len(hidden)} more", ", ".join(f"{n} {kind}" for n, kind in kinds if n)))
        rows += [(role if k == 0 else "", *entry) for k, entry in enumerate(listed)]
    width = min(max(len(name) for _, name, _ in rows), 40)
    screen.print()
    for role, name, kind in rows:
        screen.print(f"  {role:<7}{name:<{width}}  {kind}", markup=False, highlight=False, soft_wrap=True)
    screen.print()


def show_warnings(screen: Console, warnings: Sequence[tuple[str, str]]) -> None:
    """Print remarks, each after its label."""
    for label, text in warnings:
        line = Text.assemble((f"{label}: ", "yellow"), in_shell_words(text))
        screen.print(line, highlight=False, soft_wrap=True)


def _figures(result: CITestResult) -> list[tuple[str, str]]:
    rows = [("p-value", pvalue_text(result.pvalue, result.pvalue_error))]
    if result.effect_size is not None:
        rows.append(("effect size", result.effect_text()))
    rows.append(("test", f"{result.method}, statistic {result.statistic:.4g}"))
    about = result.diagnostics.get("rows", {})
    told = ", ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in about.items())
    rows.append(("rows", f"{result.n}" + (f" ({told})" if told else "")))
    rows.append(("seed", f"{result.seed}"))
    rows.append(("seconds", f"{result.seconds:.1f}"))
    return rows
