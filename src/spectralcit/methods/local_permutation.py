"""Local permutation test: permute x among rows with nearby z."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..base import BaseCITest
from ..errors import TooFewRowsError
from ..inputs import Block, CIData
from ..null.resampling import ResamplingOptions, draws_option, resampled_outcome
from ..numeric.cells import nested_cells, share_within, shuffle_within
from ..numeric.kernels import gaussian_gram, median_width, standardize
from ..numeric.memory import require_memory
from ..numeric.streams import generator
from ..parameters import choice, integer
from ..registry import TestTags, register
from ..result import Outcome
from ..statistics.measures import Statistic, equal_count_levels, prepare_statistic, statistic_option

__all__ = ["LocalPermutation"]

_FINE_ROWS = 2  # fewer would leave nothing to permute, and more make the cells wider
_LEAST_ROWS = 4  # of the unbiased estimate of the Hilbert-Schmidt criterion
_WIDE = 0.1  # of the variance of a column of z left within the cells, by hand: worth a warning

Evaluate = Callable[[np.ndarray], float]


@register(
    "local-permutation",
    tags=TestTags(
        summary="permute x among rows with nearby z, single or double binning (Kim et al. 2022)",
        aliases=("lpt",),
        honours=("groups",),
        assumes=("X given Z, or Y given Z, hardly changes within a cell of Z; nothing when Z is discrete"),
        fails="by rejecting true nulls when Z has more than two or three columns",
    ),
)
class LocalPermutation(ResamplingOptions, BaseCITest):
    """Local permutation test with single or double binning.

    The rows are binned by ``z`` into cells of about equal counts, and ``x`` is permuted within the cells. The
    test is exact when ``z`` is discrete (or absent), and valid when the distribution of x given z, or of y
    given z, hardly changes within a cell. With ``groups``, x is permuted within groups: what all rows of a
    group have in common, on either side, then plays no part, and dependence between groups is not seen.

    Notes
    -----
    Cells of several columns are those of a k-d tree: cut at the median of the column that varies most. The
    result warns when much of the variance of z is left within the cells. The effect size is the one of `CRT`.

    References
    ----------
    I. Kim, M. Neykov, S. Balakrishnan and L. Wasserman. Local permutation tests for conditional independence.
    Annals of Statistics, 2022.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=300)
    >>> x, y = z + rng.normal(size=300), z**2 + rng.normal(size=300)
    >>> test = LocalPermutation(n_permutations=199, random_state=0)
    >>> test.test(x, y, z).reject(), test.test(x, y + x**2, z).reject()
    (False, True)
    """

    binning: str = choice(
        "double",
        "``'single'``: the same cells for the statistic and for the permutations. ``'double'``: the "
        "statistic is computed in coarse cells, where it has power, and the permutations stay within fine "
        "ones, which keeps the test valid for less smooth distributions.",
        "single",
        "double",
    )
    statistic: Statistic = statistic_option(
        "kernel",
        "kernel",
        "discretised",
        doc="``'kernel'``: unbiased Hilbert-Schmidt criterion within each cell, weighted by its rows, with a "
        "Gaussian kernel for continuous and the equality kernel for discrete variables. ``'discretised'``: "
        "the same with every column cut into equal-count levels, the statistic of the paper. The others are "
        "computed on all rows.",
        permuted=True,
    )
    rows_per_cell: int | None = integer(
        None,
        "Fewest rows among which x is permuted (cells have less than twice as many); None means 2 for double "
        "binning and n to the power 1/3, at least 4, for single binning.",
        least=2,
        also=(None,),
    )
    rows_per_coarse_cell: int | None = integer(
        None,
        "Rows per cell of the statistic for double binning; None means n to the power 3/5.",
        least=2,
        also=(None,),
    )
    n_permutations: int = draws_option(999, "Most permutations to draw.")

    def _run(self, data: CIData, seed: int) -> Outcome:
        coarse, fine = self._cells(data)
        evaluate = self._evaluation(data, coarse, generator(seed, "local permutation statistic"))
        observed = evaluate(np.arange(data.n))
        found = self._resample(
            observed,
            lambda rng: evaluate(shuffle_within(fine, rng)),
            n_draws=self.n_permutations,
            seed=seed,
            label="permutations of x",
        )
        within = 0.0 if data.z is None else share_within(standardize(data.z.values), fine)
        diagnostics: dict[str, Any] = {
            "n_cells": int(fine.max()) + 1,
            "n_coarse_cells": int(coarse.max()) + 1,
            "z_variance_within_cells": within,
        }
        outcome = resampled_outcome(observed, found, data.n, "local_permutation", diagnostics)
        return outcome if within <= _WIDE else _with_warning(outcome, within)

    def _cells(self, data: CIData) -> tuple[np.ndarray, np.ndarray]:
        if data.design is not None and data.design.members is not None:
            return self._cells_within(data, data.design.members)
        if data.z is None:
            return np.zeros(data.n, dtype=int), np.zeros(data.n, dtype=int)
        z, discrete = data.z.values, np.array([kind != "continuous" for kind in data.z.kinds])
        if self.binning == "single":
            rows = self.rows_per_cell or max(math.ceil(data.n ** (1 / 3)), _LEAST_ROWS)
            return nested_cells(z, discrete, (rows, rows))
        fine = self.rows_per_cell or _FINE_ROWS
        coarse = self.rows_per_coarse_cell or max(math.ceil(data.n**0.6), fine)
        return nested_cells(z, discrete, (coarse, fine))

    def _cells_within(self, data: CIData, members: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Groups for coarse cells, and cells of nearby z within each group for fine ones."""
        if max(map(len, members)) < _LEAST_ROWS:
            raise TooFewRowsError(
                f"'local-permutation' permutes x within groups, and no group has {_LEAST_ROWS} rows; "
                "use 'spectral'"
            )
        coarse, fine = np.zeros(data.n, dtype=int), np.zeros(data.n, dtype=int)
        for k, rows in enumerate(members):
            coarse[rows] = k
            if data.z is None:
                fine[rows] = k
                continue
            discrete = np.array([kind != "continuous" for kind in data.z.kinds])
            least = min(self.rows_per_cell or _FINE_ROWS, len(rows))
            fine[rows] = fine.max() + 1 + nested_cells(data.z.values[rows], discrete, (len(rows), least))[1]
        return coarse, np.unique(fine, return_inverse=True)[1].ravel()

    def _evaluation(self, data: CIData, coarse: np.ndarray, rng: np.random.Generator) -> Evaluate:
        x, z = data.x.values, None if data.z is None else data.z.values
        if self.statistic not in ("kernel", "discretised"):
            statistic = prepare_statistic(self.statistic, data.y.values, z, rng, permuted=True)
            return lambda order: statistic(x[order])
        cells = [rows for rows in _rows_of(coarse) if len(rows) >= _LEAST_ROWS]
        require_memory(max(map(len, cells), default=0), 6, method="local-permutation", instead="rcit")
        kernel = gaussian_or_equality if self.statistic == "kernel" else level_equality
        return kernel_evaluation(kernel(data.x), kernel(data.y), cells)


