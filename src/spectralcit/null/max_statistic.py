"""Largest of many studentised means, with a Gaussian multiplier bootstrap for its null distribution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..numeric.streams import generator
from . import permutation_pvalue

__all__ = ["MaxStatistic", "max_statistic"]

_CELLS_PER_BLOCK = 4_000_000  # keeps a block of products below 32 MB


@dataclass(frozen=True, eq=False)
class MaxStatistic:
    """Largest absolute studentised mean, its p-value, its two columns, and the products without variation."""

    statistic: float
    pvalue: float
    index: tuple[int, int]
    n_skipped: int


def max_statistic(
    first: np.ndarray, second: np.ndarray, *, n_bootstrap: int, seed: int
) -> MaxStatistic | None:
    """Test that all means of products ``first[:, j] * second[:, k]`` are zero; None when no product varies.

    Each mean is divided by its standard error; the null distribution of the largest absolute value is that of
    the same maximum after multiplying the centred rows by independent normal variables, which keeps the
    dependence between the products.

    References
    ----------
    V. Chernozhukov, D. Chetverikov and K. Kato. Gaussian approximations and multiplier bootstrap for maxima
    of sums of high-dimensional random vectors. Annals of Statistics, 2013.
    """
    n = len(first)
    draws = generator(seed, "multipliers").standard_normal((n_bootstrap, n))
    null_max = np.zeros(n_bootstrap)
    best, where, skipped = -1.0, (0, 0), 0
    for products, indices in _product_blocks(first, second):
        mean, deviation = products.mean(axis=0), products.std(axis=0)
        varying = deviation > 1e-14 * np.abs(products).max(axis=0)
        skipped += int((~varying).sum())
        if not varying.any():
            continue
        standardised = (products[:, varying] - mean[varying]) / (deviation[varying] * np.sqrt(n))
        statistics = np.sqrt(n) * np.abs(mean[varying]) / deviation[varying]
        null_max = np.maximum(null_max, np.abs(draws @ standardised).max(axis=1))
        top = int(np.argmax(statistics))
        if statistics[top] > best:
            best, where = float(statistics[top]), indices[np.flatnonzero(varying)[top]]
    if best < 0:
        return None
    return MaxStatistic(best, permutation_pvalue(best, null_max), where, skipped)


def _product_blocks(
    first: np.ndarray, second: np.ndarray
) -> Iterator[tuple[np.ndarray, list[tuple[int, int]]]]:
    pairs = [(j, k) for j in range(first.shape[1]) for k in range(second.shape[1])]
    size = max(1, _CELLS_PER_BLOCK // len(first))
    for start in range(0, len(pairs), size):
        block = pairs[start : start + size]
        yield first[:, [j for j, _ in block]] * second[:, [k for _, k in block]], block
