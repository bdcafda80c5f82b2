"""Steps across Z: thresholds of sums of columns, which smooth fits and trees along single columns smear over.

A unit is a sigmoid of one direction of Z beside Z's linear part. Its direction and place are learned by Gauss
and Newton's method while the sigmoid is made steeper, until it is a step: of a step the rows near it tell
where it is far more exactly than a least-squares direction does. Further units are added as long as each
explains clearly more than its numbers would explain of noise.

An exclusive or of two steps has no slope along either: both begin where the second moments of Z, weighted by
the target, are a saddle. The edge of a ball, or of anything else that a quadratic function of few columns
cuts out, is a step along a direction of the columns and their products.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, special

__all__ = ["Steps", "find_steps"]

_MOST_COLUMNS = 20  # by hand: a direction of more is too vague for its edge to be found
_ROWS_PER_NUMBER = 15  # by hand: with fewer rows a unit's numbers follow the noise
_MOST_UNITS = 3  # by hand: each takes longer than the one before
_STARTS = 6  # by hand: directions to begin with
_EXPLORED_ROWS = 500  # enough to tell good directions from bad ones
_GENTLE = (2.0, 4.0, 8.0)  # slopes, in standard deviations of Z: a wide view first
_STEEP = (8.0, 16.0, 32.0, 64.0, 128.0)  # the last is a step for all but a few rows
_ROUNDS = 3  # by hand: of Newton's method at each slope
_WORTH = 4.0  # by hand: times what as many numbers explain of noise, for having searched
_CONSTANT = 1e-8  # standard deviation, of columns that have one over all rows: rounding
_OUTERMOST = 2.0  # standard deviations: beyond them few rows are left on one side
_SEED = 0  # any number: starts must not depend on the test's seed


@dataclass(frozen=True, eq=False)
class Steps:
    """Indicators of half-spaces of Z, or of what a quadratic function cuts out."""

    directions: np.ndarray  # coefficients of columns, shape (d, k)
    cuts: np.ndarray  # from which value on a row counts, shape (k,)
    crossed: bool = False  # whether there are two, and a row counts by both together, too
    # What gives the columns whose products join them, if the edge is curved: directions are of these all
    frame: np.ndarray | None = None

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return one 0/1 column per step, and of crossed ones their product."""
        columns = z if self.frame is None else _with_squares(z @ self.frame)
        return _with_product((columns @ self.directions > self.cuts).astype(float), self.crossed)

    def relevance(self, z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return zeros: steps have no gradient, and the metric is learned before they are asked."""
        return np.zeros((z.shape[1],) * 2)

    @property
    def n_numbers(self) -> int:
        """How many numbers were learned for them."""
        return self.directions.size + self.cuts.size


@dataclass(frozen=True, eq=False)
class _Units:
    """Sigmoids along unit directions, and how well they and a straight line fit."""

    directions: np.ndarray  # shape (k, d)
    cuts: np.ndarray
    crossed: bool = False  # whether there are two, and their product is fitted as well
    error: float = np.inf  # sum of squares


def find_steps(z: np.ndarray, frame: np.ndarray | None, target: np.ndarray, good: float) -> Steps | None:
    """Learn the steps that one target takes; ``None`` where there are none.

    Parameters
    ----------
    z
        Standardised columns.
    frame
        What makes them uncorrelated, if they are not.
    target
        A column.
    good
        A sum of squares at which there is nothing left to look for.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal((600, 3))
    >>> index = z @ np.array([0.6, 0.0, 0.8])
    >>> steps = find_steps(z, None, np.sign(index - 0.3) + 0.5 * rng.standard_normal(600), 0.0)
    >>> np.abs(steps.directions).ravel().round(1).tolist(), np.abs(steps.cuts).round(1).tolist()
    ([0.6, 0.0, 0.8], [0.3])
    >>> find_steps(z, None, index + rng.standard_normal(600), 0.0) is None
    True
    """
    to_places = np.eye(z.shape[1]) if frame is None else frame
    scales = (z @ to_places).std(axis=0)
    varying = scales > _CONSTANT  # a column may be constant in some of the rows
    to_places = to_places[:, varying] / scales[varying]
    places = z @ to_places
    n, d = places.shape
    if not 2 <= d <= _MOST_COLUMNS or n < _ROWS_PER_NUMBER * (d + 2):
        return None
    problem = _Problem(places, places, target)
    found = _straight_edges(problem, good)
    curved = _curved_edge(places, target, found, good)
    if curved is not None:
        return replace(curved, frame=to_places)
    if not len(found.cuts):
        return None
    return Steps(to_places @ found.directions.T, found.cuts, found.crossed)


def _straight_edges(problem: _Problem, good: float) -> _Units:
    """Return the units that are worth their numbers, maybe none."""
    n, d = problem.shape
    found = _Units(np.zeros((0, d)), np.zeros(0), error=problem.straight_error)
    worth = 1.0 - _WORTH * (d + 2) / n
    while len(found.cuts) < _MOST_UNITS and found.error > good:
        challenger = problem.with_another(found)
        if challenger.error >= worth * found.error:
            break
        found = challenger
    crossed = problem.crossed() if found.error > good else None
    # Two units and their product have the price of three.
    if crossed is not None and crossed.error < worth ** (3 - len(found.cuts)) * found.error:
        found = crossed
    return found


def _curved_edge(places: np.ndarray, target: np.ndarray, straight: _Units, good: float) -> Steps | None:
    """Return one step of a quadratic function, if it is worth more than straight edges are."""
    columns = _with_squares(places)
    n, width = columns.shape
    if width > _MOST_COLUMNS or n < _ROWS_PER_NUMBER * (width + 2) or straight.error <= good:
        return None
    mean, scale = columns.mean(axis=0), np.maximum(columns.std(axis=0), _CONSTANT)
    problem = _Problem((columns - mean) / scale, places, target)
    curved = problem.along_moments()
    price = 1.0 - _WORTH * (width + 2 - straight.directions.size - straight.cuts.size) / n
    if curved is None or curved.error >= min(price, 1.0) * straight.error:
        return None
    directions = curved.directions.T / scale[:, None]
    return Steps(directions, curved.cuts + mean @ directions)


class _Problem:
    """Least squares of a target on a straight line in Z and sigmoids of `places`."""

    def __init__(self, places: np.ndarray, z: np.ndarray, target: np.ndarray) -> None:
        self._places = places
        self._line = np.column_stack([np.ones(len(z)), z])
        self._target = target
        self._left = target - self._line @ linalg.lstsq(self._line, target, check_finite=False)[0]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns that steps may have directions of."""
        n, d = self._places.shape
        return n, d

    @property
    def straight_error(self) -> float:
        """Sum of squares without a step."""
        return float(self._left @ self._left)

    def _of_some_rows(self, rng: np.random.Generator) -> _Problem:
        rows = rng.permutation(len(self._places))[:_EXPLORED_ROWS]
        return _Problem(self._places[rows], self._line[rows, 1:], self._target[rows])

    def with_another(self, units: _Units) -> _Units:
        """Return the units with one more: the best of several starts, then all of them together."""
        rng = np.random.default_rng(_SEED)
        starts = rng.standard_normal((_STARTS, self.shape[1]))
        starts[0] = self._places.T @ self._target  # the direction of any monotone function
        some = self._of_some_rows(rng)
        tried = [some._steepened(_joined(units, start), _GENTLE) for start in starts]
        best = min(tried, key=lambda each: each.error)
        return self._steepened(replace(best, error=np.inf), _STEEP)

    def crossed(self) -> _Units | None:
        """Return two units whose product matters; ``None`` if a look at some rows does not speak for them."""
        values, vectors = linalg.eigh((self._places.T * self._left) @ self._places, check_finite=False)
        if values[0] >= 0.0 or values[-1] <= 0.0:
            return None
        # a b' + b a' with a and b of one length has these as its only eigenvectors, of opposite values.
        ends = vectors[:, [-1, 0]] * np.sqrt(np.abs(values[[-1, 0]]))
        start = _unit(np.stack([ends.sum(axis=1), ends[:, 0] - ends[:, 1]]), np.zeros(2))
        return self._if_promising(replace(start, crossed=True))

    def along_moments(self) -> _Units | None:
        """Return one unit that begins at the direction of any monotone function; ``None`` likewise."""
        return self._if_promising(_unit((self._places.T @ self._left)[None], np.zeros(1)))

    def _if_promising(self, start: _Units) -> _Units | None:
        some = self._of_some_rows(np.random.default_rng(_SEED))
        looked = some._steepened(start, _GENTLE)
        n, d = some.shape
        if looked.error > (1.0 - len(start.cuts) * (d + 2) / n) * some.straight_error:
            return None
        return self._steepened(replace(looked, error=np.inf), _STEEP)

    def _steepened(self, units: _Units, slopes: tuple[float, ...]) -> _Units:
        for slope in slopes:
            units = self._improved(units, slope)
        return units

    def _improved(self, units: _Units, slope: float) -> _Units:
        """Take some of Newton's steps at one slope; each must make the error smaller."""
        d = self._places.shape[1]
        values, weights, left = self._fitted(units, slope)
        error = float(left @ left)
        for _ in range(_ROUNDS):
            gradient = slope * values * (1.0 - values) * _slopes(values, weights)
            moves = np.hstack([np.column_stack([g[:, None] * self._places, -g]) for g in gradient.T])
            fitted = _with_product(values, units.crossed)
            solved = _ridge_solution(np.hstack([self._line, fitted, moves]), left)
            change = solved[-moves.shape[1] :].reshape(-1, d + 1)
            for share in (1.0, 0.3, 0.1):
                moved = _unit(units.directions + share * change[:, :d], units.cuts + share * change[:, d])
                moved = replace(moved, crossed=units.crossed)
                tried = self._fitted(moved, slope)
                if float(tried[2] @ tried[2]) < error:
                    break
            else:
                break
            units, (values, weights, left) = moved, tried
            error = float(left @ left)
        return replace(units, error=error)

    def _fitted(self, units: _Units, slope: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the sigmoids' values, their weights in the fit, and what it leaves."""
        values = special.expit(slope * (self._places @ units.directions.T - units.cuts))
        columns = np.hstack([self._line, _with_product(values, units.crossed)])
        weights = _ridge_solution(columns, self._target)
        return values, weights[self._line.shape[1] :], self._target - columns @ weights


def _with_squares(columns: np.ndarray) -> np.ndarray:
    """Return the columns, their squares and their products of two."""
    first, second = np.triu_indices(columns.shape[1])
    return np.hstack([columns, columns[:, first] * columns[:, second]])


def _with_product(values: np.ndarray, crossed: bool) -> np.ndarray:
    return np.column_stack([values, values.prod(axis=1)]) if crossed else values


def _slopes(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return by how much the fit grows with each unit; with one weight more than units, they are crossed."""
    if len(weights) == values.shape[1]:
        return weights
    return weights[:2] + weights[2] * values[:, ::-1]


def _joined(units: _Units, direction: np.ndarray) -> _Units:
    return _unit(np.vstack([units.directions, direction]), np.append(units.cuts, 0.0))


def _unit(directions: np.ndarray, cuts: np.ndarray) -> _Units:
    length = np.maximum(np.linalg.norm(directions, axis=1), 1e-300)
    return _Units(directions / length[:, None], np.clip(cuts / length, -_OUTERMOST, _OUTERMOST))


def _ridge_solution(columns: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return least-squares coefficients, with a trace of a ridge for columns that hardly differ."""
    gram = columns.T @ columns
    gram[np.diag_indices_from(gram)] += 1e-9 * np.trace(gram) / len(gram) + 1e-12
    return linalg.solve(gram, columns.T @ target, assume_a="pos", check_finite=False)
