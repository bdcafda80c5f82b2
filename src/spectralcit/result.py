"""The answer of a conditional independence test: one frozen object that explains itself."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from .errors import ParameterError
from .frames import frame_of
from .outcome import NullDistribution, Outcome
from .plain import finite, plain, tag_infinities, untag_infinities
from .printed import as_html, as_text
from .question import Question
from .verdict import LEVEL, pvalue_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .views import Kept

__all__ = ["CITestResult", "NullDistribution", "Outcome"]

# Entries of a null distribution that count draws, in the words of the tests that have them.
_COUNTS = ("n_draws", "n_permutations", "n_bootstrap")
# Types of `to_frame`; text where nothing is said.
_TYPES: dict[str, type] = {
    **dict.fromkeys(("pvalue", "pvalue_error", "effect", "effect_low", "effect_high"), float),
    **dict.fromkeys(("statistic", "seconds"), float),
    **dict.fromkeys(("sign", "n", "seed"), int),
}


@dataclass(frozen=True, repr=False)
class CITestResult:
    """Outcome of a test of "X is independent of Y given Z".

    A result of `ci_test` or of a test's ``test`` holds the prepared data as long as it lives, unless they are
    large, for `report` and `plot`; copies, pickles and JSON do without them.

    Parameters
    ----------
    statistic
        The test statistic, a finite number.
    pvalue
        The p-value, in (0, 1]. A small value speaks against conditional independence.
    effect_size
        How strong the conditional dependence looks, on the scale documented by the test; ``None`` when the
        test has none.
    method
        The registered name of the test.
    n
        Number of rows used, after missing rows were dropped.
    n_train, n_test
        Rows used for learning and for testing, when the test splits its sample.
    null
        The null distribution behind the p-value.
    diagnostics
        Anything else worth knowing. Stored as plain JSON types: arrays become lists, tuples become lists, NaN
        becomes ``None``.
    warnings
        Sentences that the user should read before trusting the p-value.
    seconds
        Wall-clock time of the test.
    seed
        The seed in use; giving it back as ``random_state`` repeats the result exactly.
    question
        The columns that were tested; ``None`` when nobody knows their names.

    Examples
    --------
    >>> result = CITestResult(
    ...     statistic=9.0, pvalue=0.06, method="toy", n=100, null=NullDistribution("chi2", {"df": 4})
    ... )
    >>> result.reject(alpha=0.05)
    False
    >>> CITestResult.from_dict(result.to_dict()) == result
    True
    """

    statistic: float
    pvalue: float
    method: str
    n: int
    null: NullDistribution
    effect_size: float | None = None
    n_train: int | None = None
    n_test: int | None = None
    diagnostics: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    seed: int | None = None
    question: Question | None = None

    # The data and the settings of the test; no field, so that equality and storage do not see it.
    _kept: ClassVar[Kept | None] = None

    def __post_init__(self) -> None:
        checked = {
            "statistic": finite(self.statistic, "statistic"),
            "pvalue": finite(self.pvalue, "pvalue"),
            "effect_size": None if self.effect_size is None else finite(self.effect_size, "effect_size"),
            "method": str(self.method),
            "n": int(self.n),
            "n_train": None if self.n_train is None else int(self.n_train),
            "n_test": None if self.n_test is None else int(self.n_test),
            "diagnostics": plain(self.diagnostics, "diagnostics"),
            "warnings": tuple(str(text) for text in self.warnings),
            "seconds": finite(self.seconds, "seconds"),
            "seed": None if self.seed is None else int(self.seed),
        }
        if not 0.0 < checked["pvalue"] <= 1.0:
            raise ParameterError(f"pvalue must be in (0, 1], got {self.pvalue!r}")
        if checked["seconds"] < 0.0:
            raise ParameterError(f"seconds must not be negative, got {self.seconds!r}")
        if not isinstance(self.question, Question | None):
            raise ParameterError(f"question must be a Question, got {type(self.question).__name__}")
        if not isinstance(self.null, NullDistribution):
            raise ParameterError(f"null must be a NullDistribution, got {type(self.null).__name__}")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def reject(self, alpha: float = LEVEL) -> bool:
        """Tell whether conditional independence is rejected at level `alpha`.

        Parameters
        ----------
        alpha
            The level, strictly between 0 and 1.

        Returns
        -------
        bool
            ``True`` when ``pvalue <= alpha``.
        """
        if not 0.0 < alpha < 1.0:
            raise ParameterError(f"alpha must be strictly between 0 and 1, got {alpha!r}")
        return self.pvalue <= alpha

    @property
    def pvalue_error(self) -> float | None:
        """Standard error of the p-value from drawing at random; ``None`` when nothing was drawn.

        Another seed gives another p-value, which differs by about that much.
        """
        told = self.diagnostics.get("pvalue_error")
        if isinstance(told, float):
            return told
        counts = [count for name in _COUNTS if isinstance(count := self.null.parameters.get(name), int)]
        return math.sqrt(self.pvalue * (1.0 - self.pvalue) / counts[0]) if counts and counts[0] > 0 else None

    @property
    def effect_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the effect size; ``None`` when the test has none."""
        ends = self.diagnostics.get("effect_interval")
        return None if ends is None else (ends[0], ends[1])

    @property
    def sign(self) -> int | None:
        """1 when X and Y rise together, -1 when one falls as the other rises; else ``None``.

        It is that of the linear part of the dependence, of two single columns, where this part is seen at
        level 0.05. Of a category with two levels the second, as they are sorted, counts as the larger.
        """
        correlation = self.diagnostics.get("partial_correlation")
        if not isinstance(correlation, float) or correlation == 0.0:
            return None
        blocks = self.diagnostics.get("block_pvalues")
        seen = blocks.get("linear × linear") if isinstance(blocks, dict) else None
        return None if (self.pvalue if seen is None else seen) > LEVEL else int(math.copysign(1, correlation))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON types; `from_dict` is the exact inverse."""
        out = {item.name: getattr(self, item.name) for item in fields(self)}
        out["null"] = {"name": self.null.name, "parameters": tag_infinities(self.null.parameters)}
        out["diagnostics"] = tag_infinities(self.diagnostics)
        out["warnings"] = list(self.warnings)
        out["question"] = None if self.question is None else self.question.to_dict()
        return out

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> CITestResult:
        """Rebuild a result from what `to_dict` returned, also after a trip through JSON.

        Parameters
        ----------
        content
            The mapping; unknown or missing entries raise `ParameterError`.
        """
        names = {item.name for item in fields(cls)}
        if not isinstance(content, Mapping) or {*content, "question"} != names:  # once there was no question
            found = sorted(map(str, content)) if isinstance(content, Mapping) else type(content).__name__
            raise ParameterError(f"not a stored CITestResult: expected entries {sorted(names)}, got {found}")
        null = content["null"]
        if not isinstance(null, Mapping) or set(null) != {"name", "parameters"}:
            raise ParameterError("not a stored CITestResult: 'null' must have 'name' and 'parameters'")
        restored = dict(content)
        restored["null"] = NullDistribution(null["name"], untag_infinities(null["parameters"]))
        restored["diagnostics"] = untag_infinities(content["diagnostics"])
        restored["warnings"] = tuple(content["warnings"])
        asked = content.get("question")
        restored["question"] = None if asked is None else Question.from_dict(asked)
        return cls(**restored)

    def keeping(self, kept: Kept) -> CITestResult:
        """Return the result with the data that `report` and `plot` draw.

        Parameters
        ----------
        kept
            The data and the settings of the test.
        """
        out = replace(self)
        object.__setattr__(out, "_kept", kept)
        return out

    @property
    def kept(self) -> Kept | None:
        """The data and settings of the test, where they are still at hand."""
        return self._kept

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the result as a frame with one row, to be stacked with others.

        Parameters
        ----------
        backend
            The library of the frame: ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
        """
        low, high = self.effect_interval or (None, None)
        asked = self.question or Question(("X",), ("Y",), ("Z",))
        row = {
            **{role: ", ".join(getattr(asked, role)) for role in ("x", "y", "z")},
            **{"pvalue": self.pvalue, "pvalue_error": self.pvalue_error},
            **{"effect": self.effect_size, "effect_low": low, "effect_high": high, "sign": self.sign},
            **{"statistic": self.statistic, "method": self.method, "n": self.n, "seed": self.seed},
            **{"seconds": self.seconds, "warnings": "; ".join(self.warnings)},
        }
        return frame_of({name: [value] for name, value in row.items()}, _TYPES, backend)

    def report(self, path: str | Path, *, alpha: float = LEVEL) -> Path:
        """Write an HTML report of the result.

        Parameters
        ----------
        path
            The file.
        alpha
            The level of the verdict.

        Returns
        -------
        Path
            The file.
        """
        return _upstairs("shown").write_own_report(self, Path(path), alpha)

    def plot(self) -> Figure:
        """Draw the statistic on its null distribution and what else of the test there is to see."""
        return _upstairs("shown").own_figure(self)

    def effect_text(self) -> str:
        """Return the effect size for reading, with its sign and interval as far as there are any."""
        if self.effect_size is None:
            return "none"
        sign = {1: ", positive", -1: ", negative", None: ""}[self.sign]
        ends = self.effect_interval
        shown = f" (95 % interval {ends[0]:.2g} to {ends[1]:.2g})" if ends else ""
        return f"{self.effect_size:.2g}{sign}{shown}"

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        asked = "X ⫫ Y | Z" if self.question is None else self.question.in_symbols()
        effect = "" if self.effect_size is None else f", effect {self.effect_text()}"
        p = pvalue_text(self.pvalue, self.pvalue_error)
        return f"<{self.method}: {asked}, p {'' if p.startswith('<') else '= '}{p}{effect}, n = {self.n}>"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_kept"}

    def _repr_html_(self) -> str:
        """Table for notebooks."""
        return as_html(self)


def _upstairs(module: str) -> Any:
    """A module of those that draw: they stand on results, so a result finds them by name, when asked."""
    return importlib.import_module(f"{__package__}.{module}")
