"""What a report says in tables: the columns, the settings, the versions, and how to repeat the test."""

from __future__ import annotations

import importlib.metadata
import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs import Block, CIData
from ..question import Question
from ..registry import list_tests
from ..result import CITestResult
from ..verdict import LEVEL
from .null_plot import null_in_words

__all__ = ["ColumnFacts", "columns", "command", "feature_in_words", "python_code", "settings", "versions"]

_PACKAGES = ("spectralcit", "numpy", "scipy", "scikit-learn", "jax")  # those on which digits can depend
_MAX_LEVELS = 6  # by hand: levels of a category that fit on a line of the report
_CODE_WIDTH = 88  # characters of a line that the page shows without wrapping
# Kinds of `Block` in the words of readers.
_KINDS = {"continuous": "continuous", "discrete": "few values", "indicator": "two values"}


@dataclass(frozen=True)
class ColumnFacts:
    """One source column: its role, name, kind and a line about its values."""

    role: str
    name: str
    kind: str
    values: str


def columns(data: CIData, question: Question) -> list[ColumnFacts]:
    """Describe every source column of the data by its name in the question."""
    found: list[ColumnFacts] = []
    for role, block, names in (
        ("X", data.x, question.x),
        ("Y", data.y, question.y),
        ("Z", data.z, question.z),
    ):
        if block is not None:
            found += _block_facts(role, block, names)
    return found


def _block_facts(role: str, block: Block, names: tuple[str, ...]) -> list[ColumnFacts]:
    groups = np.asarray(block.groups)
    sources = list(dict.fromkeys(block.groups))
    found = []
    for number, source in enumerate(sources):
        members = np.flatnonzero(groups == source)
        encoded = [block.names[j] for j in members]
        name = names[number] if len(names) == len(sources) else encoded[0]
        values = block.values[:, members]
        levels = _level_names(encoded, name)
        if levels and block.kinds[members[0]] == "indicator":
            found.append(ColumnFacts(role, name, "categories", _levels(levels, values)))
        else:
            found.append(ColumnFacts(role, name, _KINDS[block.kinds[members[0]]], _range(values[:, 0])))
    return found


def _level_names(encoded: list[str], source: str) -> list[str]:
    """Levels behind indicators, which are called ``source[level]``; none for other columns."""
    start = f"{source}["
    if len(encoded) > 1 and not encoded[0].startswith(start):  # an array without a name, called by its role
        start = encoded[0][: encoded[0].index("[") + 1]
    return [label[len(start) : -1] for label in encoded if label.startswith(start)]


def _range(values: np.ndarray) -> str:
    if len(distinct := np.unique(values)) == 2:
        return f"{distinct[0]:g} ({np.mean(values == distinct[0]):.0%}), {distinct[1]:g}"
    low, middle, high = np.quantile(values, [0.0, 0.5, 1.0])
    return f"{low:.4g} to {high:.4g}, median {middle:.4g}"


def _levels(labels: list[str], indicators: np.ndarray) -> str:
    shares = indicators.mean(axis=0)
    if len(labels) == 1:  # two levels need one indicator
        return f"{labels[0]} ({shares[0]:.0%}) and another ({1 - shares[0]:.0%})"
    order = np.argsort(-shares, kind="stable")
    text = ", ".join(f"{labels[j]} ({shares[j]:.0%})" for j in order[:_MAX_LEVELS])
    more = len(labels) - _MAX_LEVELS
    return f"{len(labels)} levels: {text}" + (f" and {more} more" if more > 0 else "")


def feature_in_words(name: str) -> str:
    """What a feature of the default test is.

    Examples
    --------
    >>> feature_in_words("gene: linear"), feature_in_words("gene: order 3"), feature_in_words("joint 4")
    ('gene itself', 'a curve of gene with 2 turns', 'a wave across all columns')
    """
    column, _, kind = name.rpartition(": ")
    if column and kind == "linear":
        return f"{column} itself"
    if column and kind.startswith("order "):
        turns = int(kind.removeprefix("order ")) - 1
        return f"a curve of {column} with {turns} turn{'s' if turns > 1 else ''}"
    if name.startswith("joint "):
        return "a wave across all columns"
    return "a mixture of the columns" if name.startswith("component ") else name


