"""The pictures of a report, each with how to read it and with words for those who do not see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..inputs import CIData
from ..result import CITestResult
from ..verdict import pvalue_text
from . import plots
from .axes import MAX_POINTS
from .data_plot import plot_data
from .figures import svg
from .null_plot import plot_null

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..views import LeadingPair, SideView

__all__ = ["Picture", "draw_pictures"]


@dataclass(frozen=True)
class Picture:
    """A drawing with what stands below it."""

    svg: str
    caption: str


@dataclass(frozen=True)
class _Plan:
    """A picture that may be drawn: not every result has every part."""

    name: str
    draw: Callable[[Axes], Any]
    caption: str  # how to read it, for people who never saw one of its kind
    alt: str  # what it shows
    height: float = 3.2  # inches


def draw_pictures(result: CITestResult, data: CIData, pair: LeadingPair | None) -> list[Picture]:
    """Draw everything that this result has, the data first."""
    found = []
    for plan in _plans(result, data, pair):
        try:
            picture = svg(plan.draw, plan.name, height=plan.height, alt=plan.alt)
        except ParameterError:
            continue  # this result has no such part
        found.append(Picture(picture, plan.caption))
    return found


def _plans(result: CITestResult, data: CIData, pair: LeadingPair | None) -> list[_Plan]:
    plans = [_data(data, pair), *_evidence(result)]
    if pair is not None:
        plans += [_partial(pair), _leading(pair)]
    # One value alone is told by the leading pair.
    if len(result.diagnostics.get("singular_values") or ()) > 1:
        plans.append(_strengths(result))
    if data.z is not None:
        plans.append(_explained(result))
        if pair is not None:
            plans += [_remainder(pair.x, "x", pair), _remainder(pair.y, "y", pair)]
    return plans


def _data(data: CIData, pair: LeadingPair | None) -> _Plan:
    names = {} if pair is None else {"x": pair.x.name, "y": pair.y.name}
    caption = "The data as they are"
    if data.z is not None:
        caption += (
            ", coloured by the column of Z that says most about both; a tie that is seen here may come from Z"
        )
    caption += "."
    if data.y.event is not None:
        caption += " Crosses are rows without the event."
    if data.n > MAX_POINTS:
        caption += f" {MAX_POINTS:,} of {data.n:,} rows are shown."
    drawn = [names.get(role, block.names[0]) for role, block in (("y", data.y), ("x", data.x))]
    alt = f"Scatter plot of the raw data: {drawn[0]} by {drawn[1]}."
    return _Plan("data", lambda ax: plot_data(data, ax, **names), caption, alt)


def _evidence(result: CITestResult) -> list[_Plan]:
    pvalues = result.diagnostics.get("block_pvalues") or {}
    rows = min(len(pvalues), plots.MOST_KINDS)
    return [
        _Plan(
            "null",
            partial(plot_null, result),
            "The statistic (red) on what it would be if there were no tie (blue). The shaded part is at "
            "least as extreme.",
            f"The statistic {result.statistic:.4g} on its distribution without a tie; the share at least as "
            f"extreme is {pvalue_text(result.pvalue)}.",
        ),
        _Plan(
            "blocks",
            partial(plots.plot_blocks, result),
            "Which kinds of dependence were seen. The numbers are each kind's own p-values; the answer "
            "allows for having looked at all of them.",
            "Bars of the kinds of dependence, the most surprising first, with their p-values.",
            height=1.0 + 0.45 * rows,
        ),
    ]


def _partial(pair: LeadingPair) -> _Plan:
    left = pair.partial is not None and pair.partial.leaves_band
    said = "leaves the band: there is a tie in the mean" if left else "stays inside of the band"
    what = f"{pair.y.name} by {pair.x.name}"
    if pair.x.remainder is not None:
        what = f"What is left without Z: {what}"
    caption = (
        f"{what}. The red line of means {said}. Without a tie it stays inside in 99 of 100 data sets; ties "
        "of other kinds need not show here."
    )
    alt = f"Scatter plot. {what}. The line of means {said}."
    return _Plan("partial", partial(plots.plot_partial, pair), _with_rows(caption, pair), alt)


def _leading(pair: LeadingPair) -> _Plan:
    caption = (
        "The function of X and the function of Y that go together most closely when Z is removed. They were "
        "picked because they do: some tilt is there without a tie too."
    )
    alt = (
        "Scatter plot of the two functions that go together most closely, coloured by their product, whose "
        f"mean is {pair.correlation:.2f}."
    )
    return _Plan("pair", partial(plots.plot_leading_pair, pair), _with_rows(caption, pair), alt)


def _strengths(result: CITestResult) -> _Plan:
    values = result.diagnostics["singular_values"]
    return _Plan(
        "values",
        partial(plots.plot_singular_values, result),
        "How closely the leading pairs of functions go together given Z, on the data they were picked from: "
        "0 not at all, 1 fully.",
        f"The {len(values)} leading pairs have strengths from {values[0]:.2f} down to {values[-1]:.2f}.",
    )


def _explained(result: CITestResult) -> _Plan:
    return _Plan(
        "nuisance",
        partial(plots.plot_nuisance, result),
        "How much of X and of Y can be predicted from Z for rows that the prediction has not seen, and how "
        "much of the data that took.",
        "Bars of how much of X and of Y is explained by Z, and of the degrees of freedom that this took.",
    )


def _remainder(side: SideView, role: str, pair: LeadingPair) -> _Plan:
    found = side.remainder
    looked = (
        "" if found is None or found.n_looked == 1 else f", the most suspicious of {found.n_looked} looked at"
    )
    if found is not None and found.leaves_band:
        said = (
            f"A mean leaves the band: something of Z is still in what is left of {side.name}, and could be "
            "mistaken for a tie."
        )
    else:
        said = f"All means are inside of the band: nothing of Z is seen in what is left of {side.name}."
    along = "Z" if found is None else found.along
    caption = (
        f"{said} Drawn along {along}{looked}. Where Z was removed, a mean leaves the band in one of 100 data "
        "sets."
    )
    alt = f"What is left of {side.name} along {along}, with means in bins and a band. {said}"
    return _Plan(f"residuals-{role}", partial(plots.plot_residuals, side), _with_rows(caption, pair), alt)


def _with_rows(caption: str, pair: LeadingPair) -> str:
    """Add how many rows are behind a picture, and on it."""
    if len(pair.u) < pair.n_total:
        return (
            f"{caption} Computed from {len(pair.u):,} of {pair.n_total:,} rows, drawn at random, of which "
            f"{MAX_POINTS:,} are shown."
        )
    return (
        f"{caption} {MAX_POINTS:,} of {len(pair.u):,} rows are shown."
        if len(pair.u) > MAX_POINTS
        else caption
    )
