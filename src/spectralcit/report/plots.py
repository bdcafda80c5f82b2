"""Pictures of results, each on an Axes of the caller's or on a new one.

Names of columns are drawn as they are: matplotlib would read a pair of dollar signs as mathematics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ParameterError
from ..result import CITestResult
from .axes import NEUTRAL_COLOUR, NULL_COLOUR, STATISTIC_COLOUR, new_axes
from .null_plot import plot_null

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..views import LeadingPair, SideView

__all__ = [
    "plot_blocks",
    "plot_leading_pair",
    "plot_nuisance",
    "plot_null",
    "plot_partial",
    "plot_residuals",
    "plot_singular_values",
]

MAX_POINTS = 2000  # by hand: more overlap, and a page with them is slow to open
_SMALLEST_DRAWN = 1e-16  # a p-value below is drawn at this length, with its number beside it
_ALONG = {"linear": "a direction", "square": "the square of a direction"}  # shapes of a learned pair
_N_BINS = 12  # by hand: enough to follow a bend, few enough for short error bars


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
    >>> [float(bar.get_height()) for bar in plot_singular_values(result, Figure().subplots()).patches]
    [0.4, 0.1]
    """
    values = _diagnostic(result, "singular_values")
    ax = ax or new_axes()
    places = np.arange(1, len(values) + 1)
    ax.bar(places, values, width=0.6, color=NULL_COLOUR)
    if len(values) <= 12:
        ax.set_xticks(places)
    ax.set_ylim(0.0, max(1.0, 1.05 * max(values)))
    ax.set_xlabel("pair of features")
    ax.set_ylabel("singular value")
    ax.set_title("strength of the leading pairs")
    return ax


def plot_blocks(result: CITestResult, ax: Axes | None = None) -> Axes:
    """Draw the p-value of each kind of dependence; a longer bar is stronger evidence.

    Parameters
    ----------
    result
        A result with ``diagnostics["block_pvalues"]``, as the default test gives.
    ax
        Where to draw; a new figure when not given.
    """
    pvalues = _diagnostic(result, "block_pvalues")
    ax = ax or new_axes()
    lengths = [-np.log10(max(p, _SMALLEST_DRAWN)) for p in pvalues.values()]
    places = np.arange(len(pvalues))[::-1]
    ax.barh(places, lengths, height=0.6, color=NULL_COLOUR)
    for place, length, p in zip(places, lengths, pvalues.values(), strict=True):
        ax.annotate(
            f"{p:.2g}", (length, place), (4, 0), textcoords="offset points", va="center", fontsize="small"
        )
    ax.set_yticks(places, list(pvalues), fontsize="small")
    ax.set_xlim(0.0, 1.25 * max(*lengths, 2.0))
    ax.set_xlabel("−log₁₀ of the block's own p-value")
    ax.set_title("kinds of dependence")
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
    explained = [max(0.0, side["r_squared"]) for side in sides]
    spent = [side["degrees_of_freedom"] / result.n for side in sides]
    places = np.array([1.0, 0.0])
    ax.barh(places + 0.19, explained, height=0.34, color=NULL_COLOUR, label="variance explained by Z")
    ax.barh(places - 0.19, spent, height=0.34, color=NEUTRAL_COLOUR, label="degrees of freedom spent")
    ax.set_yticks(places, ["X", "Y"])
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(-0.55, 2.0)
    ax.set_xlabel("share")
    ax.set_title("what Z explains")
    ax.legend(loc="upper right", frameon=False, fontsize="small")
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
    from matplotlib.colors import LinearSegmentedColormap

    ax = ax or new_axes()
    rows = _some(len(pair.u))
    u, v = pair.u[rows], pair.v[rows]
    product = u * v
    reach = max(float(np.quantile(np.abs(product), 0.95)), 1e-12)
    colours = LinearSegmentedColormap.from_list("product", [NULL_COLOUR, NEUTRAL_COLOUR, STATISTIC_COLOUR])
    points = ax.scatter(
        u, v, c=product, cmap=colours, vmin=-reach, vmax=reach, s=14, alpha=0.8, linewidths=0, rasterized=True
    )
    ax.axhline(0.0, color=NEUTRAL_COLOUR, linewidth=0.7)
    ax.axvline(0.0, color=NEUTRAL_COLOUR, linewidth=0.7)
    ax.figure.colorbar(points, ax=ax, label="u₁ · v₁", extend="both")
    kinds = ["a function"] * 2 if pair.shapes is None else [_ALONG[shape] for shape in pair.shapes]
    ax.set_xlabel(f"u₁, {kinds[0]} of X")
    ax.set_ylabel(f"v₁, {kinds[1]} of Y")
    ax.set_title(f"leading pair: mean product {pair.correlation:.2f}")
    return ax


def plot_residuals(side: SideView, ax: Axes | None = None) -> Axes:
    """Draw what Z leaves of a column against what Z predicts; a good fit leaves a level band.

    Parameters
    ----------
    side
        ``pair.x`` or ``pair.y`` of a leading pair.
    ax
        Where to draw; a new figure when not given.
    """
    ax = ax or new_axes()
    _cloud(ax, side.predicted, side.residual)
    _label(ax, f"{side.name}: what Z predicts", "residual", f"{side.name}: residual against prediction")
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
    ax = ax or new_axes()
    _cloud(ax, pair.x.residual, pair.y.residual)
    _label(ax, f"{pair.x.name} without Z", f"{pair.y.name} without Z", "residual against residual")
    return ax


def _cloud(ax: Axes, across: np.ndarray, up: np.ndarray) -> None:
    """Draw points, and the mean of `up` in bins of `across` with two standard errors on either side."""
    rows = _some(len(across))
    ax.scatter(
        across[rows],
        up[rows],
        s=10,
        alpha=0.6,
        linewidths=0,
        color=NULL_COLOUR,
        rasterized=True,
        label="rows",
    )
    bins = [part for part in np.array_split(np.argsort(across, kind="stable"), _N_BINS) if len(part) > 1]
    means = np.array([up[part].mean() for part in bins])
    errors = np.array([2.0 * up[part].std(ddof=1) / np.sqrt(len(part)) for part in bins])
    centres = np.array([across[part].mean() for part in bins])
    ax.errorbar(
        centres,
        means,
        errors,
        color=STATISTIC_COLOUR,
        linewidth=1.5,
        marker="o",
        markersize=3,
        label="mean ± 2 s.e.",
    )
    ax.axhline(0.0, color=NEUTRAL_COLOUR, linewidth=0.7)
    low, high = np.quantile(up, [0.005, 0.995])
    margin = 0.15 * (high - low)
    if margin > 0.0:  # a few far points would flatten all the rest
        ax.set_ylim(min(low, (means - errors).min()) - margin, max(high, (means + errors).max()) + margin)
    ax.legend(loc="best", frameon=False, fontsize="small")


def _label(ax: Axes, across: str, up: str, title: str) -> None:
    ax.set_xlabel(_short(across), parse_math=False)
    ax.set_ylabel(_short(up), parse_math=False)
    ax.set_title(_short(title), parse_math=False)


def _short(text: str, limit: int = 48) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _some(n: int) -> np.ndarray:
    """At most `MAX_POINTS` rows spread over all; the same ones every time."""
    return np.unique(np.linspace(0, n - 1, min(n, MAX_POINTS)).astype(int))


def _diagnostic(result: CITestResult, name: str):  # type: ignore[no-untyped-def]
    value = result.diagnostics.get(name)
    if not value:
        raise ParameterError(f"this result of {result.method!r} has no diagnostics[{name!r}] to draw")
    return value
