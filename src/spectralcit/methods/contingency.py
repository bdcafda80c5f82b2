"""Chi-squared and G-squared tests of conditional independence for discrete data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import BaseCITest
from ..errors import ParameterError, UnsupportedTypeError
from ..inputs import Block, CIData
from ..null import chi2_sf, permutation_pvalue
from ..numeric.streams import generator
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["Chi2Test", "G2Test"]

_MAX_LEVELS = 50


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

    Parameters
    ----------
    null
        ``"chi2"``, or ``"permutation"`` to permute ``y`` within the strata, which is valid however small the
        cells are.
    n_permutations
        Draws for the permutation null.
    random_state, missing
        As in `BaseCITest`.

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

    def __init__(
        self,
        *,
        null: str = "chi2",
        n_permutations: int = 999,
        random_state: int | None = None,
        missing: str = "raise",
    ) -> None:
        super().__init__(random_state=random_state, missing=missing)
        self.null = null
        self.n_permutations = n_permutations

    def _run(self, data: CIData, seed: int) -> Outcome:
        if self.null not in ("chi2", "permutation"):
            raise ParameterError(f"null must be 'chi2' or 'permutation', got {self.null!r}")
        if self.n_permutations < 1:
            raise ParameterError(f"n_permutations must be at least 1, got {self.n_permutations!r}")
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
                self._distance(count_tables(x, permute_within(y, z, rng), z), expected)
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

    Parameters
    ----------
    null, n_permutations, random_state, missing
        As in `Chi2Test`.

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
    """Counts of shape (strata, levels of x, levels of y).

    Parameters
    ----------
    x, y, z
        Integer codes from zero.
    """
    shape = (int(z.max()) + 1, int(x.max()) + 1, int(y.max()) + 1)
    cells = np.ravel_multi_index((z, x, y), shape)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape).astype(np.float64)


def expected_counts(tables: np.ndarray) -> np.ndarray:
    """Counts expected under independence within each stratum.

    Parameters
    ----------
    tables
        As from `count_tables`; no stratum is empty.
    """
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    return rows[:, :, None] * columns[:, None, :] / tables.sum(axis=(1, 2))[:, None, None]


def degrees_of_freedom(tables: np.ndarray) -> int:
    """Sum over the strata of (non-empty rows - 1) (non-empty columns - 1).

    Parameters
    ----------
    tables
        As from `count_tables`.
    """
    rows = (tables.sum(axis=2) > 0).sum(axis=1)
    columns = (tables.sum(axis=1) > 0).sum(axis=1)
    return int(((rows - 1) * (columns - 1)).sum())


def permute_within(values: np.ndarray, strata: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Permute `values` at random among the rows of each stratum.

    Parameters
    ----------
    values, strata
        Arrays of one length.
    rng
        Source of randomness.
    """
    before = np.argsort(strata, kind="stable")
    after = np.lexsort((rng.random(len(values)), strata))
    permuted = np.empty_like(values)
    permuted[before] = values[after]
    return permuted


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
