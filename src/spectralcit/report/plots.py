"""Pictures of results, each on an Axes of the caller's or on a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ParameterError
from ..result import CITestResult
from ..verdict import kind_in_words, pvalue_text
from .axes import (
    NEUTRAL_COLOUR,
    NULL_COLOUR,
    STATISTIC_COLOUR,
    label,
    low_to_high,
    name_levels,
    new_axes,
    shown_rows,
)
from .null_plot import plot_null

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..views import BinnedMeans, LeadingPair, SideView

__all__ = [
    "MOST_KINDS",
    "plot_blocks",
    "plot_leading_pair",
    "plot_nuisance",
    "plot_null",
    "plot_partial",
    "plot_residuals",
    "plot_singular_values",
]

MOST_KINDS = 6  # by hand: kinds of dependence that are drawn, the most surprising ones
_SMALLEST_DRAWN = 1e-16  # a bar for a smaller p-value is cut here, and marked
_ALONG = {"linear": "a direction", "square": "the square of a direction"}  # shapes of a learned pair


def plot_singular_values(result: CITestResult, ax: Axes | None = None) -> Axes:
    """Draw the singular values: how strongly the leading pairs of features are tied given Z.

    Parameters
    ----------
    result
        A result with ``diagnostics["singular_values"]``.
    ax
        Where to draw; a new figure when not given.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from spectralcit import CITestResult, NullDistribution
    >>> result = CITestResult(
    ...     1.0, 0.5, "toy", 100, NullDistribution("normal"), diagnostics={"singular_values": [0.4, 0.1]}
    ... )
    >>> plot_singular_values(result, Figure().subplots()).lines[0].get_ydata().tolist()
    [0.4, 0.1]
    """
    values = _diagnostic(result, "singular_values")
    ax = ax or new_axes()
    places = np.arange(1, len(values) + 1)
    # Stems: a single value as a bar would be a wall across the picture.
    ax.plot(places, values, "o", color=NULL_COLOUR)
    ax.vlines(places, 0.0, values, color=NULL_COLOUR, linewidth=2)
    if len(values) <= 12:
        ax.set_xticks(places)
    ax.set_xlim(0.5, max(len(values), 3) + 0.5)
    ax.set_ylim(0.0, max(1.0, 1.05 * max(values)))
    ax.set_xlabel("pair of features")
    ax.set_ylabel("strength")
    ax.set_title("strength of the leading pairs")
    return ax


def plot_blocks(result: CITestResult, ax: Axes | None = None) -> Axes:
    """Draw the p-values of the most surprising kinds of dependence; a longer bar is stronger evidence.

    Parameters
    ----------
    result
        A result with ``diagnostics["block_pvalues"]``, as the default test gives.
    ax
        Where to draw; a new figure when not given.
    """
    pvalues = _diagnostic(result, "block_pvalues")
    ax = ax or new_axes()
    drawn = sorted(pvalues.items(), key=lambda item: item[1])[:MOST_KINDS]
    lengths = [-np.log10(max(p, _SMALLEST_DRAWN)) for _, p in drawn]
    places = np.arange(len(drawn), 0, -1)
    ax.barh(places - 0.2, lengths, height=0.3, color=NULL_COLOUR)
    for place, length, (name, p) in zip(places, lengths, drawn, strict=True):
        cut = p < _SMALLEST_DRAWN
        if cut:
            ax.plot([length], [place - 0.2], marker=">", markersize=9, color=NULL_COLOUR, clip_on=False)
        words = f"{pvalue_text(p)}, bar cut" if cut else pvalue_text(p)
        at: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": "small"}
        ax.annotate(words, (length, place - 0.2), (8 if cut else 4, 0), **at)
        # Above its bar: sentences beside bars would leave no room for these on a phone.
        ax.annotate(kind_in_words(name, "X", "Y") or name, (0.0, place + 0.13), (2, 0), **at)
    ax.set_yticks([])
    ax.set_ylim(0.5, len(drawn) + 0.5)
    ax.set_xlim(0.0, 1.45 * max(*lengths, 2.0))
    ax.set_xlabel("−log₁₀ of its own p-value")
    more = f": the {len(drawn)} most surprising of {len(pvalues)}" if len(pvalues) > len(drawn) else ""
    ax.set_title(f"kinds of dependence{more}")
    return ax


def plot_nuisance(result: CITestResult, ax: Axes | None = None) -> Axes:
    """Draw how much of X and Y is explained by Z out of sample, and the share of degrees of freedom spent.

    Parameters
    ----------
    result
        A result with ``diagnostics["x"]`` and ``["y"]``, as the default test gives.
    ax
        Where to draw; a new figure when not given.
    """
    sides = [_diagnostic(result, role) for role in ("x", "y")]
    ax = ax or new_axes()
    shares = [
        (share, text)
        for side in sides
        for share, text in (
            (side["r_squared"], "variance explained"),
            (side["degrees_of_freedom"] / result.n, "degrees of freedom spent"),
        )
    ]
    places = np.array([3.2, 2.4, 1.0, 0.2])
    colours = [NULL_COLOUR, NEUTRAL_COLOUR] * 2
    ax.barh(places, [np.clip(share, 0.0, 1.0) for share, _ in shares], height=0.34, color=colours)
    for place, (share, text) in zip(places, shares, strict=True):
        number = "less than nothing, drawn as 0" if share < 0.0 else f"{share:.0%}"
        at: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": "small"}
        ax.annotate(f"{text}: {number}", (0.0, place + 0.35), (2, 0), **at)
    ax.set_yticks([2.8, 0.6], ["X", "Y"])
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(-0.2, 4.0)
    ax.set_xlabel("share")
    ax.set_title("what Z explains, and at what cost")
    return ax


def plot_leading_pair(pair: LeadingPair, ax: Axes | None = None) -> Axes:
    """Draw the leading pair of features against each other, coloured by their product.

    The mean of the product is the correlation that is left when Z is known: red points raise it, blue ones
    lower it.

    Parameters
    ----------
    pair
        From `leading_pair`, or what `BaseCITest.examine` hands back.
    ax
        Where to draw; a new figure when not given.
    """
    ax = ax or new_axes()
    rows = shown_rows(len(pair.u))
    u, v = pair.u[rows], pair.v[rows]
    product = u * v
    reach = max(float(np.quantile(np.abs(product), 0.95)), 1e-12)
    colours = low_to_high(NULL_COLOUR, STATISTIC_COLOUR)
    points = ax.scatter(
        u, v, c=product, cmap=colours, vmin=-reach, vmax=reach, s=14, alpha=0.8, linewidths=0, rasterized=True
    )
    ax.axhline(0.0, color=NEUTRAL_COLOUR, linewidth=0.7)
    ax.axvline(0.0, color=NEUTRAL_COLOUR, linewidth=0.7)
    ax.figure.colorbar(points, ax=ax, label="product of both", extend="both", fraction=0.06, pad=0.02)
    kinds = ["a function"] * 2 if pair.shapes is None else [_ALONG[shape] for shape in pair.shapes]
    ax.set_xlabel(f"{kinds[0]} of X")
    ax.set_ylabel(f"{kinds[1]} of Y")
    ax.set_title(f"leading pair: mean product {pair.correlation:.2f}")
    return ax


def plot_residuals(side: SideView, ax: Axes | None = None) -> Axes:
    """Draw what Z leaves of a column along the column of Z of which most is left, with a band.

    When Z was removed, the means stay inside of the band, for all columns of Z at once, in 99 of 100 data
    sets. Columns of Z take no part in the noise of the residuals, unlike predictions from Z.

    Parameters
    ----------
    side
        ``pair.x`` or ``pair.y`` of a leading pair.
    ax
        Where to draw; a new figure when not given.
    """
    if side.remainder is None:
        raise ParameterError(f"nothing was removed from {side.name!r}: there is no Z to draw it against")
    ax = ax or new_axes()
    _cloud(ax, side.remainder, side.residual)
    along = side.remainder.along
    label(ax, along, f"{side.name} without Z", f"{side.name} without Z, along {along}")
    return ax


def plot_partial(pair: LeadingPair, ax: Axes | None = None) -> Axes:
    """Draw the residual of a column of Y against that of a column of X: what is tied when Z is removed.

    Parameters
    ----------
    pair
        From `leading_pair`, or what `BaseCITest.examine` hands back.
    ax
        Where to draw; a new figure when not given.
    """
    if pair.partial is None:
        raise ParameterError("this leading pair has no means of one residual along the other to draw")
    ax = ax or new_axes()
    _cloud(ax, pair.partial, pair.y.residual)
    if pair.x.remainder is None:
        label(ax, pair.x.name, pair.y.name, f"means of {pair.y.name} along {pair.x.name}")
    else:
        label(ax, f"{pair.x.name} without Z", f"{pair.y.name} without Z", "what is left of both without Z")
    return ax


def _cloud(ax: Axes, found: BinnedMeans, up: np.ndarray) -> None:
    """Draw points, the means in bins, and the band that holds these when there is nothing to see."""
    rows = shown_rows(len(up))
    across = found.position
    if found.labels:  # points of one level would lie on a line
        across = across + np.random.default_rng(0).uniform(-0.22, 0.22, size=len(across))
    ax.scatter(across[rows], up[rows], s=10, alpha=0.5, linewidths=0, color=NULL_COLOUR, rasterized=True)
    band: dict[str, Any] = {
        "color": NEUTRAL_COLOUR,
        "alpha": 0.45,
        "linewidth": 0,
        "label": f"{found.level:.0%} band",
    }
    if found.labels:
        ax.bar(found.centres, 2 * found.margin, 0.6, bottom=-found.margin, **band)
    else:
        ax.fill_between(found.centres, -found.margin, found.margin, **band)
    ax.axhline(0.0, color=NEUTRAL_COLOUR, linewidth=0.7)
    line = "none" if found.labels else "-"  # between levels there is nothing
    ax.plot(
        found.centres,
        found.means,
        color=STATISTIC_COLOUR,
        linewidth=1.5,
        linestyle=line,
        marker="o",
        markersize=3.5,
        label="mean",
    )
    if found.labels:
        name_levels(ax.xaxis, found.labels)
    low, high = np.quantile(up, [0.005, 0.995])
    reach = np.abs(found.means).max() + found.margin.max()
    low, high = min(low, -reach), max(high, reach)
    if high > low:  # a few far points would flatten all the rest
        ax.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))
    ax.legend(loc="best", frameon=False, fontsize="small")


def _diagnostic(result: CITestResult, name: str):  # type: ignore[no-untyped-def]
    value = result.diagnostics.get(name)
    if not value:
        raise ParameterError(f"this result of {result.method!r} has no diagnostics[{name!r}] to draw")
    return value
