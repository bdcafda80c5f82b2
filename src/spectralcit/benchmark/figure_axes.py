"""Where a cell of a benchmark stands in a figure: its panel and its place on the horizontal axis."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from .metrics import CellSummary

__all__ = ["axis_name", "grouped", "label_of", "label_without", "value_of", "varying_axis"]

_AXIS_PREFERENCE = ("d_z", "n")  # by hand: what studies of these tests vary


def grouped(
    summaries: Sequence[CellSummary], key: Callable[[CellSummary], Any]
) -> dict[Any, list[CellSummary]]:
    """Sort cells into lists by a key, in the order in which the keys appear."""
    groups: dict[Any, list[CellSummary]] = defaultdict(list)
    for summary in summaries:
        groups[key(summary)].append(summary)
    return dict(groups)


def varying_axis(group: Sequence[CellSummary]) -> str | None:
    """Choose the horizontal axis: of n and the numeric parameters that vary, d_z first, then n."""
    names = ["n", *dict.fromkeys(name for s in group for name in s.params)]
    varying = [
        name
        for name in names
        if all(name == "n" or _is_number(s.params.get(name)) for s in group)
        and len({value_of(s, name) for s in group}) > 1
    ]
    return next((name for name in (*_AXIS_PREFERENCE, *varying) if name in varying), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def value_of(summary: CellSummary, axis: str) -> float:
    """Place of a cell on the horizontal axis."""
    return float(summary.n if axis == "n" else summary.params[axis])


def axis_name(axis: str) -> str:
    """Name of a horizontal axis for people."""
    return {"n": "number of rows n", "d_z": "dimension of Z (d_z)"}.get(axis, axis)


def label_of(summary: CellSummary, params: dict[str, Any], n: int | None) -> str:
    """Write the data set of a cell with some parameters, the title of a panel."""
    parts = [f"{name}={value}" for name, value in params.items()]
    if n is not None:
        parts.append(f"n={n}")
    return summary.dataset + (f" ({', '.join(parts)})" if parts else "")


def label_without(summary: CellSummary, axis: str) -> str:
    """Write all about a cell but what varies along the horizontal axis."""
    params = {name: value for name, value in summary.params.items() if name != axis}
    return label_of(summary, params, None if axis == "n" else summary.n)
