"""Functions along learned directions: the largest mean of ``f(a'x) g(b'y)`` over unit vectors a and b.

For f and g linear or quadratic, the mean is a multilinear form in a and b, whose coefficients are the means
of products of features. Its maximum is a truncated singular value decomposition of the partial covariance
operator in a space of ridge functions, in closed form: given b, the best a is an eigenvector (f quadratic)
or a vector (f linear) read off the coefficients; swap sides and repeat. All forms of a batch, one per
vector of random signs, are maximised together, so that the maximum has a null distribution in which the
directions were learned in the same way from as much noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

__all__ = [
    "Components",
    "RidgePair",
    "largest_ridge_pairs",
    "leading_components",
    "principal_axes",
    "products",
    "width",
]

_EIGENVALUE_FLOOR = 1e-6  # smaller ones, relative to the largest, are rounding
# By hand, of the mean variance: what a fit leaves of Z is largest beside the least variable components.
_SCALE_RIDGE = 0.1
# By hand. The search is the same under every vector of signs, so it need not always find the maximum.
_STARTS = 16  # directions to begin with: the best of them is near enough to the maximum
_KEPT = 4  # of the starts, after `_FIRST_ROUNDS`
_FIRST_ROUNDS = 2  # before most starts are given up
_ROUNDS = 6  # in all
_POWER_STEPS = 2  # of the power method for an eigenvector, each round


@dataclass(frozen=True, eq=False)
class Components:
    """Leading principal components of some columns."""

    scores: np.ndarray  # the components, mean square about one, shape (n, k), largest first
    loadings: np.ndarray  # what the columns are multiplied with to give them, shape (p, k)
    # What the components are multiplied with to give the columns, shape (k, p); exact if k = p
    inverse: np.ndarray


@dataclass(frozen=True, eq=False)
class RidgePair:
    """The maximum of every form of a batch, and where it is."""

    sizes: np.ndarray  # the maxima, shape (m,)
    left: np.ndarray  # unit vectors, shapes (m, k) and (m, l)
    right: np.ndarray

    def functional(self, squares: tuple[bool, bool]) -> np.ndarray:
        """Return the unit matrix whose inner product with the first form is, up to its sign, the maximum."""
        left, right = (
            products(direction[None])[0] if square else direction
            for direction, square in zip((self.left[0], self.right[0]), squares, strict=True)
        )
        return np.outer(left, right)


def leading_components(columns: np.ndarray, limit: int) -> Components:
    """Return at most `limit` principal components, each with a non-negative third moment.

    The sign rule makes them independent of the order of the columns.
    """
    values, vectors = principal_axes(columns, limit)
    ridge = _SCALE_RIDGE * np.square(columns).mean()
    scales = np.sqrt(values + ridge)
    scores = columns @ (vectors / scales)
    signs = np.where((np.square(scores) * scores).sum(axis=0) < 0, -1.0, 1.0)
    signed = vectors * signs
    return Components(scores * signs, signed / scales, (signed * scales).T)


def principal_axes(columns: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Return at most `limit` variances and unit vectors of the columns' second moments, largest first."""
    p = columns.shape[1]
    moments = columns.T @ columns / len(columns)
    values, vectors = linalg.eigh(moments, subset_by_index=(max(p - limit, 0), p - 1), check_finite=False)
    keep = values > _EIGENVALUE_FLOOR * max(values[-1], 1e-300)
    return values[keep][::-1], vectors[:, keep][:, ::-1]


def leading(columns: np.ndarray, limit: int, names: list[str] | None = None) -> tuple[np.ndarray, list[str]]:
    """Return at most `limit` columns: unscaled principal components, if there are more."""
    names = names if names is not None else [str(j) for j in range(columns.shape[1])]
    if columns.shape[1] <= limit:
        return columns, names
    rotation = principal_axes(columns, limit)[1]
    return columns @ rotation, [f"component {j + 1}" for j in range(rotation.shape[1])]


def products(scores: np.ndarray) -> np.ndarray:
    """Return all products of two columns; those of the first k columns come first, for every k.

    Products of different columns are multiplied by √2: the mean of products against a weight then has the
    Frobenius norm of the symmetric matrix that it stands for.

    Examples
    --------
    >>> products(np.array([[2.0, 3.0]])).round(2).tolist()
    [[4.0, 8.49, 9.0]]
    """
    low, high, factors = _packing(scores.shape[1])
    return scores[:, low] * scores[:, high] * factors


def width(count: int, square: bool) -> int:
    """Return the number of features of `count` components: themselves, or products of two."""
    return count * (count + 1) // 2 if square else count