def kernel_evaluation(
    kernel_x: Callable[[np.ndarray], np.ndarray],
    kernel_y: Callable[[np.ndarray], np.ndarray],
    cells: list[np.ndarray],
) -> Evaluate:
    """Return ``f(order)``: the unbiased Hilbert-Schmidt criteria of the cells times their rows, summed.

    The kernels lead from the rows of a cell, at least four, to its Gram matrix. An order must not move a row
    to another cell.
    """
    parts = []
    for rows in cells:
        scale = 1.0 / (len(rows) - 3)  # the number of rows over n (n - 3)
        parts.append((rows, u_centred(kernel_x(rows)), u_centred(kernel_y(rows)) * scale))
    n = 1 + max((int(rows.max()) for rows in cells), default=0)
    position = np.zeros(n, dtype=int)
    for rows in cells:
        position[rows] = np.arange(len(rows))

    def evaluate(order: np.ndarray) -> float:
        total = 0.0
        for rows, gram_x, gram_y in parts:
            moved = position[order[rows]]
            total += float(np.vdot(gram_x[moved[:, None], moved], gram_y))
        return total

    return evaluate


def u_centred(gram: np.ndarray) -> np.ndarray:
    """Gram matrix centred so that inner products divided by n (n - 3) are unbiased; zero on the diagonal.

    References
    ----------
    G. J. Székely and M. L. Rizzo. Partial distance correlation with methods for dissimilarities. Annals of
    Statistics, 2014.
    """
    n = len(gram)
    off = gram - np.diag(np.diag(gram))
    sums = off.sum(axis=0)
    centred = off - (sums + sums[:, None]) / (n - 2) + sums.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(centred, 0.0)
    return centred


def gaussian_or_equality(block: Block) -> Callable[[np.ndarray], np.ndarray]:
    """Gaussian kernel with the median width of the cell; equality kernel when all columns are discrete."""
    if all(kind != "continuous" for kind in block.kinds):
        codes = np.unique(block.values, axis=0, return_inverse=True)[1].ravel()
        return lambda rows: (codes[rows][:, None] == codes[rows]).astype(np.float64)
    scaled = standardize(block.values)
    return lambda rows: gaussian_gram(scaled[rows], median_width(scaled[rows]))


def level_equality(block: Block) -> Callable[[np.ndarray], np.ndarray]:
    """Share of the columns in which two rows have the same of about n to the power 2/7 levels."""
    most = math.ceil(len(block.values) ** (2 / 7))
    levels = np.column_stack([equal_count_levels(column, most) for column in block.values.T])
    return lambda rows: (levels[rows][:, None, :] == levels[rows]).mean(axis=2)


def _rows_of(cells: np.ndarray) -> list[np.ndarray]:
    order = np.argsort(cells, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(cells[order])) + 1)


def _with_warning(outcome: Outcome, within: float) -> Outcome:
    text = (
        f"the cells of z are wide: {100 * within:.0f}% of the variance of a column of z is left within them, "
        "and the test may reject because of z alone; z has too many columns for so few rows"
    )
    return replace(outcome, warnings=(*outcome.warnings, text))
