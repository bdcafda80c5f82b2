"""Chi-squared and G-squared tests of conditional independence for discrete data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import BaseCITest
from ..errors import UnsupportedTypeError
from ..inputs import Block, CIData
from ..null import chi2_sf, permutation_pvalue
from ..null.resampling import draws_option
from ..numeric.cells import shuffle_within
from ..numeric.streams import generator
from ..parameters import choice
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["Chi2Test", "G2Test"]

_MAX_LEVELS = 50  # by hand: a column of numbers with more values looks continuous


@register(
    "chi2",
    tags=TestTags(
        summary="Pearson's chi-squared test for discrete data, stratified by z",
        mixed=False,
        discrete=True,
        standing=50,
        aliases=("chisq", "chi-squared"),
        assumes="enough rows in every stratum of Z; null=permutation needs no such rule",
        fails="when Z has many combinations: tables become sparse and power goes",
    ),
)
class Chi2Test(BaseCITest):
    """Pearson's chi-squared test, stratified by ``z``.

    One table of ``x`` against ``y`` for each combination of values of ``z`` that occurs; statistics and
    degrees of freedom add up. Rows and columns of a table that are empty in a stratum cost no degree of
    freedom. Several columns in one role are taken together as one variable.

    Notes
    -----
    A warning is given when the chi-squared approximation is doubtful by Cochran's rule: an expected count
    below one, or more than a fifth of them below five. The effect size is Cramér's V, pooled over the strata.

    References
    ----------
    W. G. Cochran. Some methods for strengthening the common chi-squared tests. Biometrics, 1954.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.integers(0, 2, 500)
    >>> x, y = (rng.random((2, 500)) < 0.2 + 0.6 * z).astype(int)
    >>> Chi2Test().test(x, y).reject(), Chi2Test().test(x, y, z).reject()
    (True, False)
    """

    null: str = choice(
        "chi2",
        "Null distribution; ``'permutation'`` permutes ``y`` within the strata, which is valid however small "
        "the cells are.",
        "chi2",
        "permutation",
    )
    n_permutations: int = draws_option(999, "Draws for the permutation null.")

    def _run(self, data: CIData, seed: int) -> Outcome:
        x, y = _levels(data.x, "x"), _levels(data.y, "y")
        z = np.zeros(data.n, dtype=np.int64) if data.z is None else _levels(data.z, "z")
        tables = count_tables(x, y, z)
        expected = expected_counts(tables)
        statistic = self._distance(tables, expected)
        df = degrees_of_freedom(tables)
        diagnostics: dict[str, Any] = {"df": df, "n_strata": len(tables), "n_levels": list(tables.shape[1:])}
        if df == 0:
            message = "x or y is constant in every stratum of z: nothing is left to test, the p-value is one"
            return Outcome(0.0, 1.0, NullDistribution("chi2"), 0.0, diagnostics, (message,))
        smaller = min(tables.shape[1:]) - 1
        effect = min(math.sqrt(statistic / (data.n * smaller)), 1.0)
        if self.null == "permutation":
            rng = generator(seed, "contingency")
            # The margins stay, and with them the expected counts.
            draws = [
                self._distance(count_tables(x, y[shuffle_within(z, rng)], z), expected)
                for _ in range(self.n_permutations)
            ]
            null = NullDistribution("permutation", {"n_permutations": self.n_permutations})
            return Outcome(statistic, permutation_pvalue(statistic, draws), null, effect, diagnostics)
        null = NullDistribution("chi2", {"df": df})
        return Outcome(statistic, chi2_sf(statistic, df), null, effect, diagnostics, _small_cells(expected))

    def _distance(self, tables: np.ndarray, expected: np.ndarray) -> float:
        filled = expected > 0
        return float(((tables[filled] - expected[filled]) ** 2 / expected[filled]).sum())


@register(
    "g2",
    tags=TestTags(
        summary="likelihood-ratio test for discrete data, stratified by z",
        mixed=False,
        discrete=True,
        standing=45,
        aliases=("gsq", "g-squared"),
        assumes="enough rows in every stratum of Z; null=permutation needs no such rule",
        fails="when Z has many combinations: tables become sparse, and it is then too liberal",
    ),
)
class G2Test(Chi2Test):
    """G-squared (likelihood ratio) test, stratified by ``z``; all else as in `Chi2Test`.

    References
    ----------
    S. S. Wilks. The likelihood test of independence in contingency tables. Annals of Mathematical Statistics,
    1935.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 3, 300)
    >>> G2Test().test(x, (x + rng.integers(0, 2, 300)) % 3).reject()
    True
    """

    def _distance(self, tables: np.ndarray, expected: np.ndarray) -> float:
        filled = tables > 0
        return max(2.0 * float((tables[filled] * np.log(tables[filled] / expected[filled])).sum()), 0.0)


def count_tables(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Counts of shape (strata, levels of x, levels of y), from integer codes that start at zero."""
    shape = (int(z.max()) + 1, int(x.max()) + 1, int(y.max()) + 1)
    cells = np.ravel_multi_index((z, x, y), shape)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape).astype(np.float64)


def expected_counts(tables: np.ndarray) -> np.ndarray:
    """Counts expected under independence within each stratum, none of which is empty."""
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    return rows[:, :, None] * columns[:, None, :] / tables.sum(axis=(1, 2))[:, None, None]


def degrees_of_freedom(tables: np.ndarray) -> int:
    """Sum over the strata of (non-empty rows - 1) (non-empty columns - 1)."""
    rows = (tables.sum(axis=2) > 0).sum(axis=1)
    columns = (tables.sum(axis=1) > 0).sum(axis=1)
    return int(((rows - 1) * (columns - 1)).sum())


def _levels(block: Block, role: str) -> np.ndarray:
    """One integer code per distinct row of the block; refuses continuous columns."""
    n = len(block.values)
    for name, kind, column in zip(block.names, block.kinds, block.values.T, strict=True):
        if kind == "continuous":
            distinct = len(np.unique(column))
            if distinct > min(_MAX_LEVELS, n / 5):
                raise UnsupportedTypeError(
                    f"column {name!r} of {role} looks continuous ({distinct} distinct values, {n} rows), and "
                    "contingency tables need discrete values; bin it, or use a test for mixed data such as "
                    "method='spectral'"
                )
    return np.unique(block.values, axis=0, return_inverse=True)[1].ravel()


def _small_cells(expected: np.ndarray) -> tuple[str, ...]:
    cells = expected[expected > 0]
    below_one, below_five = int((cells < 1).sum()), int((cells < 5).sum())
    if below_one == 0 and below_five <= 0.2 * len(cells):
        return ()
    return (
        f"{below_five} of {len(cells)} expected counts are below 5 and {below_one} below 1: the chi-squared "
        "approximation is doubtful; null='permutation' does not need it",
    )
