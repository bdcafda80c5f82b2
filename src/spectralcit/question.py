"""The question that a test answers, in the user's own column names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import ParameterError
from .verdict import LEVEL, Verdict, direction, enumerated, most_visible_kind, verdict

if TYPE_CHECKING:
    from .inputs import CIData
    from .result import CITestResult

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
        said = direction(found, result.sign is not None, self.x[0], self.y[0], *levels)
        kind = most_visible_kind(result.diagnostics.get("block_pvalues", {}), self.x[0], self.y[0])
        return f"{said} Most visible: {kind}." if kind and result.pvalue <= alpha else said

    def in_symbols(self) -> str:
        """Return the hypothesis in signs: ``gene ⫫ outcome | age, stage``."""
        given = f" | {enumerated(self.z)}" if self.z else ""
        return f"{enumerated(self.x)} ⫫ {enumerated(self.y)}{given}"

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain JSON types."""
        return {
            **{role: list(getattr(self, role)) for role in ("x", "y", "z")},
            "source": self.source,
            "event": self.event,
            "rows": [list(pair) for pair in self.rows],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Question:
        """Rebuild what `to_dict` returned.

        Parameters
        ----------
        content
            The mapping.
        """
        try:
            x, y, z = (tuple(content[role]) for role in ("x", "y", "z"))
            rows = tuple((name, value) for name, value in content["rows"])
            return cls(x, y, z, content["source"], content["event"], rows)
        except (KeyError, TypeError, ValueError) as error:
            raise ParameterError(f"not a stored question: {content!r}") from error
