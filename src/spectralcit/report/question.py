"""The question that a test answers, in the user's own column names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..verdict import LEVEL, Verdict, direction, enumerated, most_visible_kind, verdict

if TYPE_CHECKING:
    from ..inputs import CIData
    from ..result import CITestResult

__all__ = ["Question"]


@dataclass(frozen=True)
class Question:
    """Which columns were tested, and where they came from.

    Parameters
    ----------
    x, y, z
        Names of the source columns; an empty ``z`` asks for unconditional independence.
    source
        Where the data came from, for instance the path of a file; may be empty.
    event
        Name of the column that tells which times in ``y`` are events; empty when ``y`` is not censored.
    rows
        What was said about the rows, by name: ``("groups", "patient")`` and the like.

    Examples
    --------
    >>> Question(("gene",), ("outcome",), ("age", "stage")).in_words()
    'Is gene independent of outcome once age and stage are known?'
    >>> Question(("gene",), ("outcome",), ()).in_words()
    'Is gene independent of outcome?'
    """

    x: tuple[str, ...]
    y: tuple[str, ...]
    z: tuple[str, ...]
    source: str = ""
    event: str = ""
    rows: tuple[tuple[str, str | int | None], ...] = ()

    def in_words(self) -> str:
        """Return the question as one sentence."""
        verb = "Is" if len(self.x) == 1 else "Are"
        start = f"{verb} {enumerated(self.x)} independent of {enumerated(self.y)}"
        if not self.z:
            return f"{start}?"
        return f"{start} once {enumerated(self.z)} {'is' if len(self.z) == 1 else 'are'} known?"

    def answered(self, pvalue: float, alpha: float) -> Verdict:
        """Return what a p-value says about it at a level, in words."""
        return verdict(pvalue, alpha, self.x, self.y, self.z, tuple(name for name, _ in self.rows))

    def direction(self, result: CITestResult, data: CIData, alpha: float = LEVEL) -> str:
        """Return which way two single columns go together, in words; empty for tests that do not say so."""
        found = result.diagnostics.get("partial_correlation")
        if found is None or len(self.x) != 1 or len(self.y) != 1:
            return ""
        levels = [
            block.names[0][len(name) + 1 : -1] if block.names[0].startswith(f"{name}[") else ""
            for block, name in ((data.x, self.x[0]), (data.y, self.y[0]))
        ]
        said = direction(found, result.n, self.x[0], self.y[0], *levels)
        kind = most_visible_kind(result.diagnostics.get("block_pvalues", {}), self.x[0], self.y[0])
        return f"{said} Most visible: {kind}." if kind and result.pvalue <= alpha else said
