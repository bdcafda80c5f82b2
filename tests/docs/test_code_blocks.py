from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spectralcit.cli import app
from spectralcit.errors import ParameterError
from spectralcit.registry import unregister

from .pages import ROOT, blocks_of, code_of, figures, words_drawn

PAGES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
README_AND_PAGES = ["README.md", *PAGES]


def files_of(page: str) -> dict[str, str]:
    """Blocks that are whole files of the package: their first line, a comment, is the path."""
    texts = [block.content for block in blocks_of(page)]
    named = {re.match(r"(?:# |<!-- )([\w/-]+\.(?:py|md))", text): text for text in texts}
    return {match[1]: text.partition("\n")[2] for match, text in named.items() if match}


def test_writing_your_own_test(capsys):
    namespace = {"__name__": "docs_example"}
    code = code_of("docs/writing-your-own-test.md")
    try:
        # The page's own way with annotations, not this file's.
        exec(compile(code, "writing-your-own-test.md", "exec", dont_inherit=True), namespace)
        first, second = capsys.readouterr().out.split("partial-correlation: ")[1:]
        assert first.startswith("Evidence that X and Y depend")
        assert second.startswith("No evidence that X and Y depend")
        # The oracle: the partial correlation from the inverse of the correlation matrix.
        np, x, y, z = (namespace[name] for name in ("np", "x", "y", "z"))
        precision = np.linalg.inv(np.corrcoef([x, y, z]))
        expected = -precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1])
        result = namespace["ci_test"](x, y, z, method="partial-correlation")
        assert result.diagnostics["partial_correlation"] == pytest.approx(expected, abs=1e-12)
        for name, value in {"ridge": -1, "degree": 0, "sided": "both", "center": "yes"}.items():
            with pytest.raises(ParameterError, match=f"^{name} must be .*; got {value!r}"):
                namespace["ci_test"](x, y, z, method="par_corr", **{name: value})
        assert "Highest power of each column" in namespace["PartialCorrelation"].__doc__
    finally:
        unregister("partial-correlation")


def test_a_built_in_test_is_three_files(tmp_path):
    """The templates of the page join a copy of the package, and pass what all tests must pass."""
    templates = files_of("docs/writing-your-own-test.md")
    assert [str(Path(path).parent) for path in templates] == [
        "src/spectralcit/methods",
        "docs/tests",
        "tests/methods",
    ]
    for folder in ("src", "tests", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for path, text in templates.items():
        assert not (ROOT / path).exists()
        (tmp_path / path).write_text(text, encoding="utf-8")
    rooms = ["tests/methods/test_contract.py", "tests/test_parameters.py", "tests/test_suggest.py"]
    chosen = "rank-permutation or test_rank_permutation or every_test_has_a_verdict"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-k", chosen, *rooms, list(templates)[2]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 15


def test_readme(capsys):
    exec(compile(code_of("README.md"), "README.md", "exec"), {"__name__": "readme"})
    first, rest = capsys.readouterr().out.split("\n", 1)
    assert first == "True"
    assert "Evidence that X and Y depend on each other given Z." in rest


def test_math_default(capsys):
    exec(compile(code_of("docs/math-default.md"), "math-default.md", "exec"), {"__name__": "math_default"})
    pvalues = [float(line) for line in capsys.readouterr().out.split()]
    assert len(pvalues) == 2
    assert min(pvalues) > 0.001  # the example's X and Y are independent given Z


def test_index(capsys):
    exec(compile(code_of("docs/index.md"), "index.md", "exec"), {"__name__": "index"})
    first, second = capsys.readouterr().out.split("spectral: ")[1:]
    assert first.startswith("No evidence that X and Y depend")
    assert second.startswith("Evidence that X and Y depend")


TESTED_ABOVE = {"README.md", "docs/index.md", "docs/math-default.md", "docs/writing-your-own-test.md"}
OTHER_PAGES = [page for page in README_AND_PAGES if page not in TESTED_ABOVE and code_of(page)]


@pytest.mark.parametrize("page", OTHER_PAGES)
def test_the_code_of_every_other_page_runs(page, tmp_path, monkeypatch):
    """From the top of the page, in a namespace of its own: what a block uses, the page has defined."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT)
    drawn = figures()
    with mpl.rc_context(drawn.STYLE):
        exec(compile(code_of(page), page, "exec", dont_inherit=True), {"__name__": "page"})
    plt.close("all")
    for name in drawn.saved_figures(ROOT / page):
        assert words_drawn(tmp_path / f"{name}.svg") == words_drawn(drawn.FIGURES / f"{name}.svg"), name


def test_blocks_that_are_not_run_say_why():
    marked = {
        page: [block.not_run for block in blocks_of(page) if block.not_run] for page in README_AND_PAGES
    }
    # A mark is for files that something else runs, not a way around a broken snippet.
    assert {page for page, reasons in marked.items() if reasons} == {"docs/writing-your-own-test.md"}
    assert marked["docs/writing-your-own-test.md"] == [
        "a file of the package",
        "a file of the package",
    ]  # `test_a_built_in_test_is_three_files` runs them


@pytest.mark.parametrize("page", README_AND_PAGES)
def test_no_python_hides_from_being_run(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert not re.search(r"^(?:[ \t]+```|~~~)", text, flags=re.MULTILINE), "fences stand at the margin"
    assert text.count("\n```") == 2 * len(blocks_of(page))
    for block in blocks_of(page):
        statement = re.search(r"^(?:import \w|from [\w.]+ import |print\(|>>> )", block.content, re.MULTILINE)
        assert block.language == "python" or not statement, statement


@pytest.mark.parametrize("page", README_AND_PAGES)
def test_pictures_exist_and_have_words(page):
    folder = (ROOT / page).parent
    for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", (ROOT / page).read_text(encoding="utf-8")):
        assert (folder / target).exists(), target
        assert len(words.split()) > 2, target


def commands_of(page: str) -> list[str]:
    """The lines of a page's shell blocks that call the command."""
    shell = [block.content for block in blocks_of(page) if not block.language]
    lines = [line for content in shell for line in content.splitlines()]
    return [line for line in lines if line.startswith("spectralcit ")]


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_commands_work_as_printed(page, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    test, suggest = commands_of(page)
    done = CliRunner().invoke(app, shlex.split(test)[1:])
    assert done.exit_code == 0, done.output
    assert "Is gene independent of outcome once" in done.stdout
    assert "leading pair: mean product" in (tmp_path / "study.html").read_text(encoding="utf-8")
    done = CliRunner().invoke(app, shlex.split(suggest)[1:])
    assert done.exit_code == 0, done.output
    assert "spectral" in done.stdout


def test_links_of_the_readme_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#]+)", text) if "://" not in target]
    assert len(targets) > 8
    assert [target for target in targets if not (ROOT / target).exists()] == []
