"""A result for people: as text, and as a table for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from .verdict import LEVEL, pvalue_text, verdict

if TYPE_CHECKING:
    from .result import CITestResult

__all__ = ["as_html", "as_text"]


def as_text(result: CITestResult) -> str:
    """The verdict, a line for each figure, and the warnings."""
    lines = [_headline(result), *(f"  {label:<12}{value}" for label, value in _figures(result))]
    return "\n".join([*lines, *(f"  warning: {text}" for text in result.warnings)])


def as_html(result: CITestResult) -> str:
    """The same as a table; every text is escaped, for warnings may quote the user's data."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(label)}</th><td>{html.escape(value)}</td></tr>"
        for label, value in _figures(result)
    )
    warnings = "".join(f"<li>{html.escape(text)}</li>" for text in result.warnings)
    listing = f"<p>Warnings</p><ul>{warnings}</ul>" if warnings else ""
    caption = html.escape(_headline(result))
    return f"<div><table><caption>{caption}</caption><tbody>{rows}</tbody></table>{listing}</div>"


def _headline(result: CITestResult) -> str:
    asked = result.question
    said = verdict(result.pvalue) if asked is None else asked.answered(result.pvalue, LEVEL)
    return f"{result.method}: {said.answer}"


def _figures(result: CITestResult) -> list[tuple[str, str]]:
    """Label and value of each line."""
    p = pvalue_text(result.pvalue, result.pvalue_error)
    rows = [("p-value", f"{p} (level {LEVEL:g})")]
    if result.effect_size is not None:
        rows.append(("effect size", result.effect_text()))
    rows += [("statistic", f"{result.statistic:.6g}"), ("null", str(result.null))]
    split = ""
    if result.n_train is not None and result.n_test is not None:
        split = f" ({result.n_train} train, {result.n_test} test)"
    rows.append(("rows", f"{result.n}{split}"))
    if result.seed is not None:
        rows.append(("seed", str(result.seed)))
    rows.append(("seconds", f"{result.seconds:.3g}"))
    return rows
