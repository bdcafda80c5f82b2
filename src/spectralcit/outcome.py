"""What the mathematics of a test hands back: an outcome, and the null distribution behind its p-value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .plain import plain

if TYPE_CHECKING:
    from .views import LeadingPair

__all__ = ["NullDistribution", "Outcome"]


@dataclass(frozen=True)
class NullDistribution:
    """The distribution that a statistic is compared with when the null hypothesis holds.

    Parameters
    ----------
    name
        A short name such as ``"chi2"``, ``"normal"``, ``"chi2_mixture"`` or ``"bootstrap"``.
    parameters
        The numbers that fix it, for instance ``{"df": 100}``, ``{"weights": [...]}`` or ``{"draws": [...]}``.

    Examples
    --------
    >>> str(NullDistribution("chi2", {"df": 4}))
    'chi2(df=4)'
    """

    name: str
    parameters: dict[str, float | int | list] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", plain(self.parameters, "null.parameters"))

    def __str__(self) -> str:
        def brief(value: Any) -> str:
            if isinstance(value, list):
                return f"[{len(value)} values]"
            return f"{value:g}" if isinstance(value, float) else str(value)

        inside = ", ".join(f"{key}={brief(value)}" for key, value in self.parameters.items())
        return f"{self.name}({inside})"


@dataclass(frozen=True)
class Outcome:
    """What the mathematics of a test hands back; `BaseCITest.test` turns it into a `CITestResult`.

    Parameters
    ----------
    statistic, pvalue, null, effect_size, diagnostics, warnings, n_train, n_test
        As in `CITestResult`. A p-value that underflowed to zero is allowed here and becomes the smallest
        positive normal float in the result.
    show
        Computes what a report draws of this run, from what the run had at hand; see `BaseCITest.examine`.
    """

    statistic: float
    pvalue: float
    null: NullDistribution
    effect_size: float | None = None
    diagnostics: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    n_train: int | None = None
    n_test: int | None = None
    show: Callable[[], LeadingPair] | None = None