def _packing(k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    low, high = np.tril_indices(k)
    return low, high, np.where(low == high, 1.0, np.sqrt(2.0)).astype(np.float32)


def largest_ridge_pairs(forms: np.ndarray, squares: tuple[bool, bool]) -> RidgePair:
    """Maximise each form over directions on both sides."""
    if not any(squares):
        return _largest_linear_pairs(forms)
    if not squares[0]:
        swapped = largest_ridge_pairs(forms.transpose(0, 2, 1), (True, False))
        return RidgePair(swapped.sizes, swapped.right, swapped.left)
    forms = np.ascontiguousarray(forms, dtype=np.float32)
    left, right = (_Side(size, square) for size, square in zip(forms.shape[1:], squares, strict=True))
    if forms.shape[2] == 1:
        return _largest_eigenpairs(left.unfolded(forms, 1).reshape(-1, left.k, left.k))
    forms = right.unfolded(left.unfolded(forms, 1), 2)
    backward = np.ascontiguousarray(forms.transpose(0, 2, 1))
    # Fixed: the same data must give the same directions, whatever the seed.
    rng = np.random.default_rng(0)
    a, b = (_repeated(_unit(rng.standard_normal((_STARTS, side.k))), len(forms)) for side in (left, right))
    sizes = np.zeros((len(forms), _STARTS))
    for round_ in range(_ROUNDS):
        a, _ = left.improved(a, right.features(b) @ backward)
        b, sizes = right.improved(b, left.features(a) @ forms)
        if round_ == _FIRST_ROUNDS - 1:
            order = np.argsort(-sizes, axis=1)[:, :_KEPT, None]
            a, b = np.take_along_axis(a, order, 1), np.take_along_axis(b, order, 1)
    best = sizes.argmax(axis=1)
    rows = np.arange(len(forms))
    return RidgePair(sizes[rows, best], a[rows, best], b[rows, best])


class _Side:
    """One side of a form: how directions become features, and weights of features a better direction.

    Products of two components are unfolded to all entries of a symmetric matrix: twice the work in matrix
    products is less than picking the entries.
    """

    def __init__(self, size: int, square: bool) -> None:
        self.square = square
        self.k = round((np.sqrt(8 * size + 1) - 1) / 2) if square else size

    def unfolded(self, forms: np.ndarray, axis: int) -> np.ndarray:
        """Return the forms with all entries of the symmetric matrices that products on `axis` stand for."""
        if not self.square:
            return forms
        low, high, factors = _packing(self.k)
        place = np.empty((self.k, self.k), dtype=int)
        place[low, high] = place[high, low] = np.arange(len(low))
        shape = [1] * forms.ndim
        shape[axis] = -1
        return np.take(forms / factors.reshape(shape), place.ravel(), axis=axis)

    def features(self, directions: np.ndarray) -> np.ndarray:
        """Return what a direction is in terms of the unfolded features, shape (m, starts, size)."""
        if not self.square:
            return directions
        return (directions[..., :, None] * directions[..., None, :]).reshape(*directions.shape[:-1], -1)

    def improved(self, directions: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return directions of larger values of the form, and these values."""
        if not self.square:
            return _unit(weights), np.linalg.norm(weights, axis=-1)
        matrices = weights.reshape(*weights.shape[:-1], self.k, self.k)
        image = (matrices @ directions[..., None])[..., 0]
        for _ in range(_POWER_STEPS):
            directions = _unit(image)
            image = (matrices @ directions[..., None])[..., 0]
        return directions, np.abs(np.einsum("msi,msi->ms", image, directions))


def _largest_linear_pairs(forms: np.ndarray) -> RidgePair:
    if forms.shape[1] > forms.shape[2]:
        swapped = _largest_linear_pairs(forms.transpose(0, 2, 1))
        return RidgePair(swapped.sizes, swapped.right, swapped.left)
    # Three times as quick as a singular value decomposition.
    _, vectors = np.linalg.eigh(forms @ forms.transpose(0, 2, 1))
    left = vectors[:, :, -1]
    right = np.einsum("mp,mpq->mq", left, forms)
    return RidgePair(np.linalg.norm(right, axis=1), left, _unit(right))


def _largest_eigenpairs(matrices: np.ndarray) -> RidgePair:
    values, vectors = np.linalg.eigh(matrices)
    best = np.where(-values[:, 0] > values[:, -1], 0, values.shape[1] - 1)
    rows = np.arange(len(matrices))
    return RidgePair(np.abs(values[rows, best]), vectors[rows, :, best], np.sign(values[rows, best])[:, None])


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-30)


def _repeated(starts: np.ndarray, count: int) -> np.ndarray:
    return np.broadcast_to(starts.astype(np.float32), (count, *starts.shape))
