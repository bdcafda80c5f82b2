"""The tests of the experiments by the names they have in tables, figures and stores, and their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...paper.config import PaperConfig
from ...paper.presets import AUTHORS_PROGRAM, preset_parameters
from ...paper.statistic import retained_rank

__all__ = [
    "AUTHORS",
    "DEFAULT",
    "DGCIT_AUTHORS",
    "KCIT_MEDIAN",
    "PUBLISHED",
    "PUBLISHED_METHOD",
    "RCIT_PUBLISHED",
    "RCIT_TUNED",
    "RCIT_WIDE",
    "TUNED",
    "Entry",
    "entry_of",
    "family_of",
    "pruned_label",
    "with_pruned",
]

Entry = dict[str, Any]

# A store is asked by these names, so they must not change.
DEFAULT, PUBLISHED, TUNED = "spectral (default)", "spectral-paper (published)", "spectral-paper (tuned)"
AUTHORS = "spectral-paper (authors' program)"
KCIT_MEDIAN = "kcit (median width)"  # the paper's choice; the rule of causal-learn is the default of our KCIT
RCIT_PUBLISHED = "rcit (as published)"  # ours corrects the null for the regression on Z and computes its tail
RCIT_TUNED = "rcit (as published, tuned)"  # by the paper's protocol: benchmarks/results/tuning/rcit.json
RCIT_WIDE = "rcit (as published, 200 and 20 features)"  # a corner of the paper's grid
DGCIT_AUTHORS = "dgcit (authors' sizes)"  # of the networks, when Z has more than 20 columns
PUBLISHED_METHOD = "spectral-paper"  # the test that the paper is about, whose variants and tuning we run

_RCIT = {"method": "rcit", "approx": "lpb", "df_correction": False}  # what its authors' package does
_ENTRIES: dict[str, Entry] = {  # of the labels that are no registered name
    DEFAULT: {"method": "spectral"},
    PUBLISHED: {"method": PUBLISHED_METHOD},
    AUTHORS: {"method": PUBLISHED_METHOD, **preset_parameters(AUTHORS_PROGRAM)},
    KCIT_MEDIAN: {"method": "kcit", "width": "median"},
    RCIT_PUBLISHED: _RCIT,
    RCIT_TUNED: {**_RCIT, "num_f": 100, "num_f2": 15},
    RCIT_WIDE: {**_RCIT, "num_f": 200, "num_f2": 20},
    DGCIT_AUTHORS: {"method": "dgcit", "hidden": 512, "noise_dim": 50},
}
_MOST_PRUNED = 2  # of the paper's Uniform(0.85, 1) times ten, rounded down: nine or eight are kept


def entry_of(label: str) -> Entry:
    """Return the test behind a label; most are called by their registered name."""
    return _ENTRIES.get(label, {"method": label})


def pruned_label(label: str, retained: int) -> str:
    """Name of a test that keeps so many singular values of the networks of the test `label`.

    Examples
    --------
    >>> pruned_label("spectral-paper (published)", 9), pruned_label("d = 6", 5)
    ('spectral-paper (published, r = 9)', 'd = 6, r = 5')
    """
    return f"{label[:-1]}, r = {retained})" if label.endswith(")") else f"{label}, r = {retained}"


def family_of(label: str) -> str:
    """The label that `pruned_label` was given."""
    head, mark, _ = label.partition(", r = ")
    return head + ")" if mark and label.endswith(")") else head


def with_pruned(label: str, entry: Mapping[str, Any]) -> dict[str, Entry]:
    """A published test and, from the same networks, those that keep d, d - 1 and d - 2 singular values.

    Examples
    --------
    >>> list(with_pruned("d = 2", {"method": "spectral-paper", "output_dim": 2}))
    ['d = 2', 'd = 2, r = 1']
    """
    rank = entry.get("output_dim", PaperConfig().output_dim)
    own = retained_rank(rank, entry.get("perc_dim_prune", 1.0))
    others = [r for r in range(rank, max(0, rank - _MOST_PRUNED - 1), -1) if r != own]
    pruned = {pruned_label(label, r): {**entry, "perc_dim_prune": r / rank} for r in others}
    return {label: dict(entry), **pruned}
