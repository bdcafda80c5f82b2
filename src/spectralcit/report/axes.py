"""What all pictures share: colours that can be read on white and on black, and new axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["NEUTRAL_COLOUR", "NULL_COLOUR", "STATISTIC_COLOUR", "new_axes"]

# By hand: all three keep their contrast on white and on black, and red and blue differ for the colour-blind.
NULL_COLOUR = "#4a80d4"
STATISTIC_COLOUR = "#d9534f"
NEUTRAL_COLOUR = "#8c8c8c"


def new_axes() -> Axes:
    """Axes of a new figure, or an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib: pip install 'spectralcit[plot]'") from error
    return plt.figure(layout="constrained").subplots()
