"""``spectralcit test``: one question, one test, one answer in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ..api import ci_test
from ..inputs import prepare
from ..registry import get_test
from ..result import CITestResult
from .options import (
    Alpha,
    AsJson,
    Asked,
    Categorical,
    Data,
    Decimal,
    Delimiter,
    Encoding,
    Format,
    Given,
    Missing,
    Numeric,
    Seed,
    X,
    Y,
    ask,
    complete_method,
    described,
    parameters,
)
from .shell import busy, console, print_json

__all__ = ["run_test", "show_question", "show_warnings"]

_SHOWN = 8  # columns of one role that are listed; the rest are counted


def run_test(
    data: Data,
    x: X,
    y: Y,
    given: Given = "",
    method: Annotated[
        str,
        typer.Option("--method", help="Test; see spectralcit tests.", autocompletion=complete_method),
    ] = "spectral",
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    as_json: AsJson = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write an HTML report to this file.", dir_okay=False)
    ] = None,
    missing: Missing = "raise",
    param: Annotated[
        list[str] | None,
        typer.Option("--param", help="Parameter of the test, name=value; may be repeated."),
    ] = None,
    categorical: Categorical = "",
    numeric: Numeric = "",
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    decimal: Decimal = ".",
    format: Format = None,
) -> None:
    """Test whether X is independent of Y once the given columns are known."""
    cls = get_test(method)  # an unknown name is an error before a large file is read
    settings = parameters(param or [])
    with busy(f"reading {data}"):
        asked = ask(
            data,
            x,
            y,
            given,
            categorical=categorical,
            numeric=numeric,
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,
            format=format,
        )
    with busy(f"testing ({method})", total=1.0 if "progress" in cls._get_param_names() else None) as go:
        follow = {"progress": lambda step, total: go(step / total, None)}
        watched = follow if "progress" in cls._get_param_names() else {}
        result = ci_test(
            asked.x,
            asked.y,
            asked.z,
            method=method,
            random_state=seed,
            missing=missing,
            **{**watched, **settings},
        )
    rejected = result.reject(alpha)
    if as_json:
        print_json({**asked.to_dict(), "alpha": alpha, "reject": rejected, "result": result.to_dict()})
    else:
        _show(console(), asked, result, alpha)
    if report is not None:
        _write_report(report, asked, result, alpha, missing, settings)
        console(stderr=True).print(f"report: {report}", markup=False, highlight=False)


def _show(screen: Console, asked: Asked, result: CITestResult, alpha: float) -> None:
    show_question(screen, asked)
    screen.print(_answer(asked, result, alpha), highlight=False)
    for label, value in _figures(result):
        screen.print(f"  {label:<12}{value}", markup=False, highlight=False, soft_wrap=True)
    show_warnings(screen, [("warning", text) for text in (*asked.notes, *result.warnings)])
    screen.print("\n" + _meaning(result, alpha), markup=False, highlight=False, soft_wrap=True)


def show_question(screen: Console, asked: Asked) -> None:
    """Print the question in words, which column plays which role, and how each was read.

    Parameters
    ----------
    screen
        Where to print.
    asked
        The question.
    """
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
    """Print remarks, each after its label.

    Parameters
    ----------
    screen
        Where to print.
    warnings
        Label and text of each.
    """
    for label, text in warnings:
        screen.print(Text.assemble((f"{label}: ", "yellow"), text), highlight=False, soft_wrap=True)


def _answer(asked: Asked, result: CITestResult, alpha: float) -> Text:
    from ..report.question import enumerated

    x, y = enumerated(asked.question.x), enumerated(asked.question.y)
    known = f" given {enumerated(asked.question.z)}" if asked.question.z else ""
    if result.reject(alpha):
        return Text(f"Evidence that {x} and {y} depend on each other{known}.", style="bold green")
    return Text(f"No evidence against independence of {x} and {y}{known}.", style="bold")


def _figures(result: CITestResult) -> list[tuple[str, str]]:
    rows = [("p-value", f"{result.pvalue:.4g}")]
    if result.effect_size is not None:
        interval = result.diagnostics.get("effect_interval")
        shown = f" (95 % interval {interval[0]:.3g} to {interval[1]:.3g})" if interval else ""
        rows.append(("effect size", f"{result.effect_size:.3g}{shown}"))
    rows.append(("test", f"{result.method}, statistic {result.statistic:.4g}"))
    rows.append(("rows", f"{result.n}"))
    rows.append(("seed", f"{result.seed}"))
    rows.append(("seconds", f"{result.seconds:.1f}"))
    return rows


def _meaning(result: CITestResult, alpha: float) -> str:
    if result.reject(alpha):
        return (
            f"Were they independent, data this extreme would turn up in at most {alpha:g} of samples. "
            "This is no proof of cause\nand effect: something that is not in the table may drive both."
        )
    return (
        f"At level {alpha:g} these {result.n} rows show no dependence. That is no proof of independence: "
        "a weak one may go unseen."
    )


def _write_report(
    path: Path, asked: Asked, result: CITestResult, alpha: float, missing: str, params: dict[str, Any]
) -> None:
    from ..report.html import write_report

    data = prepare(asked.x, asked.y, asked.z, missing=missing)
    write_report(
        result,
        path,
        data=data,
        question=asked.question,
        alpha=alpha,
        params=params,
        reading=asked.reading,
    )
