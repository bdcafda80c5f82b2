"""Functions of Z that a smoother may use: additive cosines and Gaussian kernel features.

Each map is fitted once on reference rows and can then be evaluated on any rows. It also tells, for a given
fit, which directions of Z matter (`relevance`), so that the next Gaussian kernel can measure distance along
them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import linalg, special, stats

__all__ = [
    "AdditiveCosines",
    "FeatureMap",
    "GaussianFeatures",
    "LinearFeatures",
    "normal_scores",
]

# Cosines per column: twelve make three periods over the bulk of a normal variable. What they miss is the same
# in X and in Y, and more rows see smaller things, so their number grows with the square root of the rows.
_ORDER_AT_1000 = 12
_MAX_ORDER = 32
_BUDGET = 320  # cosines of all columns together
_ABOVE_NOISE = 2.0  # a column contributes if its variance is above this many times what noise would give
_FARTHEST = 5.0  # robust standard deviations from the median: what is farther out is an outlier
_JITTER = 1e-7  # keeps the Cholesky factor of a nearly singular kernel matrix finite


class FeatureMap(Protocol):
    """A fixed map from rows of Z to feature columns."""

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return the features of each row of `z`."""
        ...

    def relevance(self, z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return how much the function with these coefficients varies along Z's directions, as (d, d)."""
        ...


def normal_scores(values: np.ndarray) -> np.ndarray:
    """Replace each column by the normal quantiles of its mid-ranks.

    Examples
    --------
    >>> np.round(normal_scores(np.array([[1.0], [100.0], [2.0]])).ravel(), 2).tolist()
    [-0.97, 0.97, 0.0]
    """
    ranks = stats.rankdata(values, axis=0)
    return special.ndtri((ranks - 0.5) / len(values))


def squared_distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the matrix of squared Euclidean distances between the rows of `a` and `b`."""
    cross = a @ b.T
    cross *= -2.0
    cross += np.einsum("ij,ij->i", a, a)[:, None]
    cross += np.einsum("ij,ij->i", b, b)
    return np.maximum(cross, 0.0, out=cross)


def random_cosines(
    values: np.ndarray, count: int, scales: tuple[float, ...], rng: np.random.Generator
) -> np.ndarray:
    """Return random Fourier features of the rows, at `scales` times the inverse of their usual distance."""
    frequencies = rng.standard_normal((values.shape[1], count)) / _usual_distance(values)
    frequencies *= rng.choice(scales, count)
    return np.cos(values @ frequencies + rng.uniform(0.0, 2.0 * np.pi, count))


def _usual_distance(values: np.ndarray) -> float:
    """Return what the median distance of two rows would be if they were normal with these second moments.

    A closed form of all rows: a median over some of them would depend on their order. A squared distance is
    nearly a scaled chi-squared variable, whose median is Wilson and Hilferty's.
    """
    covariance = np.atleast_2d(np.cov(values, rowvar=False, bias=True))
    total, square = float(np.trace(covariance)), float(np.square(covariance).sum())
    if total <= 0.0:
        return 1.0
    df = total**2 / square
    return float(np.sqrt(2.0 * total) * (1.0 - 2.0 / (9.0 * df)) ** 1.5)


@dataclass(frozen=True, eq=False)
class LinearFeatures:
    """The columns of Z themselves, for ridge regression when Z has too many columns for least squares."""

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return `z` unchanged."""
        return z

    def relevance(self, z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return the outer product of the gradients, which are the coefficients."""
        return coefficients @ coefficients.T


@dataclass(frozen=True, eq=False)
class AdditiveCosines:
    """Cosines of each continuous column over its range: the basis of an additive model.

    A column with outliers goes by its normal scores, so that heavy tails in Z give no row undue weight and
    the cosines are not spent on empty space. Order k has amplitude 1/k, so that a ridge prefers smooth
    functions.
    """

    columns: np.ndarray  # indices of the continuous columns of Z
    order: int  # number of cosines per column
    reference: np.ndarray  # sorted reference values of these columns, which fix the scale
    amplitudes: np.ndarray  # size of each column's cosines: a ridge shrinks the small ones more

    @classmethod
    def fit(cls, z: np.ndarray, columns: np.ndarray, n: int) -> AdditiveCosines | None:
        """Choose the order for fits on `n` rows; ``None`` when they cannot afford two cosines a column."""
        order = _affordable_order(len(columns), n, len(z))
        if len(columns) == 0 or order < 2:
            return None
        return cls(columns, order, np.sort(z[:, columns], axis=0), np.ones(len(columns)))

    def reweighted(self, relevance: np.ndarray, noise: float, n: int) -> AdditiveCosines:
        """Return the map whose amplitudes follow the columns' contributions to an earlier fit.

        Columns that contribute no more than noise would are dropped, and the others may have more cosines
        for it.
        """
        variances = np.diag(relevance)[self.columns]
        kept = variances > _ABOVE_NOISE * self.order * noise / len(self.reference)
        if not kept.any():
            return self
        order = _affordable_order(int(kept.sum()), n, len(self.reference))
        amplitudes = (variances[kept] / variances.max()) ** 0.5
        return AdditiveCosines(self.columns[kept], order, self.reference[:, kept], amplitudes)

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return the cosines, column by column of Z, orders 1 to `order`."""
        orders = np.arange(1, self.order + 1)
        features = np.empty((len(z), len(self.columns), self.order))
        for position, column in enumerate(self.columns):
            angle = np.pi * _unit_interval(z[:, column], self.reference[:, position])
            features[:, position, :] = np.cos(angle[:, None] * orders) * (self.amplitudes[position] / orders)
        return features.reshape(len(z), -1)

    def relevance(self, z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return the variance of each column's contribution, on the diagonal."""
        features = self(z).reshape(len(z), len(self.columns), self.order)
        by_column = coefficients.reshape(len(self.columns), self.order, -1)
        parts = np.einsum("nco,cot->nct", features, by_column)
        diagonal = np.zeros(z.shape[1])
        diagonal[self.columns] = parts.var(axis=0).sum(axis=1)
        return np.diag(diagonal)


def _affordable_order(n_columns: int, n: int, n_reference: int) -> int:
    wanted = _ORDER_AT_1000 * max(1.0, np.sqrt(n / 1000))
    return int(min(wanted, _MAX_ORDER, min(_BUDGET, n_reference // 3) // max(n_columns, 1)))


def _unit_interval(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Map values to [0, 1]: linearly, or, if the sorted reference values have outliers, by normal scores."""
    n = len(reference)
    low, centre, high = reference[n // 4], reference[n // 2], reference[(3 * n) // 4]
    reach = _FARTHEST * (high - low) / (2.0 * special.ndtri(0.75))
    first, last = reference[0], reference[-1]
    if centre - reach <= first < last <= centre + reach:
        return np.clip((values - first) / (last - first), 0.0, 1.0)
    below = np.searchsorted(reference, values, side="left")
    upto = np.searchsorted(reference, values, side="right")
    share = np.clip((below + upto) / (2.0 * n), 1e-6, 1.0 - 1e-6)
    return (np.clip(special.ndtri(share), -3.0, 3.0) + 3.0) / 6.0


@dataclass(frozen=True, eq=False)
class GaussianFeatures:
    """Nyström features of the Gaussian kernel ``exp(-r² / 2)`` with ``r = |L'(z - z')| / width``.

    A rough kernel is Matérn's ``(1 + √3 r) exp(-√3 r)`` instead, whose functions have one derivative.
    """

    factor: np.ndarray  # the matrix L, shape (d, k): distances are measured after multiplying rows by it
    landmarks: np.ndarray  # landmark rows, already multiplied by `factor`
    width_squared: float  # square of the kernel's width
    # Cholesky factor of the landmarks' kernel matrix; solving with it gives features whose inner product is
    # the kernel
    root: np.ndarray
    rough: bool = False  # Matérn's kernel in place of the Gaussian one
    kinked: bool = False  # the same for functions that are smooth but for a few kinks

    @classmethod
    def fit(
        cls,
        z: np.ndarray,
        factor: np.ndarray,
        scale: float,
        n_landmarks: int,
        rng: np.random.Generator,
        rough: bool = False,
    ) -> GaussianFeatures | None:
        """Draw landmarks; the width is `scale` times their median distance. ``None`` if all rows coincide."""
        moved = z @ factor
        landmarks = moved[_drawn_rows(len(z), n_landmarks, rng)]
        distances = squared_distances(landmarks, landmarks)
        positive = distances[distances > 1e-12 * max(distances.max(), 1e-300)]
        if positive.size == 0:
            return None
        width_squared = float(scale**2 * np.median(positive))
        return cls._at(landmarks, distances, factor, width_squared, rough)

    @classmethod
    def _at(
        cls, landmarks: np.ndarray, distances: np.ndarray, factor: np.ndarray, square: float, rough: bool
    ) -> GaussianFeatures:
        """Return features of this squared width; the squared distances of the landmarks are overwritten."""
        kernel = _kernel(distances, square, rough)
        kernel[np.diag_indices_from(kernel)] += _JITTER
        root = linalg.cholesky(kernel, lower=True, check_finite=False)
        return cls(factor, landmarks, square, root, rough)

    def with_landmarks(self, z: np.ndarray, count: int, rng: np.random.Generator) -> GaussianFeatures:
        """Return features of the same kernel with landmarks drawn anew."""
        landmarks = z[_drawn_rows(len(z), count, rng)] @ self.factor
        distances = squared_distances(landmarks, landmarks)
        dense = self._at(landmarks, distances, self.factor, self.width_squared, self.rough)
        return replace(dense, kinked=self.kinked)

    def with_kinks(self, times: float) -> GaussianFeatures:
        """Return Matérn's kernel of so many times the width, with the same landmarks."""
        distances = squared_distances(self.landmarks, self.landmarks)
        kinked = self._at(self.landmarks, distances, self.factor, times**2 * self.width_squared, True)
        return replace(kinked, kinked=True)

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return the Nyström features of the rows of `z`."""
        return self._solved(self._kernel(z).T).T

    def products(self, z: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the features' products with columns; see `feature_products`."""
        return self._solved(self._kernel(z).T @ columns)

    def combinations(self, z: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return combinations of the features; see `feature_combinations`."""
        return self._kernel(z) @ self._by_landmark(weights)

    def _solved(self, kernels: np.ndarray) -> np.ndarray:
        """Return features from kernels with the landmarks, which are overwritten."""
        return linalg.solve_triangular(self.root, kernels, lower=True, overwrite_b=True, check_finite=False)

    def _by_landmark(self, weights: np.ndarray) -> np.ndarray:
        return linalg.solve_triangular(self.root, weights, lower=True, trans="T", check_finite=False)

    def _kernel(self, z: np.ndarray) -> np.ndarray:
        distances = squared_distances(z @ self.factor, self.landmarks)
        return _kernel(distances, self.width_squared, self.rough)

    def relevance(self, z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return the average outer product of the gradients with respect to Z."""
        moved = z @ self.factor
        distances = squared_distances(moved, self.landmarks)
        slopes = _slopes(distances, self.width_squared, self.rough)
        total = np.zeros((self.factor.shape[1],) * 2)
        for weights in self._by_landmark(coefficients).T:
            weighted = slopes * weights
            gradients = weighted @ self.landmarks - weighted.sum(axis=1)[:, None] * moved
            total += gradients.T @ gradients
        return self.factor @ total @ self.factor.T / len(z)


def _drawn_rows(n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    return np.arange(n) if count >= n else rng.choice(n, count, replace=False)


def _kernel(distances: np.ndarray, width_squared: float, rough: bool) -> np.ndarray:
    """Return the kernel at squared distances, which are overwritten."""
    if rough:
        distances *= 3.0 / width_squared
        r = np.sqrt(distances, out=distances)
        falling = np.negative(r)
        np.exp(falling, out=falling)
        r += 1.0
        falling *= r
        return falling
    distances *= -0.5 / width_squared
    return np.exp(distances, out=distances)


def _slopes(distances: np.ndarray, width_squared: float, rough: bool) -> np.ndarray:
    """Return by how much the kernel's gradient at squared distances exceeds the vector to the landmark."""
    if rough:
        return np.exp(-np.sqrt(distances * (3.0 / width_squared))) * (3.0 / width_squared)
    return np.exp(distances * (-0.5 / width_squared)) / width_squared
