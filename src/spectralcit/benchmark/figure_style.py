"""What every figure of a benchmark shares: colours, markers, legend, and the files it is written to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["blank_figure", "legend", "legend_handles", "look", "save"]

# Colours that colour-blind readers tell apart (Okabe and Ito); markers repeat the message in print.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
_MARKERS = "osD^vPX*"  # as many as colours, filled and told apart at a small size


def blank_figure(width: float, height: float) -> Figure:
    """Make an empty figure, or say what to install."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("figures need matplotlib: pip install 'spectralcit[plot]'") from error
    return Figure(figsize=(width, height), layout="constrained")


def look(position: int) -> dict[str, Any]:
    """Colour, marker and line of a test."""
    lines = ("-", "--", "-.", ":")
    turn, place = divmod(position, len(_COLOURS))
    colour = _COLOURS[place]
    return {
        "color": colour,
        # When the colours begin anew, neither the marker nor its filling may be the same as before.
        "marker": _MARKERS[(position + turn) % len(_MARKERS)],
        "mfc": "white" if turn % 2 else colour,
        "ls": lines[turn % len(lines)],
        "ms": 4.5,
        "lw": 1.4,
    }


def legend(figure: Figure, present: Sequence[str], style: dict[str, dict[str, Any]]) -> None:
    """Put one legend above all panels."""
    handles = legend_handles(present, style)
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 6), frameon=False)


def legend_handles(present: Sequence[str], style: dict[str, dict[str, Any]]) -> list[Line2D]:
    """Make one entry of a legend per test."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], label=test, **style[test]) for test in present]


def save(figure: Figure, stem: Path) -> None:
    """Write a figure as PNG and SVG."""
    import matplotlib

    figure.savefig(stem.with_name(stem.name + ".png"), dpi=130)
    # The same content gives the same bytes: no date, and no random identifiers.
    with matplotlib.rc_context({"svg.hashsalt": "spectralcit"}):
        figure.savefig(stem.with_name(stem.name + ".svg"), metadata={"Date": None})
