"""Largest of many studentised means, with a Gaussian multiplier bootstrap for its null distribution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..numeric.streams import generator
from .permutation import permutation_pvalue

__all__ = ["MaxStatistic", "max_statistic"]

_CELLS_PER_BLOCK = 4_000_000  # keeps a block of products, and one of draws, below 32 MB


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
    best, where, varying = -1.0, (0, 0), 0
    for _, statistics, indices in _product_blocks(first, second):
        varying += len(indices)
        top = int(np.argmax(statistics))
        if statistics[top] > best:
            best, where = float(statistics[top]), indices[top]
    if varying == 0:
        return None
    draws = []
    for part in _multipliers(n_bootstrap, len(first), seed):
        blocks = _product_blocks(first, second)
        draws.append(np.max([np.abs(part @ columns).max(axis=1) for columns, *_ in blocks], axis=0))
    skipped = first.shape[1] * second.shape[1] - varying
    return MaxStatistic(best, permutation_pvalue(best, np.concatenate(draws)), where, skipped)


def _product_blocks(
    first: np.ndarray, second: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]]:
    """Some of the products that vary, standardised and divided by root n; their statistics; their columns."""
    n = len(first)
    pairs = [(j, k) for j in range(first.shape[1]) for k in range(second.shape[1])]
    size = max(1, _CELLS_PER_BLOCK // n)
    for start in range(0, len(pairs), size):
        block = pairs[start : start + size]
        products = first[:, [j for j, _ in block]] * second[:, [k for _, k in block]]
        mean, deviation = products.mean(axis=0), products.std(axis=0)
        kept = deviation > 1e-14 * np.abs(products).max(axis=0)
        if kept.any():
            standardised = (products[:, kept] - mean[kept]) / (deviation[kept] * np.sqrt(n))
            statistics = np.sqrt(n) * np.abs(mean[kept]) / deviation[kept]
            yield standardised, statistics, [block[k] for k in np.flatnonzero(kept)]


def _multipliers(n_bootstrap: int, n: int, seed: int) -> Iterator[np.ndarray]:
    """Independent normal variables, n for each draw, for some draws at a time."""
    rng, size = generator(seed, "multipliers"), max(1, _CELLS_PER_BLOCK // n)
    for start in range(0, n_bootstrap, size):
        yield rng.standard_normal((min(size, n_bootstrap - start), n))
