"""Named statistics of dependence for tests that draw x anew: large values speak for dependence.

Such tests keep y and z and evaluate the statistic on many copies of x. Every statistic is therefore written
in two steps: ``prepare(y, z, rng)`` does once what the copies share and returns ``f(x)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from ..numeric.kernels import center, gaussian_gram, median_width, standardize
from ..numeric.linear import orthonormal_basis, residuals, unit_columns
from ..parameters import choice

__all__ = ["BLIND_TO_PAIRING", "Statistic", "equal_count_levels", "prepare_statistic", "statistic_option"]

Statistic = str | Callable[..., float]
"""A name, or a function ``f(x, y, z)``."""

Prepared = Callable[[np.ndarray], float]
Prepare = Callable[[np.ndarray, "np.ndarray | None", np.random.Generator], Prepared]

_RDC_FEATURES = 20  # as the authors of the coefficient have it, and so is
_RDC_SCALE = 1 / 6  # the scale of its random frequencies
_ROWS_FOR_WIDTH = 200  # by hand: their 20,000 pairs fix a median to a percent


def _correlation(y: np.ndarray, z: np.ndarray | None, rng: np.random.Generator) -> Prepared:
    """Largest absolute correlation of a column of x and one of y."""
    unit_y = unit_columns(y)
    return lambda x: float(np.abs(unit_columns(x).T @ unit_y).max())


def _partial_correlation(y: np.ndarray, z: np.ndarray | None, rng: np.random.Generator) -> Prepared:
    """Largest absolute correlation of the least-squares residuals given z."""
    basis = None if z is None else orthonormal_basis(unit_columns(z))
    left_y = unit_columns(residuals(unit_columns(y), basis))
    return lambda x: float(np.abs(unit_columns(residuals(unit_columns(x), basis)).T @ left_y).max())


def _distance_correlation(y: np.ndarray, z: np.ndarray | None, rng: np.random.Generator) -> Prepared:
    """Distance correlation of the standardised columns (Székely, Rizzo and Bakirov 2007)."""
    distances_y = center(_distances(y))
    norm_y = float(np.linalg.norm(distances_y))

    def statistic(x: np.ndarray) -> float:
        distances_x = _distances(x)
        means = distances_x.mean(axis=0)
        # Sum of squares of the centred matrix, which need not be formed: the other one is centred already.
        n = len(means)
        square = float(np.vdot(distances_x, distances_x) - 2 * n * means @ means + means.sum() ** 2)
        scale = math.sqrt(max(square, 0.0)) * norm_y
        return math.sqrt(max(float(np.vdot(distances_x, distances_y)) / scale, 0.0)) if scale > 0 else 0.0

    return statistic


def _distances(values: np.ndarray) -> np.ndarray:
    scaled = standardize(values)
    return cdist(scaled, scaled)


def _hsic(y: np.ndarray, z: np.ndarray | None, rng: np.random.Generator) -> Prepared:
    """Hilbert-Schmidt criterion: squared MMD of the joint distribution and the product of the marginals."""
    gram_y = center(_gaussian(y))
    return lambda x: float(np.vdot(_gaussian(x), gram_y)) / len(gram_y)


def _gaussian(values: np.ndarray) -> np.ndarray:
    scaled = standardize(values)
    # Any function of x will do as width, and all pairs would take longer than the kernel itself.
    some = np.linspace(0, len(scaled) - 1, min(len(scaled), _ROWS_FOR_WIDTH)).astype(int)
    return gaussian_gram(scaled, median_width(scaled[some]))


def _mutual_information(y: np.ndarray, z: np.ndarray | None, rng: np.random.Generator) -> Prepared:
    """Plug-in mutual information of columns cut into equal-count levels, summed over pairs of columns."""
    most = math.ceil(len(y) ** (1 / 3))
    levels_y = [equal_count_levels(column, most) for column in y.T]

    def statistic(x: np.ndarray) -> float:
        levels_x = [equal_count_levels(column, most) for column in x.T]
        return sum(_plug_in(a, b) for a in levels_x for b in levels_y)

    return statistic


def equal_count_levels(column: np.ndarray, most: int) -> np.ndarray:
    """Level of each entry: its value when there are at most `most`, else its place among equal counts.

    Examples
    --------
    >>> equal_count_levels(np.array([0.1, 0.9, 0.5, 0.4]), 2).tolist()
    [0, 1, 1, 0]
    """
    values, codes = np.unique(column, return_inverse=True)
    if len(values) <= most:
        return codes
    return np.minimum((rankdata(column) - 0.5) / len(column) * most, most - 1).astype(int)


def _plug_in(a: np.ndarray, b: np.ndarray) -> float:
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1.0 / len(a))
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    seen = table > 0
    return max(float((table[seen] * np.log(table[seen] / expected[seen])).sum()), 0.0)


def _rdc(y: np.ndarray, z: np.ndarray | None, rng: np.random.Generator) -> Prepared:
    """Randomised dependence coefficient: canonical correlation of random sines of ranks (Lopez-Paz 2013)."""
    seed = int(rng.integers(2**63))  # the same sines for every copy of x: less noise in the comparison
    basis_y = _sine_basis(y, rng)

    def statistic(x: np.ndarray) -> float:
        basis_x = _sine_basis(x, np.random.default_rng(seed))
        if min(basis_x.shape[1], basis_y.shape[1]) == 0:
            return 0.0
        return min(float(np.linalg.norm(basis_x.T @ basis_y, 2)), 1.0)

    return statistic


def _sine_basis(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    ranks = np.column_stack([rankdata(values, axis=0) / len(values), np.ones(len(values))])
    weights = rng.normal(size=(ranks.shape[1], _RDC_FEATURES))
    return orthonormal_basis(unit_columns(np.sin(_RDC_SCALE / ranks.shape[1] * ranks @ weights)))


def _ks(y: np.ndarray, z: np.ndarray | None, rng: np.random.Generator) -> Prepared:
    """Largest two-sample Kolmogorov-Smirnov distance of a standardised column of x and one of y."""
    scaled_y = np.sort(standardize(y), axis=0).T

    def statistic(x: np.ndarray) -> float:
        scaled_x = np.sort(standardize(x), axis=0).T
        return max(_ks_distance(a, b) for a in scaled_x for b in scaled_y)

    return statistic


def _ks_distance(a: np.ndarray, b: np.ndarray) -> float:
    points = np.concatenate([a, b])
    below_a, below_b = (np.searchsorted(v, points, side="right") / len(v) for v in (a, b))
    return float(np.abs(below_a - below_b).max())


def _mmd(y: np.ndarray, z: np.ndarray | None, rng: np.random.Generator) -> Prepared:
    """Largest unbiased two-sample squared MMD of a standardised column of x and one of y."""
    columns_y = standardize(y).T[:, :, None]
    widths = [median_width(b) for b in columns_y]
    within_y = [
        _mean_off_diagonal(gaussian_gram(b, width)) for b, width in zip(columns_y, widths, strict=True)
    ]

    def statistic(x: np.ndarray) -> float:
        columns_x = standardize(x).T[:, :, None]
        return max(
            _mean_off_diagonal(gaussian_gram(a, width)) + own - 2.0 * float(gaussian_gram(a, width, b).mean())
            for a in columns_x
            for b, width, own in zip(columns_y, widths, within_y, strict=True)
        )

    return statistic


def _mean_off_diagonal(gram: np.ndarray) -> float:
    n = len(gram)
    return (float(gram.sum()) - n) / (n * (n - 1))


_PREPARE: dict[str, Prepare] = {
    "correlation": _correlation,
    "partial-correlation": _partial_correlation,
    "distance-correlation": _distance_correlation,
    "hsic": _hsic,
    "mutual-information": _mutual_information,
    "rdc": _rdc,
    "ks": _ks,
    "mmd": _mmd,
    # As the grid of the generative tests calls them.
    "pcc": _correlation,
    "dc": _distance_correlation,
}

# Two-sample distances between x and y, which do not change when the rows of x are permuted.
BLIND_TO_PAIRING = frozenset({"ks", "mmd"})

# What the statistic of any such test is, unless the test has more to say.
_SENTENCE = (
    "What is computed of the data and of every draw, large for dependence: a name, or a function of arrays "
    "x, y and z (None without conditioning variables) with one row per observation."
)


def statistic_option(default: str, *own: str, doc: str = _SENTENCE, permuted: bool = False) -> Any:
    """Field of a test that draws x anew, or permutes it; `own` are further names, which the test treats."""
    names = (name for name in _PREPARE if not (permuted and name in BLIND_TO_PAIRING))
    function = "a function f(x, y, z)"
    if permuted:
        function += " ('ks' and 'mmd' do not see how x and y are paired)"
    return choice(default, doc, *own, *names, other=function, accepts=callable)


def prepare_statistic(
    statistic: Statistic,
    y: np.ndarray,
    z: np.ndarray | None,
    rng: np.random.Generator,
    *,
    permuted: bool = False,
) -> Prepared:
    """Return ``f(x)``, the statistic of x with the given y and z; `permuted` says that x keeps its values.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, z = rng.normal(size=(2, 200, 1))
    >>> correlation = prepare_statistic("partial-correlation", x + 3 * z, z, rng)
    >>> correlation(x) > 0.99, correlation(rng.normal(size=(200, 1))) < 0.2
    (True, True)
    """
    if callable(statistic):
        given = statistic
        return lambda x: float(given(x, y, z))
    # Some tests permute only without z, so their declaration cannot know.
    statistic_option("rdc", permuted=permuted).metadata["allowed"].check("statistic", statistic)
    return _PREPARE[statistic](y, z, rng)