def settings(
    result: CITestResult, data: CIData, alpha: float, params: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Label and value of everything that the p-value depends on."""
    summary = next((info.tags.summary for info in list_tests() if info.name == result.method), "")
    rows = [("test", f"{result.method}: {summary}" if summary else result.method)]
    rows += [(f"parameter {name}", repr(value)) for name, value in params.items()]
    rows += [
        ("level", f"{alpha:g}"),
        ("seed", "none" if result.seed is None else str(result.seed)),
        ("rows used", str(result.n)),
    ]
    if result.n_train is not None and result.n_test is not None:
        rows.append(("rows to learn, to test", f"{result.n_train}, {result.n_test}"))
    return [
        *rows,
        ("rows dropped for missing values", str(data.n_dropped)),
        ("statistic, exactly", repr(result.statistic)),
        ("p-value, exactly", repr(result.pvalue)),
        ("compared with", null_in_words(result.null)),
        ("seconds", f"{result.seconds:.3g}"),
    ]


def versions() -> list[tuple[str, str]]:
    """Versions of Python and of the packages that compute."""
    found = [("Python", platform.python_version())]
    for name in _PACKAGES:
        try:
            found.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def python_code(
    result: CITestResult,
    data: CIData,
    question: Question,
    params: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
) -> str:
    """A program that repeats the test.

    Examples
    --------
    >>> from spectralcit import CITestResult, NullDistribution, prepare
    >>> data = prepare(range(30), [i % 7 for i in range(30)])
    >>> result = CITestResult(1.0, 0.5, "gcm", 30, NullDistribution("normal"), seed=3)
    >>> print(python_code(result, data, Question(("a",), ("b",), (), "d.csv")))
    from spectralcit import ci_test
    from spectralcit.tables import read_table
    <BLANKLINE>
    table = read_table('d.csv')
    print(ci_test(data=table, x=['a'], y=['b'], method='gcm', random_state=3))
    """
    outcome = (*question.y, question.event) if question.event else list(question.y)
    arguments = ["data=table", f"x={list(question.x)!r}", f"y={outcome!r}"]
    if question.z:
        arguments.append(f"z={list(question.z)!r}")
    arguments += [f"method={result.method!r}", f"random_state={result.seed!r}"]
    if policy := _missing_policy(data):
        arguments.append(f"missing={policy!r}")
    arguments += [f"{name}={value!r}" for name, value in (*question.rows, *(params or {}).items())]
    read = "".join(f", {name}={value!r}" for name, value in (reading or {}).items())
    lines = ["from spectralcit import ci_test", "from spectralcit.tables import read_table", ""]
    call = f"print(ci_test({', '.join(arguments)}))"
    if len(call) > _CODE_WIDTH:
        inside = "".join(f"    {argument},\n" for argument in arguments)
        call = f"result = ci_test(\n{inside})\nprint(result)"
    return "\n".join([*lines, f"table = read_table({_source(question)!r}{read})", call])


def command(
    result: CITestResult,
    data: CIData,
    question: Question,
    alpha: float,
    params: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
) -> str:
    r"""The shell command that repeats the test.

    Examples
    --------
    >>> from spectralcit import CITestResult, NullDistribution, prepare
    >>> data = prepare(range(30), [i % 7 for i in range(30)])
    >>> result = CITestResult(1.0, 0.5, "gcm", 30, NullDistribution("normal"), seed=3)
    >>> command(result, data, Question(("a",), ("b, c",), (), "d.csv"), 0.05)
    'spectralcit test d.csv --x a --y \'"b, c"\' --method gcm --seed 3'
    """
    words = ["spectralcit", "test", _source(question), "--x", _selection(question.x)]
    words += ["--y", _selection(question.y)]
    if question.event:
        words += ["--event", _selection((question.event,))]
    if question.z:
        words += ["--given", _selection(question.z)]
    for name, value in question.rows:
        words += [f"--{name.replace('_', '-')}", str(value)]
    words += ["--method", result.method]
    if result.seed is not None:
        words += ["--seed", str(result.seed)]
    if policy := _missing_policy(data):
        words += ["--missing", policy]
    if alpha != LEVEL:
        words += ["--alpha", f"{alpha:g}"]
    for name, value in (params or {}).items():
        words += ["--param", f"{name}={value if isinstance(value, str) else repr(value)}"]
    for name, value in (reading or {}).items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def _missing_policy(data: CIData) -> str:
    """What was said about missing values, where it mattered."""
    if data.incomplete is not None:
        return "impute"
    return "drop" if data.n_dropped else ""


def _source(question: Question) -> str:
    return "your-data.csv" if question.source in ("", "-", "standard input") else question.source


def _selection(names: tuple[str, ...]) -> str:
    """Names as the command line reads them: those with a meaning there go between quotes."""
    return ",".join(_quoted(name) if set(name) & set(",*?:!'\"\\[] ") else name for name in names)


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
