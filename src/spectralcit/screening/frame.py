"""`ScreenResult`: the answers of a screen as a table, sorted, and its pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..frames import frame_of
from .discoveries import inflation, qvalues
from .rows import ScreenRow, hundredths

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..views import LeadingPair
    from .again import LookAgain

__all__ = ["ScreenResult"]

_LEVEL = 0.1  # by hand: share of false discoveries that a first look at a table tolerates
_SHOWN = 10  # rows in the printed form


@dataclass(frozen=True, eq=False)
class ScreenResult:
    """One row for every column, the most surprising first.

    Parameters
    ----------
    rows
        The answers, in any order; they are sorted by p-value, columns without one last.
    z
        Names of the columns that were given.
    fdr
        How q-values are computed: ``"bh"``, ``"by"`` or None for none.
    mode
        ``"two-stage"`` or ``"full"``.
    method
        The registered name of the test.
    seed
        The seed of every test: ``ci_test(x, y, z, random_state=seed)`` repeats any row of the stage "full".
    n_computed
        How many rows were computed and not read from a store.
    about_rows
        What was said about the rows of the table, as one would write it again.
    look_again
        Where the columns came from, for `leading_pair`.
    events
        Of outcomes that are censored times, the name of the column that tells which of them are events.

    Examples
    --------
    >>> found = ScreenResult(
    ...     (ScreenRow("a", "y", 0.6), ScreenRow("b", "y", 0.01), ScreenRow("c", "y", reason="constant")),
    ...     z=("age",),
    ...     fdr="bh",
    ...     mode="full",
    ...     method="spectral",
    ...     seed=0,
    ...     n_computed=3,
    ... )
    >>> [row.x for row in found.rows], found.qvalues
    (['b', 'a', 'c'], (0.02, 0.6, None))
    """

    rows: tuple[ScreenRow, ...]
    z: tuple[str, ...]
    fdr: str | None
    mode: str
    method: str
    seed: int
    n_computed: int
    about_rows: Mapping[str, str] = field(default_factory=dict)
    look_again: LookAgain | None = field(default=None, repr=False)
    events: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ordered = sorted(self.rows, key=lambda row: np.inf if row.pvalue is None else row.pvalue)
        object.__setattr__(self, "rows", tuple(ordered))

    @cached_property
    def pvalues(self) -> np.ndarray:
        """The p-values there are, sorted."""
        return np.array([row.pvalue for row in self.rows if row.pvalue is not None])

    @cached_property
    def qvalues(self) -> tuple[float | None, ...]:
        """The q-value of each row; None without a p-value or without `fdr`."""
        if self.fdr is None or not len(self.pvalues):
            return (None,) * len(self.rows)
        adjusted = qvalues(self.pvalues, self.fdr).tolist()
        return (*adjusted, *(None,) * (len(self.rows) - len(adjusted)))

    @property
    def inflation(self) -> float:
        """λ: near one if most columns have nothing to do with the outcome; NaN without p-values."""
        return inflation(self.pvalues) if len(self.pvalues) else float("nan")

    def hits(self, level: float = _LEVEL) -> tuple[ScreenRow, ...]:
        """Return the rows with a q-value (without `fdr`, a p-value) of at most `level`."""
        judged = self.qvalues if self.fdr is not None else [row.pvalue for row in self.rows]
        return tuple(
            row for row, value in zip(self.rows, judged, strict=True) if value is not None and value <= level
        )

    def leading_pair(self, row: ScreenRow) -> LeadingPair | None:
        """Remove Z once more from the columns of a row, to see what is left: `plot_partial` draws it.

        Parameters
        ----------
        row
            One of `rows`.

        Returns
        -------
        LeadingPair or None
            None for a row without a p-value, and for tests that have nothing of this kind to show.
        """
        if self.look_again is None or row.pvalue is None:
            return None
        return self.look_again(row.x, row.y)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table as lists by column name, ready for any library."""
        rows = self.rows
        return {
            "x": [row.x for row in rows],
            "y": [row.y for row in rows],
            "pvalue": [row.pvalue for row in rows],
            "qvalue": list(self.qvalues),
            "effect": [row.effect for row in rows],
            "effect_low": [row.low for row in rows],
            "effect_high": [row.high for row in rows],
            "sign": [row.sign for row in rows],
            "kind": [row.kind for row in rows],
            "stage": [row.stage for row in rows],
            "n": [row.n for row in rows],
            "warnings": ["; ".join(row.warnings) for row in rows],
            "reason": [row.reason for row in rows],
        }

    def to_frame(self, backend: Any) -> Any:
        """Return the table as a frame of any library that narwhals makes: ``"pandas"``, ``"pyarrow"``, ...

        Parameters
        ----------
        backend
            Its name.
        """
        numbers = ("pvalue", "qvalue", "effect", "effect_low", "effect_high")
        return frame_of(self.columns(), {**dict.fromkeys(numbers, float), "sign": int, "n": int}, backend)

    def to_pandas(self) -> Any:
        """Return the table as a pandas data frame."""
        return self.to_frame("pandas")

    def to_polars(self) -> Any:
        """Return the table as a polars data frame."""
        return self.to_frame("polars")

    def plot(self, level: float = _LEVEL) -> Figure:
        """Draw a volcano of effect against p-value, and a QQ plot of the p-values with λ.

        Parameters
        ----------
        level
            Hits up to this q-value (without `fdr`, p-value) are marked, and the first of them named.
        """
        from .pictures import screen_figure  # matplotlib takes a second

        return screen_figure(self, level)

    def __str__(self) -> str:
        given = f" given {', '.join(self.z)}" if self.z else ""
        outcomes = sorted({row.y for row in self.rows})
        about = outcomes[0] if len(outcomes) == 1 else f"{len(outcomes)} outcomes"
        none = len(self.rows) - len(self.pvalues)
        lines = [
            f"{len(self.rows)} columns against {about}{given}: {len(self.hits())} with "
            f"{'q' if self.fdr else 'p'} ≤ {_LEVEL:g}, {none} without a p-value, λ = {self.inflation:.2f}"
        ]
        for row, q in list(zip(self.rows, self.qvalues, strict=True))[:_SHOWN]:
            if row.pvalue is not None:
                adjusted = "" if q is None else f"  q {q:.3g}"
                effect = "" if row.effect is None else f"  effect {hundredths(row.signed_effect)}"
                lines.append(f"  {row.x:<20} p {row.pvalue:.3g}{adjusted}{effect}  {row.kind or ''}".rstrip())
        return "\n".join(lines)
