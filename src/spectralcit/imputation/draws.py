"""Completed tables, drawn as if X and Y were tied through Z only.

Under the null hypothesis the joint law is p(z) p(x|z) p(y|z). So a missing x is drawn given z (and the other
columns of X) without a look at y, a missing y likewise, and a missing z_j from

    p(z_j | the rest)  ∝  p(z_j | the other columns of Z) · p(x | z) · p(y | z).

The three factors are fitted to all rows as they are completed now, not to complete rows, which are a biased
choice where cells are missing because of x and y; so fits and draws alternate until they agree. Values for
z_j are proposed from p(z_j | other z) and from a direct regression of z_j on everything, and chosen by
importance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..inputs.columns import Column
from ..inputs.encode import is_discrete
from ..inputs.read import Table
from .models import Levels, Numbers, fit_levels, fit_numbers
from .side import Side, fit_side

__all__ = ["completed_tables"]

# Sweeps before the first draw and between two: measured, see docs/missing-values.md.
_FIRST, _BETWEEN = 5, 2
_PROPOSALS = 64  # values weighed for each missing cell of Z; by hand: a few within a tenth of its spread
# In all, and at least for each cell, where very many cells are missing; by hand, for the time.
_MOST_PROPOSALS, _FEWEST_PROPOSALS = 200_000, 24
_LARGEST_FIT = 4000  # rows that one model is fitted to: by hand, more would not change what it can tell
_MOST_INDICATORS = 30  # of a category as a predictor; by hand: its rarer levels are one


class _Variable:
    """One column while it is being completed."""

    def __init__(self, column: Column, role: str) -> None:
        self.column = column
        self.role = role
        self.missing = column.missing
        seen = column.values[~self.missing]
        self.is_numeric = column.levels is None
        self.has_levels = not self.is_numeric or is_discrete(seen)
        self.distinct = np.unique(seen)
        self.is_continuous = len(self.distinct) > 0.9 * len(seen)  # by hand: others keep to values seen
        self.bounds = _bounds(self.distinct)
        self.values = column.values.copy()
        self.values[self.missing] = _middle(seen, numeric=self.is_numeric)

    def encoded(self, values: np.ndarray | None = None) -> np.ndarray:
        """The column, or other `values` of it, as predictors."""
        values = self.values if values is None else values
        if self.is_numeric:
            return values[:, None]
        shown = self.column.values[~self.missing]
        levels, counts = np.unique(shown, return_counts=True)
        kept = levels[np.argsort(-counts, kind="stable")][: min(_MOST_INDICATORS, len(levels) - 1)]
        return (values[:, None] == kept).astype(np.float64)

    def admissible(self, values: np.ndarray) -> np.ndarray:
        """Numbers not far beyond those seen, and among them when these repeat."""
        if self.is_continuous:
            return np.clip(values, *self.bounds)
        right = np.clip(np.searchsorted(self.distinct, values), 1, len(self.distinct) - 1)
        left = right - 1
        nearer = values - self.distinct[left] < self.distinct[right] - values
        return self.distinct[np.where(nearer, left, right)]

    def finished(self) -> Column:
        return replace(self.column, values=self.values.copy())


def completed_tables(tables: Sequence[Table], count: int, rng: np.random.Generator) -> Iterator[list[Table]]:
    """`count` completions of the tables of x, y and possibly z, in which every column has some values.

    Parameters
    ----------
    tables
        Of the roles ``x``, ``y`` and possibly ``z``, with missing values.
    count
        How many.
    rng
        The only source of randomness.
    """
    chain = _Chain(tables, rng)
    for k in range(count):
        chain.advance(_FIRST if k == 0 else _BETWEEN)
        yield chain.tables()


class _Chain:
    """Fits and draws in turn."""

    def __init__(self, tables: Sequence[Table], rng: np.random.Generator) -> None:
        self._templates = tables
        self._rng = rng
        self._roles = {t.role: [_Variable(column, t.role) for column in t.columns] for t in tables}
        self._roles.setdefault("z", [])
        self._lacking = {r: [v for v in each if v.missing.any()] for r, each in self._roles.items()}
        for variable in self._lacking["z"]:  # rows with z_j are a fair sample of z_j given all the rest
            others = [v for role in self._roles.values() for v in role if v is not variable]
            self._draw(variable, others)
        # Given a complete Z and one incomplete column per side, every draw is a first draw.
        self._is_chain = bool(self._lacking["z"]) or any(len(self._lacking[side]) > 1 for side in "xy")

    def advance(self, sweeps: int) -> None:
        """Draw all missing cells anew, `sweeps` times."""
        for _ in range(sweeps if self._is_chain else 1):
            if self._lacking["z"]:
                sides = [(self._fit_side(side), self._seen(side)) for side in "xy"]
                for variable in self._lacking["z"]:
                    self._draw_z(variable, sides)
            for side in "xy":
                for variable in self._lacking[side]:
                    others = [v for v in self._roles[side] if v is not variable]
                    self._draw(variable, [*self._roles["z"], *others])

    def tables(self) -> list[Table]:
        return [
            replace(template, columns=tuple(v.finished() for v in self._roles[template.role]))
            for template in self._templates
        ]

    def _draw(self, variable: _Variable, given: list[_Variable]) -> None:
        """Draw the missing cells given other columns, from a model of the rows that have them."""
        design, gone = self._design(given), variable.missing
        seen = self._sample(~gone)
        if variable.has_levels:
            levels = fit_levels(variable.values[seen], design[seen])
            chosen = _choose(levels.log_probabilities(design[gone]), self._rng)
            variable.values[gone] = levels.levels[chosen]
        else:
            model = fit_numbers(variable.values[seen, None], design[seen])
            variable.values[gone] = variable.admissible(model.propose(design[gone], 1, self._rng)[:, 0])

    def _draw_z(self, variable: _Variable, sides: list[tuple[Side, np.ndarray]]) -> None:
        rows = np.flatnonzero(variable.missing)
        others = self._design([v for v in self._roles["z"] if v is not variable])
        everyone = self._sample(np.ones(len(variable.values), dtype=bool))
        prior: Levels | Numbers
        if variable.has_levels:
            prior = fit_levels(variable.values[everyone], others[everyone])
            proposals = np.broadcast_to(prior.levels, (len(rows), len(prior.levels)))
            weights = prior.log_probabilities(others[rows])
        else:
            prior = fit_numbers(variable.values[everyone, None], others[everyone])
            proposals, weights = self._propose(variable, prior, others, everyone)
        count = proposals.shape[1]
        design = np.hstack(
            [
                variable.encoded(proposals.ravel())
                if each is variable
                else np.repeat(each.encoded()[rows], count, axis=0)
                for each in self._roles["z"]
            ]
        )
        for side, (model, seen) in zip("xy", sides, strict=True):
            known = seen[rows]  # a row without any value on this side says nothing here
            if known.any():
                values = [v.values[rows][known] for v in self._roles[side]]
                at = design[np.repeat(known, count)]
                weights[known] += model.log_density(values, at, count)
        chosen = _choose(weights, self._rng)
        variable.values[rows] = np.take_along_axis(proposals, chosen[:, None], axis=1)[:, 0]

    def _propose(
        self, variable: _Variable, prior: Numbers, others: np.ndarray, everyone: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Numbers for missing cells, half from the prior, half from a direct fit, and their log weights."""
        rows = np.flatnonzero(variable.missing)
        all_others = [v for role in self._roles.values() for v in role if v is not variable]
        everything = self._design(all_others)
        direct = fit_numbers(variable.values[everyone, None], everything[everyone])
        half = int(np.clip(_MOST_PROPOSALS // len(rows), _FEWEST_PROPOSALS, _PROPOSALS)) // 2
        proposals = np.hstack(
            [prior.propose(others[rows], half, self._rng), direct.propose(everything[rows], half, self._rng)]
        )
        proposals = variable.admissible(proposals)
        of_prior, of_direct = (
            model.log_density(proposals, *model.location_and_spread(at[rows]))
            for model, at in ((prior, others), (direct, everything))
        )
        return proposals, of_prior - np.logaddexp(of_prior, of_direct)

    def _fit_side(self, side: str) -> Side:
        variables = self._roles[side]
        complete = ~np.logical_or.reduce([v.missing for v in variables])
        rows = self._sample(complete if complete.sum() > len(complete) // 2 else np.ones_like(complete))
        return fit_side(
            [v.values[rows] for v in variables],
            [v.has_levels for v in variables],
            self._design(self._roles["z"])[rows],
        )

    def _seen(self, side: str) -> np.ndarray:
        return ~np.logical_and.reduce([v.missing for v in self._roles[side]])

    def _design(self, variables: Sequence[_Variable]) -> np.ndarray:
        n = len(self._roles["x"][0].values)
        return np.hstack([np.empty((n, 0)), *(v.encoded() for v in variables)])

    def _sample(self, mask: np.ndarray) -> np.ndarray:
        """Rows of the mask, or a random part when there are very many."""
        rows = np.flatnonzero(mask)
        return rows if len(rows) <= _LARGEST_FIT else self._rng.choice(rows, _LARGEST_FIT, replace=False)


def _bounds(distinct: np.ndarray) -> tuple[float, float]:
    """How far draws may go: half the range beyond it, but not across a zero that no value crossed."""
    low, high = float(distinct[0]), float(distinct[-1])
    beyond = (high - low) / 2
    return (
        max(low - beyond, 0.0) if low >= 0 else low - beyond,
        min(high + beyond, 0.0) if high <= 0 else high + beyond,
    )


def _middle(seen: np.ndarray, *, numeric: bool) -> float:
    """A value that stands in until the first draw: the median, or the most frequent category."""
    if numeric:
        return float(np.quantile(seen, 0.5, method="lower"))
    levels, counts = np.unique(seen, return_counts=True)
    return levels[np.argmax(counts)]


def _choose(log_weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One column for each row, with probabilities proportional to the weights."""
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    below = np.cumsum(weights, axis=1)
    return (rng.random((len(below), 1)) * below[:, -1:] > below[:, :-1]).sum(axis=1)
