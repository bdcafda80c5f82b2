"""The two pictures of a screen: a volcano of effect against p-value, and a QQ plot with λ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import MissingExtraError
from ..report.axes import NEUTRAL_COLOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .frame import ScreenResult

__all__ = ["plot_qq", "plot_volcano", "screen_figure"]

_NAMED = 8  # by hand: hits whose names still fit beside their points
_DRAWN = 3000  # by hand: points of the crowd; more of them make a page heavy and no picture clearer
_SMALLEST = 500  # of them are always the smallest p-values, which stand apart
_INK, _HIT = "#9aa5b1", "#c1121f"  # grey for the crowd, red for hits


def screen_figure(found: ScreenResult, level: float) -> Figure:
    """Draw both."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("pictures need matplotlib: pip install 'spectralcit[plot]'") from error
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    plot_volcano(found, left, level)
    plot_qq(found, right)
    return figure


def plot_volcano(found: ScreenResult, axes: Axes, level: float) -> None:
    """Draw each column's signed effect against its p-value; hits are red, the first of them named."""
    tested = [row for row in found.rows if row.pvalue is not None and row.effect is not None]
    hits = {(row.x, row.y) for row in found.hits(level)}
    effect = np.array([row.signed_effect for row in tested], dtype=float)
    height = -np.log10(np.array([row.pvalue for row in tested], dtype=float))
    is_hit = np.array([(row.x, row.y) in hits for row in tested], dtype=bool)
    crowd = _thinned(np.flatnonzero(~is_hit))
    axes.scatter(effect[crowd], height[crowd], s=9, color=_INK, label="other columns")
    axes.scatter(effect[is_hit], height[is_hit], s=14, color=_HIT, label=f"{is_hit.sum()} hits")
    for k in np.flatnonzero(is_hit)[:_NAMED]:
        axes.annotate(tested[k].x, (effect[k], height[k]), textcoords="offset points", xytext=(4, 2), size=8)
    axes.set(xlabel="effect, with the sign of the partial correlation", ylabel="-log10 p-value")
    axes.legend(loc="best", fontsize=8)


def plot_qq(found: ScreenResult, axes: Axes) -> None:
    """Draw the sorted p-values against what as many uniform ones would be."""
    p = found.pvalues
    expected = -np.log10((np.arange(1, len(p) + 1) - 0.5) / max(len(p), 1))
    shown = _thinned(np.arange(len(p)))
    axes.scatter(expected[shown], -np.log10(p[shown]), s=9, color=_INK)
    end = float(expected[0]) if len(p) else 1.0
    axes.plot([0.0, end], [0.0, end], color=NEUTRAL_COLOUR, linewidth=0.8)
    axes.set(xlabel="-log10 p-value expected by chance", ylabel="-log10 p-value")
    axes.set_title(f"λ = {found.inflation:.2f}", fontsize=10)


def _thinned(places: np.ndarray) -> np.ndarray:
    """Return all of a few sorted places; of many the first ones and an even choice of the others."""
    if len(places) <= _DRAWN:
        return places
    rest = np.linspace(_SMALLEST, len(places) - 1, _DRAWN - _SMALLEST).astype(int)
    return places[np.concatenate([np.arange(_SMALLEST), rest])]
