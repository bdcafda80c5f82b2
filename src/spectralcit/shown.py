"""What a result shows of itself when asked: its report and its picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import MissingExtraError, ParameterError, UnknownTestError
from .question import Question
from .result import CITestResult
from .views import Kept

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .views import LeadingPair

__all__ = ["own_figure", "write_own_report"]

_PANEL = (4.6, 3.4)  # inches; two fit beside each other on a page


def write_own_report(result: CITestResult, path: Path, alpha: float) -> Path:
    """Write the report of a result that still has its data."""
    from .report import write_report

    kept = _kept(result)
    question = result.question or Question(("X",), ("Y",), ("Z",) if kept.data.z is not None else ())
    return write_report(result, path, data=kept.data, question=question, alpha=alpha, params=kept.params)


def own_figure(result: CITestResult) -> Figure:
    """Draw what there is of a result: data, null distribution, kinds of dependence, what Z leaves."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("pictures need matplotlib: pip install 'spectralcit[plot]'") from error
    from .plots import plot_blocks, plot_data, plot_null, plot_partial

    kept = result.kept
    pair = None if kept is None else _pair(result, kept)
    drawings: list[Callable[[Axes], object]] = []
    if kept is not None:
        drawings.append(lambda ax: plot_data(kept.data, ax))
    drawings += [lambda ax: plot_null(result, ax), lambda ax: plot_blocks(result, ax)]
    if pair is not None:
        drawings.append(lambda ax: plot_partial(pair, ax))
    n_rows = (len(drawings) + 1) // 2
    figure = Figure(figsize=(2 * _PANEL[0], n_rows * _PANEL[1]), layout="constrained")
    for place, draw in enumerate(drawings, start=1):
        ax = figure.add_subplot(n_rows, 2, place)
        try:
            draw(ax)
        except ParameterError:  # this result has no such part
            ax.remove()
    figure.suptitle(str(result).partition("\n")[0].replace("$", r"\$"), fontsize="medium", wrap=True)
    return figure


def _kept(result: CITestResult) -> Kept:
    if result.kept is None:
        raise ParameterError(
            "this result no longer has its data: only those of ci_test and .test have them, where they were "
            "made; run the test again, or give the data to spectralcit.report.write_report"
        )
    return result.kept


def _pair(result: CITestResult, kept: Kept) -> LeadingPair | None:
    """The leading pair again, unless that would take long."""
    from .base import make_test
    from .report.html import MAX_PAIR_ROWS

    if result.seed is None or kept.data.incomplete is not None or kept.data.n > MAX_PAIR_ROWS:
        return None
    try:
        return make_test(result.method, **kept.params).leading_pair(kept.data, result.seed)
    except UnknownTestError:  # a class that was never registered
        return None
