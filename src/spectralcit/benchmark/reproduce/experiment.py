"""`Experiment`: one experiment of the paper as a declaration, from which a suite is made at either scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...errors import ParameterError, suggestion
from ..bundle import work_of
from ..suite import Suite
from .labels import DGCIT_AUTHORS, PUBLISHED_METHOD, TUNED, Entry, entry_of, family_of, with_pruned

__all__ = ["SCALES", "Experiment", "Plan", "expected_seconds"]

SCALES = ("quick", "full")  # half an hour for all nine, and a day

# Processor seconds of one test at n = 1000, one column of X and Y and 50 to 300 columns of Z, measured on one
# core of two EPYC cores. By label where a setting of a test takes longer than its default. An experiment on
# other data states its own where they differ.
_SECONDS = {
    **{"spectral": 0.6, "spectral-paper": 4.0, "kcit": 0.5, "rcit": 0.1, "lpcit": 0.5, "fisher-z": 0.1},
    **{"gcm": 1.0, "pcm": 5.0, "nnlscit": 12.0, "gcit": 5.2, "dgcit": 10.0, DGCIT_AUTHORS: 24.0},
}


@dataclass(frozen=True)
class Plan:
    """How much of an experiment is run at one scale.

    Parameters
    ----------
    grid
        Number of rows ``n`` and parameters of the data set; a list is a grid.
    replicates
        Of each cell.
    slow_replicates
        Of each cell of the slow tests.
    ends
        What of `grid` is different for the slow tests, usually its ends alone.
    hypotheses
        ``"null"``, ``"alternative"`` or both.
    """

    grid: Mapping[str, Any]
    replicates: int
    slow_replicates: int = 0
    ends: Mapping[str, Any] = field(default_factory=dict)
    hypotheses: Sequence[str] = ("null", "alternative")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment of the paper.

    Parameters
    ----------
    name, title
        What the target is called at the command line, and for people.
    source
        Where it stands in the paper.
    seed
        Of its suite. Tuning uses none of them; the sensitivity study has that of the benchmark it varies.
    dataset
        The data set.
    tests
        Names, in the order of the legend; `DEFAULT` and `PUBLISHED` first.
    slow
        Tests that are run with fewer replicates at the quick scale.
    quick, full
        The two scales. The quick one is a part of the full one, so its replicates count for the full one.
    axis
        What is on the horizontal axis of the figure: ``"n"`` or a parameter of the data set.
    quantity
        ``"rate"`` for type I error and power, ``"seconds"`` for time.
    categories
        Names of the values of `axis`, when these are kinds and not amounts.
    variants
        Gives more settings of the published test, by label, at a scale.
    slow_variants
        Gives more of the slow tests, by label, at a scale.
    rows
        Rows of the figure: title and the labels it shows; one row with everything when empty.
    seconds
        Time of a test where it differs from the table of this module.
    """

    name: str
    title: str
    source: str
    seed: int
    dataset: str
    tests: Sequence[str]
    slow: Sequence[str] = ()
    quick: Plan
    full: Plan
    axis: str
    quantity: str = "rate"
    categories: Mapping[float, str] = field(default_factory=dict)
    variants: Callable[[str], dict[str, Entry]] | None = None
    slow_variants: Callable[[str], dict[str, Entry]] | None = None
    rows: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    def figure_rows(self, tests: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Rows of the figure: those declared, or all tests and then the published ones by what they keep."""
        if self.rows or self.quantity != "rate":
            return self.rows
        whole = [label for label in tests if family_of(label) == label]
        pruned = [label for label in tests if label not in whole]
        families = {family_of(label) for label in pruned}
        named = [label for label in tests if family_of(label) in families]
        return {"": whole, "r singular values kept": named} if pruned else {}

    @property
    def alone(self) -> bool:
        """Whether replicates run one at a time, because their time is what is measured."""
        return self.quantity == "seconds"

    def plan(self, scale: str) -> Plan:
        """Return the plan of a scale, ``"quick"`` or ``"full"``."""
        if scale not in SCALES:
            raise ParameterError(f"scale must be quick or full, got {scale!r}.{suggestion(scale, SCALES)}")
        return self.quick if scale == "quick" else self.full

    def suite(
        self,
        scale: str,
        *,
        tuned: Mapping[str, Any] | None = None,
        methods: Sequence[str] | None = None,
        replicates: int | None = None,
    ) -> Suite:
        """Make the suite of a scale.

        Parameters
        ----------
        scale
            ``"quick"`` or ``"full"``.
        tuned
            Parameters with which the published test is run once more, as `TUNED`.
        methods
            Run these tests only, by registered name; all when not given.
        replicates
            Of every cell, the slow tests' too; what the scale says when not given.
        """
        plan = self.plan(scale)
        tests: dict[str, Entry] = {label: entry_of(label) for label in self.tests}
        settings = {TUNED: dict(tuned)} if tuned else {}
        if self.variants is not None:
            settings |= self.variants(scale)
        tests |= {label: {"method": PUBLISHED_METHOD, **params} for label, params in settings.items()}
        slow = {label: entry_of(label) for label in self.slow if plan.slow_replicates}
        if self.slow_variants is not None:
            slow |= self.slow_variants(scale)
        if self.quantity == "rate":
            tests, slow = _all_pruned(tests), _all_pruned(slow)
        if methods is not None:
            self._check_methods(methods)
            tests, slow = (
                {label: entry for label, entry in group.items() if entry["method"] in methods}
                for group in (tests, slow)
            )
        common = {"name": self.dataset, "hypotheses": list(plan.hypotheses)}
        groups = (
            (tests, plan.replicates, plan.grid),
            (slow, plan.slow_replicates, {**plan.grid, **plan.ends}),
        )
        datasets = [
            {
                **common,
                **grid,
                "tests": list(group),
                "replicates": usual if replicates is None else replicates,
            }
            for group, usual, grid in groups
            if group
        ]
        return Suite.define(
            source=f"experiment {self.name}",
            name=self.name,
            description=f"{self.title} ({self.source}), {scale} scale",
            seed=self.seed,
            tests={**tests, **slow},
            datasets=datasets,
        )

    @property
    def methods(self) -> list[str]:
        """Registered names of its tests, each once."""
        labels = (*self.tests, *self.slow)
        return list(dict.fromkeys(entry_of(label)["method"] for label in labels))

    def _check_methods(self, methods: Sequence[str]) -> None:
        for method in methods:
            if method not in self.methods:
                raise ParameterError(
                    f"experiment {self.name} has no test {method!r}.{suggestion(method, self.methods)} "
                    f"Its tests: {', '.join(self.methods)}"
                )


def _all_pruned(tests: Mapping[str, Entry]) -> dict[str, Entry]:
    """The tests, and after each published one those that keep fewer singular values."""
    found: dict[str, Entry] = {}
    for label, entry in tests.items():
        found |= with_pruned(label, entry) if entry["method"] == PUBLISHED_METHOD else {label: entry}
    return found


def expected_seconds(experiment: Experiment, suite: Suite) -> float:
    """Time that an experiment takes on one core: replicates times seconds, over the cells that do work.

    Parameters
    ----------
    experiment
        The experiment.
    suite
        What is run of it.
    """
    seconds = {**_SECONDS, **experiment.seconds}
    work = {work_of(cell): cell for cell in suite.cells}  # a pruned test takes none of its own
    return sum(
        cell.replicates * seconds.get(family_of(cell.test), seconds[cell.method]) for cell in work.values()
    )
