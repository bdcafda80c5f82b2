"""The data themselves: Y by X, coloured by the column of Z that says most about both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..inputs import CIData
from ..inputs.sources import SourceColumn, source_columns
from ..numeric.bins import bin_codes, explained_share
from .axes import (
    LEVEL_COLOURS,
    LEVEL_MARKERS,
    NULL_COLOUR,
    label,
    low_to_high,
    name_levels,
    new_axes,
    short,
    shown_rows,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["leading_column", "plot_data"]

_FEW_VALUES = 12  # by hand: with at most so many, points would hide each other and are spread a little
_JITTER = 0.22  # by hand: half the width of that spread, as a share of the smallest gap
_MOST_COLUMNS = 200  # by hand: columns of Z that are compared to find the leading one


def plot_data(data: CIData, ax: Axes | None = None, *, x: str | None = None, y: str | None = None) -> Axes:
    """Draw the raw data: a column of Y by a column of X, coloured by the leading column of Z.

    Values that repeat are spread a little. Of a censored time, crosses are rows without the event.

    Parameters
    ----------
    data
        Prepared inputs.
    ax
        Where to draw; a new figure when not given.
    x, y
        Names of the columns, as encoded or as given; the first of either side when not given.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from spectralcit import prepare
    >>> data = prepare(np.arange(30.0), np.arange(30.0) % 7, np.arange(30.0) % 5)
    >>> plot_data(data, Figure().subplots()).get_title()
    'y by x, coloured by z'
    """
    ax = ax or new_axes()
    across = _column(source_columns(data.x), data.x.names, x)
    up = _column(source_columns(data.y), data.y.names, y)
    rng = np.random.default_rng(0)  # the same data give the same picture
    places = np.column_stack([_spread(one.values, rng) for one in (across, up)])
    event = np.ones(data.n, dtype=bool) if data.y.event is None else data.y.event
    leading = leading_column(data, across, up)
    rows = shown_rows(data.n)
    if leading is None:
        _points(ax, places[rows], event[rows], NULL_COLOUR)
    elif leading.labels:
        _points_by_level(ax, places[rows], event[rows], leading, rows)
    else:
        _points_by_number(ax, places[rows], event[rows], leading, rows)
    for axis, column in ((ax.xaxis, across), (ax.yaxis, up)):
        if column.labels:
            name_levels(axis, column.labels)
    coloured = "" if leading is None else f", coloured by {leading.name}"
    label(ax, across.name, up.name, f"{up.name} by {across.name}{coloured}")
    return ax


def leading_column(data: CIData, x: SourceColumn, y: SourceColumn) -> SourceColumn | None:
    """The column of Z that says most about the encoded columns of two others; ``None`` without Z."""
    if data.z is None:
        return None
    targets = [*data.x.values[:, list(x.members)].T, *data.y.values[:, list(y.members)].T]

    def explained(column: SourceColumn) -> float:
        codes = (
            np.unique(column.values, return_inverse=True)[1] if column.labels else bin_codes(column.values)
        )
        return sum(explained_share(codes, target) for target in targets)

    return max(source_columns(data.z)[:_MOST_COLUMNS], key=explained)


def _column(columns: list[SourceColumn], encoded: tuple[str, ...], wanted: str | None) -> SourceColumn:
    """The source column of this name, or of the encoded column of this name; otherwise the first."""
    for one in columns:
        if wanted is not None and (one.name == wanted or wanted in [encoded[j] for j in one.members]):
            return one
    return columns[0]


def _spread(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    distinct = np.unique(values)
    if len(distinct) > _FEW_VALUES or len(distinct) < 2:
        return values
    return values + _JITTER * np.diff(distinct).min() * rng.uniform(-1, 1, size=len(values))


def _points(ax: Axes, places: np.ndarray, event: np.ndarray, colour: Any, marker: str = "o") -> None:
    """Draw rows; those without the event as crosses. Colours are one, or one per row."""
    for rows, shape in ((event, marker), (~event, "+")):
        if rows.any():
            own = colour if isinstance(colour, str) else colour[rows]
            thin = 0.9 if shape in "x+" else 0.0
            across, up = places[rows].T
            ax.scatter(across, up, c=own, s=16, marker=shape, alpha=0.75, linewidths=thin, rasterized=True)


def _points_by_number(
    ax: Axes, places: np.ndarray, event: np.ndarray, leading: SourceColumn, rows: np.ndarray
) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    low, high = np.quantile(leading.values, [0.02, 0.98])
    if low == high:
        low, high = leading.values.min(), leading.values.max()
    scale = ScalarMappable(Normalize(low, high), low_to_high(NULL_COLOUR, LEVEL_COLOURS[1]))
    _points(ax, places, event, scale.to_rgba(leading.values[rows]))
    bar = ax.figure.colorbar(scale, ax=ax, extend="both", fraction=0.06, pad=0.02)
    bar.set_label(short(leading.name, 36), parse_math=False)


def _points_by_level(
    ax: Axes, places: np.ndarray, event: np.ndarray, leading: SourceColumn, rows: np.ndarray
) -> None:
    """One colour and marker per level; the rarest share the last."""
    counts = np.bincount(leading.values.astype(int), minlength=len(leading.labels))
    own = len(LEVEL_COLOURS) - (len(leading.labels) > len(LEVEL_COLOURS))
    named = list(np.argsort(-counts, kind="stable")[:own])
    codes = leading.values[rows].astype(int)
    groups = [(leading.labels[k], codes == k) for k in named]
    if len(leading.labels) > len(named):
        groups.append((f"{len(leading.labels) - len(named)} others", ~np.isin(codes, named)))
    handles = []
    for k, (text, members) in enumerate(groups):
        _points(ax, places[members], event[members], LEVEL_COLOURS[k], LEVEL_MARKERS[k])
        marker: dict[str, Any] = {"color": LEVEL_COLOURS[k], "marker": LEVEL_MARKERS[k], "linestyle": "none"}
        handles += ax.plot([], [], label=short(text, 14), markersize=5, **marker)
    legend = ax.legend(
        handles=handles,
        title=short(leading.name, 20),
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
    )
    for text in (legend.get_title(), *legend.get_texts()):
        text.set_parse_math(False)
