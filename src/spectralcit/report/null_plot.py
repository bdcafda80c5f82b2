"""A statistic against its null distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from ..errors import ParameterError
from ..result import CITestResult, NullDistribution
from ..verdict import pvalue_text
from .axes import NULL_COLOUR, STATISTIC_COLOUR, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["null_in_words", "plot_null"]

_MIXTURE_DRAWS = 20_000  # a bin of the histogram is then right within about 3 %
# By hand: a statistic this many widths of the null away is marked by an arrow at the edge instead.
_REACH = 2.0


def plot_null(result: CITestResult, ax: Axes | None = None) -> Axes:
    """Draw the statistic of `result` against the null distribution it is compared with.

    The curve (or histogram, for a null distribution known through draws) shows what the statistic does when X
    and Y are independent given Z; the shaded part is at least as extreme as the statistic, so its area is the
    p-value.

    Parameters
    ----------
    result
        A result whose null distribution is ``"chi2"`` with ``df``, ``"normal"``, ``"gamma"`` with ``shape``
        and ``scale``, ``"f"`` with ``df1`` and ``df2``, ``"chi2_mixture"`` with ``weights``, or any with
        ``draws``, such as ``"bootstrap"``.
    ax
        Where to draw; a new figure when not given.

    Returns
    -------
    matplotlib.axes.Axes
        The axes, for further touches.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from spectralcit import CITestResult, NullDistribution
    >>> result = CITestResult(9.0, 0.061, "toy", 100, NullDistribution("chi2", {"df": 4}))
    >>> plot_null(result, ax=Figure().subplots()).get_xlabel()
    'statistic'
    """
    draw = _PAINTERS.get(result.null.name, _paint_bootstrap if "draws" in result.null.parameters else None)
    if draw is None:
        known = ", ".join(sorted(_PAINTERS))
        raise ParameterError(f"cannot draw the null distribution {result.null.name!r}; known are: {known}")
    if ax is None:
        ax = new_axes()
    low, high = draw(ax, result)
    _mark_statistic(ax, result.statistic, low, high)
    text = pvalue_text(result.pvalue)
    ax.set_title(f"{result.method}: p {text if text.startswith('<') else f'= {text}'}")
    ax.set_xlabel("statistic")
    ax.set_ylabel("density under the null")
    ax.legend(loc="best", frameon=False, fontsize="small")
    return ax


def null_in_words(null: NullDistribution) -> str:
    """What the statistic is compared with.

    Examples
    --------
    >>> null_in_words(NullDistribution("chi2", {"df": 4}))
    'without a tie: chi2(df=4)'
    >>> null_in_words(NullDistribution("bootstrap", {"draws": [0.1, 0.2]}))
    'without a tie: 2 draws'
    """
    draws = null.parameters.get("draws")
    if isinstance(draws, list):
        return f"without a tie: {null.parameters.get('n_draws', len(draws))} draws"
    weights = null.parameters.get("weights")
    if isinstance(weights, list):
        return f"without a tie: {len(weights)} weighted χ²"
    return f"without a tie: {null}"


def _mark_statistic(ax: Axes, statistic: float, low: float, high: float) -> None:
    """Draw the statistic as a line, or as an arrow at the edge when the null would shrink to a sliver."""
    label = f"statistic {statistic:.4g}"
    width = high - low
    margin = 0.05 * width
    if low - _REACH * width <= statistic <= high + _REACH * width:
        ax.axvline(statistic, color=STATISTIC_COLOUR, linewidth=2, label=label)
        ax.set_xlim(min(low, statistic) - margin, max(high, statistic) + margin)
        return
    to_the_right = statistic > high
    ax.set_xlim(low - margin - (not to_the_right) * 0.4 * width, high + margin + to_the_right * 0.4 * width)
    tip, tail = (1.0, 0.86) if to_the_right else (0.0, 0.14)
    ax.annotate(
        "",
        xy=(tip, 0.25),
        xytext=(tail, 0.25),
        xycoords="axes fraction",
        arrowprops={"arrowstyle": "-|>", "color": STATISTIC_COLOUR, "linewidth": 2},
    )
    ax.plot([], [], color=STATISTIC_COLOUR, linewidth=2, label=f"{label} (off the chart)")


def _paint_density(ax: Axes, result: CITestResult, frozen: Any) -> tuple[float, float]:
    """Draw a continuous null distribution (a frozen one of SciPy) and return the range it fills."""
    low, high = (float(end) for end in frozen.ppf([1e-4, 1 - 1e-4]))
    width = high - low
    reach = np.clip(result.statistic, low - _REACH * width, high + _REACH * width)
    grid = np.linspace(min(low, reach), max(high, reach), 2000)
    density = frozen.pdf(grid)
    ax.plot(grid, density, color=NULL_COLOUR, label=null_in_words(result.null))
    for extreme in _tails(grid, result, frozen):
        ax.fill_between(grid, density, where=extreme, color=NULL_COLOUR, alpha=0.35, linewidth=0)
    # chi2 with one degree of freedom has a pole at zero, which would flatten all the rest.
    bulk = float(frozen.pdf(frozen.ppf(np.linspace(0.2, 0.8, 50))).max())
    ax.set_ylim(0.0, min(1.08 * float(density[np.isfinite(density)].max()), 2 * bulk))
    return low, high


def _tails(grid: np.ndarray, result: CITestResult, frozen: Any) -> list[np.ndarray]:
    """Return the tails that make up the p-value: one of them, or both when it is two-sided."""
    size = abs(result.statistic)
    one_sided, two_sided = frozen.sf(result.statistic), frozen.sf(size) + frozen.cdf(-size)
    if abs(two_sided - result.pvalue) < abs(one_sided - result.pvalue):
        return [grid >= size, grid <= -size]
    return [grid >= result.statistic]


def _paint_draws(ax: Axes, result: CITestResult, draws: np.ndarray) -> tuple[float, float]:
    """Draw a null distribution known through draws and return the range it fills."""
    n_bins = min(60, max(10, len(draws) // 20))
    heights, edges = np.histogram(draws, bins=n_bins, density=True)
    ax.stairs(heights, edges, color=NULL_COLOUR, label=null_in_words(result.null))
    # The bin that the statistic falls into is shaded from the statistic on.
    left = np.clip(edges[:-1], result.statistic, edges[1:])
    ax.bar(left, heights, edges[1:] - left, align="edge", color=NULL_COLOUR, alpha=0.35, linewidth=0)
    ax.set_ylim(0.0, 1.08 * heights.max())
    return float(edges[0]), float(edges[-1])


def _paint_chi2(ax: Axes, result: CITestResult) -> tuple[float, float]:
    return _paint_density(ax, result, stats.chi2(_parameter(result, "df")))


def _paint_normal(ax: Axes, result: CITestResult) -> tuple[float, float]:
    return _paint_density(ax, result, stats.norm())


def _paint_gamma(ax: Axes, result: CITestResult) -> tuple[float, float]:
    return _paint_density(
        ax, result, stats.gamma(_parameter(result, "shape"), scale=_parameter(result, "scale"))
    )


def _paint_f(ax: Axes, result: CITestResult) -> tuple[float, float]:
    return _paint_density(ax, result, stats.f(_parameter(result, "df1"), _parameter(result, "df2")))


def _paint_chi2_mixture(ax: Axes, result: CITestResult) -> tuple[float, float]:
    # No closed form: draw from it, with a fixed seed so that the same result gives the same picture.
    weights = np.asarray(_parameter(result, "weights"), dtype=np.float64)
    rng = np.random.default_rng(0)
    draws = sum((weight * rng.chisquare(1, _MIXTURE_DRAWS) for weight in weights), np.zeros(_MIXTURE_DRAWS))
    return _paint_draws(ax, result, draws)


def _paint_bootstrap(ax: Axes, result: CITestResult) -> tuple[float, float]:
    return _paint_draws(ax, result, np.asarray(_parameter(result, "draws"), dtype=np.float64))


def _parameter(result: CITestResult, name: str) -> Any:
    value = result.null.parameters.get(name)
    if value is None or (isinstance(value, list) and not value):
        raise ParameterError(
            f"the null distribution {result.null.name!r} of this result has no {name!r} to draw"
        )
    return value


# By the names that tests give their null distributions.
_PAINTERS: dict[str, Callable[[Axes, CITestResult], tuple[float, float]]] = {
    "chi2": _paint_chi2,
    "normal": _paint_normal,
    "gamma": _paint_gamma,
    "f": _paint_f,
    "chi2_mixture": _paint_chi2_mixture,
    "bootstrap": _paint_bootstrap,
}
