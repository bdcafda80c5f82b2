"""Figures of a benchmark: error rates and power, p-values against the uniform law, time, ranking."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from .figure_axes import axis_name, grouped, label_of, label_without, value_of, varying_axis
from .figure_style import blank_figure, legend, look
from .metrics import CellSummary, Rank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_curves", "draw_figures"]

_PANELS_PER_FIGURE = 12  # by hand: four rows, a page
_COLUMNS = 3  # by hand: as wide as the page


def draw_figures(
    summaries: Sequence[CellSummary], ranks: Sequence[Rank], tests: Sequence[str], *, alpha: float = 0.05
) -> dict[str, Figure]:
    """Draw every figure that the summaries allow, by name of file."""
    style = {test: look(position) for position, test in enumerate(tests)}
    figures: dict[str, Figure] = {}
    for name, title, dependent in (("type1", "type I error", False), ("power", "power", True)):
        chosen = [s for s in summaries if s.dependent == dependent and s.replicates]
        figures |= _rate_figures(name, title, chosen, style, alpha)
    nulls = [s for s in summaries if not s.dependent and s.replicates]
    panels = grouped(nulls, lambda s: label_of(s, s.params, s.n))
    figures |= _pages("qq", panels, style, lambda ax, members: _qq(ax, members, style))
    for axis in ("n", "d_z"):
        figures |= _time_figures(axis, [s for s in summaries if s.replicates], style)
    if any(rank.alternatives for rank in ranks):
        figures["ranking"] = _ranking_figure(ranks, style)
    return figures


def _rate_figures(
    name: str, title: str, chosen: Sequence[CellSummary], style: dict[str, dict[str, Any]], alpha: float
) -> dict[str, Figure]:
    """Curves where something numeric varies, and one panel of points for all the rest."""
    panels: dict[str, list[CellSummary]] = {}
    single: list[CellSummary] = []
    axes: dict[str, str] = {}
    for group in grouped(chosen, lambda s: s.dataset).values():
        axis = varying_axis(group)
        if axis is None:
            single += group
            continue
        for label, members in grouped(group, partial(label_without, axis=axis)).items():
            panels[label], axes[label] = members, axis

    def draw(ax: Axes, members: Sequence[CellSummary]) -> None:
        axis = next(axes[label] for label, group in panels.items() if group is members)
        draw_curves(ax, members, axis, style, title, alpha)

    figures = _pages(name, panels, style, draw)
    if single:
        figures[f"{name}-points"] = _points_figure(single, style, title, alpha)
    return figures


def draw_curves(
    ax: Axes,
    members: Sequence[CellSummary],
    axis: str,
    style: dict[str, dict[str, Any]],
    title: str,
    alpha: float,
    step: float = 0.05,
) -> None:
    """Draw one line with intervals per test."""
    present = [test for test in style if any(s.test == test for s in members)]
    values = sorted({value_of(s, axis) for s in members})
    # Points of different tests stand side by side, so that their intervals do not hide each other.
    gap = min((b - a for a, b in itertools.pairwise(values)), default=1.0) * step
    for position, test in enumerate(present):
        own = sorted((s for s in members if s.test == test), key=lambda s: value_of(s, axis))
        shift = gap * (position - (len(present) - 1) / 2)
        ax.errorbar(
            [value_of(s, axis) + shift for s in own],
            [s.rate for s in own],
            yerr=_whiskers(own),
            capsize=2,
            elinewidth=0.9,
            **style[test],
        )
    ax.set_xticks(values)
    ax.set_xlabel(axis_name(axis))
    _rate_axis(ax, members, title, alpha)


def _rate_axis(ax: Axes, members: Sequence[CellSummary], title: str, alpha: float) -> None:
    ax.axhline(alpha, color="0.35", lw=0.9, ls="--")
    top = max(s.high for s in members)
    ax.set_ylim(-0.02 if top > 0.4 else -0.01, 1.02 if top > 0.4 else 0.42)
    ax.set_ylabel(title)
    ax.grid(alpha=0.25)


def _points_figure(
    single: Sequence[CellSummary], style: dict[str, dict[str, Any]], title: str, alpha: float
) -> Figure:
    labels = list(grouped(single, lambda s: label_of(s, s.params, s.n)))
    present = [test for test in style if any(s.test == test for s in single)]
    height = 1.3 + len(labels) * (0.22 + 0.11 * len(present))
    figure = blank_figure(7.5, height)
    ax = figure.subplots()
    for position, test in enumerate(present):
        own = [s for s in single if s.test == test]
        shift = 0.7 * (position - (len(present) - 1) / 2) / max(len(present), 1)
        at = [labels.index(label_of(s, s.params, s.n)) + shift for s in own]
        look = {**style[test], "ls": "none"}
        ax.errorbar([s.rate for s in own], at, xerr=_whiskers(own), capsize=2, elinewidth=0.9, **look)
    ax.axvline(alpha, color="0.35", lw=0.9, ls="--")
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel(f"{title} (level {alpha:g}: dashed; bars: 95 % intervals)")
    ax.grid(axis="x", alpha=0.25)
    legend(figure, present, style)
    return figure


def _qq(ax: Axes, members: Sequence[CellSummary], style: dict[str, dict[str, Any]]) -> None:
    import numpy as np
    from scipy import stats

    # Of the test with the fewest replicates: the band is then wide enough for all of them.
    fewest = min(s.replicates for s in members)
    ranks = np.arange(1, fewest + 1)
    expected = ranks / (fewest + 1)
    # The i-th of m uniform p-values has the law Beta(i, m + 1 - i).
    low, high = (stats.beta.ppf(q, ranks, fewest + 1 - ranks) for q in (0.025, 0.975))
    ax.fill_between(expected, low, high, color="0.85", lw=0)
    ax.plot([0, 1], [0, 1], color="0.35", lw=0.9, ls="--")
    for test in style:
        for own in (s for s in members if s.test == test):
            at = np.arange(1, own.replicates + 1) / (own.replicates + 1)
            look = {**style[test], "marker": "", "lw": 1.6}
            ax.plot(at, np.sort(own.pvalues), **look)
    ax.set_xlim(0, 1)
    ax.set_ylim(-0.03, 1.03)  # a line of p-values near zero must not hide behind the frame
    ax.set_xlabel("uniform quantile")
    ax.set_ylabel("p-value")
    ax.grid(alpha=0.25)


def _time_figures(
    axis: str, chosen: Sequence[CellSummary], style: dict[str, dict[str, Any]]
) -> dict[str, Figure]:
    panels: dict[str, list[CellSummary]] = {}
    for group in grouped(chosen, lambda s: s.dataset).values():
        if all(axis == "n" or axis in s.params for s in group):
            panels |= grouped(group, partial(label_without, axis=axis))
    panels = {label: group for label, group in panels.items() if len({value_of(s, axis) for s in group}) > 1}

    def draw(ax: Axes, members: Sequence[CellSummary]) -> None:
        for test in style:
            by_value = grouped([s for s in members if s.test == test], lambda s: value_of(s, axis))
            at = sorted(by_value)
            ax.plot(at, [median([s.seconds for s in by_value[x]]) for x in at], **style[test])
        values = sorted({value_of(s, axis) for s in members})
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xticks(values, [f"{value:g}" for value in values])
        ax.minorticks_off()
        ax.set_xlabel(axis_name(axis))
        ax.set_ylabel("median seconds")
        ax.grid(alpha=0.25)

    return _pages(f"time-{axis.replace('_', '')}", panels, style, draw)


def _ranking_figure(ranks: Sequence[Rank], style: dict[str, dict[str, Any]]) -> Figure:
    figure = blank_figure(7.5, 1.3 + 0.42 * len(ranks))
    ax = figure.subplots()
    most = max(rank.alternatives for rank in ranks)
    for position, rank in enumerate(ranks):
        colour = style[rank.test]["color"]
        ax.barh(position, rank.power, color=colour, alpha=0.25)
        ax.barh(position, rank.score, color=colour)
        note = f"level broken on {rank.broken} of {rank.nulls}" if rank.broken else "level held"
        if rank.alternatives < most:
            note += f"; {rank.alternatives} of {most} alternatives"
        ax.text(min(rank.power, 0.995) + 0.01, position, note, va="center", fontsize=8)
    ax.set_yticks(range(len(ranks)), [rank.test for rank in ranks])
    ax.set_ylim(len(ranks) - 0.4, -0.6)
    ax.set_xlim(0, 1.3)
    ax.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    ax.set_xlabel("mean power: full colour where the level holds, pale where it does not")
    return figure


def _pages(
    name: str,
    panels: dict[str, list[CellSummary]],
    style: dict[str, dict[str, Any]],
    draw: Callable[[Axes, Sequence[CellSummary]], None],
) -> dict[str, Figure]:
    """Spread panels over as many figures as they need."""
    items = list(panels.items())
    figures: dict[str, Figure] = {}
    for page, start in enumerate(range(0, len(items), _PANELS_PER_FIGURE)):
        part = items[start : start + _PANELS_PER_FIGURE]
        columns = min(_COLUMNS, len(part))
        rows = math.ceil(len(part) / columns)
        figure = blank_figure(max(4.0 * columns, 5.0), 3.2 * rows + 0.5)
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        present = [test for test in style if any(s.test == test for _, group in part for s in group)]
        for ax, (label, members) in zip(axes, part, strict=False):
            ax.set_title(label, fontsize=9)
            draw(ax, members)
        for ax in axes[len(part) :]:
            ax.set_axis_off()
        legend(figure, present, style)
        figures[name if page == 0 else f"{name}-{page + 1}"] = figure
    return figures


def _whiskers(own: Sequence[CellSummary]) -> list[list[float]]:
    return [[max(s.rate - s.low, 0.0) for s in own], [max(s.high - s.rate, 0.0) for s in own]]
