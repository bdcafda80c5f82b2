"""`SequentialCI`: a test by betting, for rows that come in batches and people who look after each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import CensoredTimesError, ConstantColumnError, LengthMismatchError, ParameterError
from ..inputs import CIData, prepare
from ..inputs.censored import as_censored
from ..inputs.check import check_infinite, check_lengths
from ..inputs.missing import handle_missing
from ..inputs.read import Table, read
from ..null.betting import LARGEST_LOSS, Wealth, kelly_stakes
from ..verdict import LEVEL
from .features import Products
from .rows import as_data_table, joined

__all__ = ["SequentialCI"]

_LEAST_ROWS = 50  # by hand: fewer teach no regression on Z; bets begin when these have been seen
_ROWS_PER_COLUMN = 10  # likewise for each column of Z
# On the product of unit-variance residuals, up and down: correlations between 0.03 and 0.3 are met well.
_STAKES = (0.05, 0.1, 0.2)
# Shares of the capital, by hand: fixed stakes on the linear product that was largest so far; stakes learned
# from the past on all linear products, on the most promising product of all, and on all products together.
_SHARES = (*(0.2 / 6,) * 6, 0.35, 0.25, 0.2)


class SequentialCI:
    """Test whether X is independent of Y given Z, with a look after every batch of rows.

    What Z explains is learned from all earlier rows; on the new ones, the test bets that products of
    residuals (of functions of X and of Y, also times functions of Z) are not zero on average. Under the null
    hypothesis nobody gets rich by that: wealth is an e-value, and the chance that it *ever* reaches
    ``1 / level`` is at most ``level``, as far as Z can be learned. So one may stop whenever the answer is
    clear, or go on.

    Parameters
    ----------
    missing
        ``"raise"``, or ``"drop"`` to leave out rows with missing values.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> test = SequentialCI()
    >>> for _ in range(10):
    ...     z, e, x = rng.normal(size=(3, 100))
    ...     test.update(x + z, 0.3 * x + z + e, z)
    >>> test.n, test.reject(0.05)
    (1000, True)
    """

    def __init__(self, *, missing: str = "raise") -> None:
        if missing not in ("raise", "drop"):
            raise ParameterError(f"missing must be 'raise' or 'drop', got {missing!r}")
        self.missing = missing
        self._rows: list[Table] = []
        self._wealth = Wealth(np.array(_SHARES))
        self._history: list[tuple[int, float]] = []

    def update(self, x: Any, y: Any, z: Any = None) -> None:
        """Bet on new rows with what was learned from the earlier ones, then learn from them too.

        Parameters
        ----------
        x, y, z
            As in `ci_test`, the same columns in every batch. The first rows, at least 50 and ten for each
            column of Z, are for learning only.
        """
        batch = self._read(x, y, z)
        rows = joined(self._rows, batch) if self._rows else batch
        n_past = rows[0].n - batch[0].n
        data = _prepared(rows) if n_past >= _LEAST_ROWS else None
        if data is not None and (data.z is None or n_past >= _ROWS_PER_COLUMN * data.z.n_columns):
            past = data.subset(slice(0, n_past))
            products = Products.fit(past)
            stakes = _stakes(products(past), products.n_linear, products.bounds)
            self._wealth.multiply(products(data.subset(slice(n_past, None))) @ stakes)
        self._rows = rows
        self._history.append((self.n, self.evalue))

    @property
    def n(self) -> int:
        """Rows seen so far."""
        return self._rows[0].n if self._rows else 0

    @property
    def evalue(self) -> float:
        """Wealth now: under the null hypothesis its mean is at most one, however often one looks."""
        return self._wealth.total

    @property
    def pvalue(self) -> float:
        """One over the largest e-value so far, valid at any time at which one chooses to stop."""
        return min(1.0, 1.0 / self._wealth.largest)

    @property
    def history(self) -> tuple[tuple[int, float], ...]:
        """Rows and e-value after each update."""
        return tuple(self._history)

    def reject(self, level: float = LEVEL) -> bool:
        """Tell whether conditional independence is rejected, now or at any earlier look.

        Parameters
        ----------
        level
            Strictly between 0 and 1.

        Returns
        -------
        bool
            ``True`` when ``pvalue <= level``.
        """
        if not 0.0 < level < 1.0:
            raise ParameterError(f"level must be strictly between 0 and 1, got {level!r}")
        return self.pvalue <= level

    def __repr__(self) -> str:
        return f"SequentialCI(n={self.n}, evalue={self.evalue:.4g}, pvalue={self.pvalue:.4g})"

    def _read(self, x: Any, y: Any, z: Any) -> list[Table]:
        if as_censored(y) is not None:
            raise CensoredTimesError("SequentialCI cannot take censored times as y; see ci_test")
        tables = [read(given, role) for role, given in (("x", x), ("y", y), ("z", z)) if given is not None]
        check_lengths(tables)
        check_infinite(tables)
        tables = handle_missing(tables, self.missing).tables
        widths, before = ([len(table.columns) for table in each] for each in (tables, self._rows))
        if before and widths != before:
            raise LengthMismatchError(
                f"x, y and z must have the same columns in every batch: {before} columns so far, {widths} now"
            )
        return tables


def _prepared(rows: list[Table]) -> CIData | None:
    """All rows so far; None while a column has not varied yet, as a rare category may take its time to."""
    try:
        return prepare(*map(as_data_table, rows), min_rows=1)
    except ConstantColumnError:
        return None


def _stakes(past: np.ndarray, n_linear: int, bounds: np.ndarray) -> np.ndarray:
    """Return the stakes of each bet on each product, shape (products, bets), from earlier rows' products."""
    n_products = past.shape[1]
    sizes = np.sqrt(np.square(past).mean(axis=0))
    unit = past / np.maximum(sizes, 1e-12)
    means = np.abs(unit.mean(axis=0))
    linear, single = int(np.argmax(means[:n_linear])), int(np.argmax(means))
    stakes = np.zeros((n_products, len(_SHARES)))
    stakes[linear, :6] = np.outer([1.0, -1.0], _STAKES).ravel() / max(sizes[linear], 1e-12)
    stakes[:n_linear, 6] = kelly_stakes(past[:, :n_linear], n_linear - 1.0)
    stakes[single, 7] = kelly_stakes(past[:, [single]], np.log(n_products))[0]
    stakes[:, 8] = kelly_stakes(past, 0.5 * n_products)
    worst = bounds @ np.abs(stakes)
    return stakes * np.minimum(1.0, LARGEST_LOSS / np.maximum(worst, 1e-300))
