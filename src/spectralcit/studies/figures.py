"""Figures of the breast-cancer study: tests with their type I errors; genes, and what prediction gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..benchmark.figure_style import blank_figure
from ..benchmark.metrics import wilson
from .breast_cancer import HITS, BreastCancerStudy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["broken", "draw_genes", "draw_tests"]

_GOOD, _BAD, _QUIET = "#0072B2", "#D55E00", "#6E6E73"  # told apart by colour-blind readers (Okabe and Ito)
_LEAST = {"metagenes": 1e-5, "receptors": 1e-20}  # p-values below are drawn there, as arrows
_LEVEL = 0.05  # of all tests


def broken(counts: Sequence[int]) -> bool:
    """Whether so many rejections of redrawn outcomes are more than chance explains at the level."""
    rejected, redraws = counts
    return redraws > 0 and wilson(rejected, redraws)[0] > _LEVEL


def draw_tests(study: BreastCancerStudy) -> Figure:
    """p-values of all tests, and beside each how often it rejects outcomes that were redrawn given Z."""
    parts = study.parts
    heights = [len(parts["metagenes"]), len(parts["receptors"])]
    figure = blank_figure(8.5, 0.27 * sum(heights) + 1.9)
    rows = figure.subplots(2, 2, gridspec_kw={"height_ratios": heights})
    titles = ("metagenes, metastasis: 189 patients", "receptors, death: 2,837 patients")
    for axes, name, title in zip(rows, ("metagenes", "receptors"), titles, strict=True):
        _draw_pair(axes, parts[name], parts[f"{name} redrawn"], title, _LEAST[name])
    return figure


def _draw_pair(
    axes: Sequence[Axes],
    answers: Sequence[Mapping[str, Any]],
    redrawn: Mapping[str, Sequence[int]],
    title: str,
    least: float,
) -> None:
    left, right = axes
    shown = [answer for answer in answers if answer["pvalue"] is not None]
    places = np.arange(len(shown))[::-1]
    for place, answer in zip(places, shown, strict=True):
        counts = redrawn.get(answer["test"], (0, 0))
        colour = _BAD if broken(counts) else _GOOD
        pvalue = answer["pvalue"]
        left.plot(max(pvalue, least), place, "<" if pvalue < least else "o", color=colour, ms=5)
        if counts[1]:
            low, high = wilson(*counts)
            right.plot([low, high], [place, place], color=colour, lw=1.2)
            right.plot(counts[0] / counts[1], place, "o", color=colour, ms=5)
    names = [answer["test"] for answer in shown]
    left.set_yticks(places, names)
    right.set_yticks(places, [""] * len(places))
    left.set(xscale="log", xlabel="p-value", title=title)
    right.set(xlim=(-0.02, 1.02), xlabel="share rejected, Y redrawn given Z", title="type I error on them")
    for each in (left, right):
        each.axvline(_LEVEL, color=_QUIET, lw=0.8, ls="--")
        each.grid(axis="y", lw=0.3)
        each.spines[["top", "right"]].set_visible(False)


def draw_genes(study: BreastCancerStudy) -> Figure:
    """The screen over all genes, and the area under the curve without X and with it."""
    figure = blank_figure(8.5, 3.6)
    left, right = figure.subplots(1, 2)
    genes = study.parts["screen"]
    height = -np.log10([gene["pvalue"] for gene in genes])
    hit = np.array([gene["qvalue"] <= HITS for gene in genes])
    order = np.arange(1, len(genes) + 1)
    left.plot(order[~hit], height[~hit], "o", color=_QUIET, ms=3, label="other genes")
    left.plot(order[hit], height[hit], "o", color=_BAD, ms=4, label=f"{hit.sum()} with q ≤ {HITS:g}")
    expected = -np.log10((order - 0.5) / len(genes))
    left.plot(order, expected, color=_QUIET, lw=0.8, label="chance alone")
    left.set(xlabel="genes, sorted", ylabel="−log10 p-value", title="one gene at a time, given the clinic")
    left.legend(frameon=False)
    labels: list[str] = []
    for name, words in (("receptors", "death"), ("metagenes", "metastasis")):
        for gain in reversed(study.parts["prediction"][name]):
            if gain["measure"] != "AUC":
                continue
            place = len(labels)
            labels.append(f"{words},\n{gain['model']}")
            right.plot([gain["without"], gain["with_x"]], [place, place], color=_QUIET, lw=1.0)
            right.plot(gain["without"], place, "o", color=_QUIET, label="Z alone" if not place else None)
            right.plot(gain["with_x"], place, "D", color=_GOOD, label="Z and X" if not place else None)
    right.set_yticks(range(len(labels)), labels)
    right.set(xlabel="area under the curve, cross-validated", title="prediction", ylim=(-0.5, len(labels)))
    right.legend(frameon=False, loc="upper right", ncols=2)
    for each in (left, right):
        each.spines[["top", "right"]].set_visible(False)
    return figure
