"""The paper's figures: type I error and power side by side, or time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..figure_axes import axis_name, value_of
from ..figure_style import blank_figure, legend_handles, look
from ..figures import draw_curves
from ..metrics import CellSummary
from .experiment import Experiment

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_experiment"]

_AXES = {"str_cond_dep": "strength of the dependence (str_cond_dep)"}  # besides those of `axis_name`


def draw_experiment(
    experiment: Experiment, summaries: Sequence[CellSummary], tests: Sequence[str], *, alpha: float = 0.05
) -> Figure:
    """Draw the figure of an experiment from what has been run so far."""
    chosen = [s for s in summaries if s.replicates]
    have = {s.test for s in chosen}
    style = {test: look(position) for position, test in enumerate(tests) if test in have}
    if experiment.quantity == "seconds":
        figure = blank_figure(7.5, 4.2)
        ax = figure.subplots()
        _times(ax, chosen, experiment.axis, style)
        _legend(ax, style)
    else:
        figure = _rates(experiment, chosen, style, alpha)
    figure.suptitle(experiment.title, fontsize=11)
    return figure


def _rates(
    experiment: Experiment,
    chosen: Sequence[CellSummary],
    style: dict[str, dict[str, Any]],
    alpha: float,
) -> Figure:
    columns = [d for d in (False, True) if any(s.dependent == d for s in chosen)] or [False]
    rows = experiment.figure_rows(list(style)) or {"": list(style)}
    figure = blank_figure(4.0 * len(columns) + 2.3, 3.3 * len(rows) + 0.4)
    grid = figure.subplots(len(rows), len(columns), squeeze=False)
    for axes, (title, labels) in zip(grid, rows.items(), strict=True):
        shown = {test: style[test] for test in style if test in labels}
        if len(rows) > 1:  # too many lines for eight colours: each row uses them anew
            shown = {test: look(position) for position, test in enumerate(shown)}
        for ax, dependent in zip(axes, columns, strict=True):
            members = [s for s in chosen if s.dependent == dependent and s.test in shown]
            _panel(ax, experiment, members, shown, "power" if dependent else "type I error", alpha)
            if title:
                ax.set_title(title, fontsize=9)
        _legend(axes[-1], shown)
    return figure


def _panel(
    ax: Axes,
    experiment: Experiment,
    members: Sequence[CellSummary],
    style: dict[str, dict[str, Any]],
    title: str,
    alpha: float,
) -> None:
    if not members:
        ax.set_axis_off()
        return
    if not experiment.categories:
        draw_curves(ax, members, experiment.axis, _unjoined(members, experiment, style), title, alpha)
        ax.set_xlabel(_AXES.get(experiment.axis, axis_name(experiment.axis)))
        return
    # Kinds stand at equal distances, and no line suggests that there is something between them.
    values = list(experiment.categories)
    placed = [_at(s, experiment.axis, values) for s in members]
    points = {test: {**look_of, "ls": "none"} for test, look_of in style.items()}
    draw_curves(ax, placed, "place", points, title, alpha, step=0.7 / len(points))
    ax.set_xticks(range(len(values)), [experiment.categories[value] for value in values], fontsize=8)
    ax.set_xlim(-0.5, len(values) - 0.5)
    ax.set_xlabel("")


def _unjoined(
    members: Sequence[CellSummary], experiment: Experiment, style: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The style, without lines for tests that were run at a few values only: nothing is known between."""
    values = {test: {value_of(s, experiment.axis) for s in members if s.test == test} for test in style}
    whole = set(experiment.full.grid[experiment.axis])
    return {test: own if values[test] == whole else own | {"ls": "none"} for test, own in style.items()}


def _at(summary: CellSummary, axis: str, values: Sequence[float]) -> CellSummary:
    from dataclasses import replace

    return replace(summary, params={"place": values.index(summary.params[axis])})


def _times(ax: Axes, chosen: Sequence[CellSummary], axis: str, style: dict[str, dict[str, Any]]) -> None:
    for test in style:
        own = sorted((s for s in chosen if s.test == test), key=lambda s: value_of(s, axis))
        ax.plot([value_of(s, axis) for s in own], [s.seconds for s in own], **style[test])
    ax.set_yscale("log")
    ax.set_xticks(sorted({value_of(s, axis) for s in chosen}))
    ax.set_xlabel(axis_name(axis))
    ax.set_ylabel("median seconds")
    ax.grid(alpha=0.25)


def _legend(ax: Axes, style: dict[str, dict[str, Any]]) -> None:
    """Right of the panel: above it is the title."""
    handles = legend_handles(list(style), style)
    ax.legend(handles=handles, fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
