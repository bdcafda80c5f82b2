"""The answer of a conditional independence test: one frozen object that explains itself."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from .errors import ParameterError
from .verdict import LEVEL, verdict

if TYPE_CHECKING:
    from .views import LeadingPair

__all__ = ["CITestResult", "NullDistribution", "Outcome"]

# JSON has no infinities. In `to_dict` they become {"__float__": "inf"}; the key is reserved for that.
_FLOAT_TAG = "__float__"


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
        object.__setattr__(self, "parameters", _plain(self.parameters, "null.parameters"))

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


@dataclass(frozen=True)
class CITestResult:
    """Outcome of a test of "X is independent of Y given Z".

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

    def __post_init__(self) -> None:
        checked = {
            "statistic": _finite(self.statistic, "statistic"),
            "pvalue": _finite(self.pvalue, "pvalue"),
            "effect_size": None if self.effect_size is None else _finite(self.effect_size, "effect_size"),
            "method": str(self.method),
            "n": int(self.n),
            "n_train": None if self.n_train is None else int(self.n_train),
            "n_test": None if self.n_test is None else int(self.n_test),
            "diagnostics": _plain(self.diagnostics, "diagnostics"),
            "warnings": tuple(str(text) for text in self.warnings),
            "seconds": _finite(self.seconds, "seconds"),
            "seed": None if self.seed is None else int(self.seed),
        }
        if not 0.0 < checked["pvalue"] <= 1.0:
            raise ParameterError(f"pvalue must be in (0, 1], got {self.pvalue!r}")
        if checked["seconds"] < 0.0:
            raise ParameterError(f"seconds must not be negative, got {self.seconds!r}")
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

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON types; `from_dict` is the exact inverse."""
        out = {item.name: getattr(self, item.name) for item in fields(self)}
        out["null"] = {"name": self.null.name, "parameters": _tag_infinities(self.null.parameters)}
        out["diagnostics"] = _tag_infinities(self.diagnostics)
        out["warnings"] = list(self.warnings)
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
        if not isinstance(content, Mapping) or set(content) != names:
            found = sorted(map(str, content)) if isinstance(content, Mapping) else type(content).__name__
            raise ParameterError(f"not a stored CITestResult: expected entries {sorted(names)}, got {found}")
        null = content["null"]
        if not isinstance(null, Mapping) or set(null) != {"name", "parameters"}:
            raise ParameterError("not a stored CITestResult: 'null' must have 'name' and 'parameters'")
        restored = dict(content)
        restored["null"] = NullDistribution(null["name"], _untag_infinities(null["parameters"]))
        restored["diagnostics"] = _untag_infinities(content["diagnostics"])
        restored["warnings"] = tuple(content["warnings"])
        return cls(**restored)

    def _summary(self) -> list[tuple[str, str]]:
        """Label and value of each line shown to people."""
        rows = [("p-value", f"{self.pvalue:.4g} (level {LEVEL:g})"), ("statistic", f"{self.statistic:.6g}")]
        if self.effect_size is not None:
            rows.append(("effect size", f"{self.effect_size:.4g}"))
        rows.append(("null", str(self.null)))
        split = ""
        if self.n_train is not None and self.n_test is not None:
            split = f" ({self.n_train} train, {self.n_test} test)"
        rows.append(("rows", f"{self.n}{split}"))
        if self.seed is not None:
            rows.append(("seed", str(self.seed)))
        rows.append(("seconds", f"{self.seconds:.3g}"))
        return rows

    def _headline(self) -> str:
        return f"{self.method}: {verdict(self.pvalue).answer}"

    def __str__(self) -> str:
        lines = [self._headline(), *(f"  {label:<12}{value}" for label, value in self._summary())]
        lines += [f"  warning: {text}" for text in self.warnings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Table for notebooks; every text is escaped, for warnings may quote the user's data."""
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(label)}</th><td>{html.escape(value)}</td></tr>"
            for label, value in self._summary()
        )
        warnings = "".join(f"<li>{html.escape(text)}</li>" for text in self.warnings)
        listing = f"<p>Warnings</p><ul>{warnings}</ul>" if warnings else ""
        caption = html.escape(self._headline())
        return f"<div><table><caption>{caption}</caption><tbody>{rows}</tbody></table>{listing}</div>"


def _finite(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} must be a number, got {value!r}") from error
    if not math.isfinite(number):
        raise ParameterError(f"{name} must be finite, got {value!r}")
    return number


def _plain(value: Any, where: str) -> Any:
    """Turn `value` into plain JSON types (and infinities), so that equality and storage are exact."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if type(value) is int:
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if isinstance(value, Mapping):
        out: dict[str, Any] = {}
        for key, item in value.items():
            text = str(key)
            if text == _FLOAT_TAG or text in out:
                raise ParameterError(f"{where} has a reserved or repeated key {text!r}")
            out[text] = _plain(item, f"{where}[{text!r}]")
        return out
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    # Arrays and scalars of NumPy, JAX or PyTorch all know `tolist`, which yields Python numbers.
    if hasattr(value, "tolist"):
        return _plain(value.tolist(), where)
    raise ParameterError(f"{where} holds a {type(value).__name__}, which cannot be stored as JSON")


def _tag_infinities(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return {_FLOAT_TAG: repr(value)}
    if isinstance(value, dict):
        return {key: _tag_infinities(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_tag_infinities(item) for item in value]
    return value


def _untag_infinities(value: Any) -> Any:
    if isinstance(value, Mapping):
        if set(value) == {_FLOAT_TAG}:
            return float(value[_FLOAT_TAG])
        return {key: _untag_infinities(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_untag_infinities(item) for item in value]
    return value
