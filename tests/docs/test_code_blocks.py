from __future__ import annotations

import re
from pathlib import Path

import pytest

from spectralcit.registry import unregister

ROOT = Path(__file__).parents[2]


def code_of(page: str) -> str:
    """All Python blocks of a page, in order, as one program."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL))


def test_writing_your_own_test(capsys):
    namespace = {"__name__": "docs_example"}
    try:
        exec(compile(code_of("docs/writing-your-own-test.md"), "writing-your-own-test.md", "exec"), namespace)
        first, second = capsys.readouterr().out.split("partial-correlation: ")[1:]
        assert first.startswith("X and Y look dependent")
        assert second.startswith("no evidence against")
        # The oracle: the partial correlation from the inverse of the correlation matrix.
        np, x, y, z = (namespace[name] for name in ("np", "x", "y", "z"))
        precision = np.linalg.inv(np.corrcoef([x, y, z]))
        expected = -precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1])
        result = namespace["ci_test"](x, y, z, method="partial-correlation")
        assert result.diagnostics["partial_correlation"] == pytest.approx(expected, abs=1e-12)
    finally:
        unregister("partial-correlation")


def test_readme(capsys):
    exec(compile(code_of("README.md"), "README.md", "exec"), {"__name__": "readme"})
    first, rest = capsys.readouterr().out.split("\n", 1)
    assert first == "True"
    assert "X and Y look dependent given Z" in rest


def test_math_default(capsys):
    exec(compile(code_of("docs/math-default.md"), "math-default.md", "exec"), {"__name__": "math_default"})
    pvalues = [float(line) for line in capsys.readouterr().out.split()]
    assert len(pvalues) == 2
    assert min(pvalues) > 0.001  # the example's X and Y are independent given Z
