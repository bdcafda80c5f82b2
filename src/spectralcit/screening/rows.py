"""What a screen tells of one column: one row of its table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..result import CITestResult
from ..sharing import QuickAnswer
from ..verdict import LEVEL, most_visible_kind

__all__ = ["OUT_OF_MEMORY", "ScreenRow", "from_quick", "from_result", "hundredths", "without_pvalue"]

# A reason that may be gone the next time: a row with it is not stored.
OUT_OF_MEMORY = "there was not enough memory for the test; the same command tries again"


@dataclass(frozen=True)
class ScreenRow:
    """The answer for one column, or why there is none."""

    x: str
    y: str
    pvalue: float | None = None
    stage: str | None = None  # "full" for the whole test, "quick" for the first look
    effect: float | None = None
    low: float | None = None  # ends of the effect's interval
    high: float | None = None
    sign: int | None = None  # of the partial correlation of two single columns
    kind: str | None = None  # of dependence, where it is visible
    n: int | None = None
    warnings: tuple[str, ...] = ()
    reason: str | None = None  # why there is no p-value

    @property
    def is_final(self) -> bool:
        """Whether another run would say the same: memory may be free then."""
        return self.reason != OUT_OF_MEMORY

    @property
    def signed_effect(self) -> float | None:
        """The effect with the sign of the partial correlation."""
        return None if self.effect is None else self.effect * self._direction

    @property
    def signed_interval(self) -> tuple[float, float] | None:
        """The interval of `signed_effect`."""
        if self.low is None or self.high is None:
            return None
        low, high = sorted((self.low * self._direction, self.high * self._direction))
        return low, high

    @property
    def _direction(self) -> float:
        return -1.0 if self.sign == -1 else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {**asdict(self), "warnings": list(self.warnings)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ScreenRow:
        """Rebuild what `to_dict` returned."""
        return cls(**{**content, "warnings": tuple(content["warnings"])})


def from_result(x: str, y: str, result: CITestResult) -> ScreenRow:
    """The row of a whole test."""
    told = result.diagnostics
    low, high = told.get("effect_interval", (None, None))
    return ScreenRow(
        x,
        y,
        pvalue=result.pvalue,
        stage="full",
        effect=result.effect_size,
        low=low,
        high=high,
        sign=_sign(told.get("partial_correlation")),
        kind=most_visible_kind(told.get("block_pvalues", {})) if result.pvalue <= LEVEL else None,
        n=result.n,
        warnings=result.warnings,
    )


def from_quick(x: str, y: str, answer: QuickAnswer, n: int, notes: tuple[str, ...]) -> ScreenRow:
    """The row of a column that the whole test need not look at."""
    return ScreenRow(
        x,
        y,
        pvalue=answer.pvalue,
        stage="quick",
        effect=answer.effect,
        low=answer.interval[0],
        high=answer.interval[1],
        sign=_sign(answer.partial_correlation),
        n=n,
        warnings=notes,
    )


def without_pvalue(x: str, y: str, reason: str) -> ScreenRow:
    """The row of a column that cannot be tested."""
    return ScreenRow(x, y, reason=reason)


def _sign(correlation: float | None) -> int | None:
    return None if correlation is None else (correlation > 0) - (correlation < 0)


def hundredths(value: float | None) -> str:
    """An effect for reading; nothing where there is none.

    Examples
    --------
    >>> hundredths(-0.274), hundredths(-0.001), hundredths(None)
    ('-0.27', '0.00', '')
    """
    return "" if value is None else f"{round(value, 2) + 0.0:.2f}"  # minus zero becomes zero
