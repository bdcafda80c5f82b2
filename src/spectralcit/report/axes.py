"""What all pictures share: colours that can be read on white and on black, new axes, names, and rows.

Names of columns are drawn as they are: matplotlib would read a pair of dollar signs as mathematics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

__all__ = [
    "LEVEL_COLOURS",
    "LEVEL_MARKERS",
    "MAX_POINTS",
    "NEUTRAL_COLOUR",
    "NULL_COLOUR",
    "STATISTIC_COLOUR",
    "label",
    "low_to_high",
    "name_levels",
    "new_axes",
    "short",
    "shown_rows",
]

# By hand: all keep their contrast on white and on black, and red and blue differ for the colour-blind.
NULL_COLOUR = "#4a80d4"
STATISTIC_COLOUR = "#d9534f"
NEUTRAL_COLOUR = "#8c8c8c"
# Of levels, the last one for the rest; markers tell them apart without colours.
LEVEL_COLOURS = (NULL_COLOUR, "#d08020", "#2f9e78", "#b060c8", "#b39020", NEUTRAL_COLOUR)
LEVEL_MARKERS = ("o", "^", "s", "D", "v", "x")

_MOST_TICKS = 8  # by hand: level names that fit beside each other at the width of a phone
MAX_POINTS = 2000  # by hand: more overlap, and a page with them is slow to open


def new_axes() -> Axes:
    """Axes of a new figure, or an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib: pip install 'spectralcit[plot]'") from error
    return plt.figure(layout="constrained").subplots()


def low_to_high(low: str, high: str) -> Colormap:
    """Colours from low to high values, through grey."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("low to high", [low, NEUTRAL_COLOUR, high])


def label(ax: Axes, across: str, up: str, title: str) -> None:
    """Write names as they are."""
    ax.set_xlabel(short(across), parse_math=False)
    ax.set_ylabel(short(up, 36), parse_math=False)
    ax.set_title(short(title), parse_math=False)


def name_levels(axis: Any, levels: Sequence[str]) -> None:
    """Write levels at 0, 1, ... on an axis; of many, as many as fit."""
    places = np.unique(np.linspace(0, len(levels) - 1, min(len(levels), _MOST_TICKS)).astype(int))
    axis.set_ticks(places, [short(levels[k], 12) for k in places])
    for text in axis.get_ticklabels():
        text.set_parse_math(False)


def short(text: str, limit: int = 48) -> str:
    """Cut a long text."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def shown_rows(n: int) -> np.ndarray:
    """At most `MAX_POINTS` rows spread over all; the same ones every time."""
    return np.unique(np.linspace(0, n - 1, min(n, MAX_POINTS)).astype(int))
