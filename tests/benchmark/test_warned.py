"""``benchmarks/warned.py``: a store has no warnings, so replicates are run again."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from spectralcit import BaseCITest, NullDistribution, Outcome, register
from spectralcit.benchmark import load_suite, run_suite
from spectralcit.registry import unregister

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "warned.py"
SUITE = """
name = "small"
replicates = 40
n = 20
tests = ["worried"]
[[datasets]]
name = "hard-no-z"
hypotheses = ["null"]
"""


@pytest.fixture
def worried():
    @register("worried")
    class Worried(BaseCITest):
        """Its p-value is a coordinate of the data; it warns of half of its rejections."""

        def _run(self, data, seed):
            pvalue = abs(float(data.x.values[0, 0])) % 1.0 / 2
            texts = ("too few rows",) if pvalue <= 0.025 else ("other",) if pvalue > 0.3 else ()
            return Outcome(statistic=1.0, pvalue=pvalue, null=NullDistribution("normal"), warnings=texts)

    yield
    unregister("worried")


def test_rejections_are_run_again_and_their_warnings_counted(worried, tmp_path, monkeypatch, capsys):
    file = tmp_path / "small.toml"
    file.write_text(SUITE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    run_suite(load_suite(file), tmp_path / "small.sqlite", backend="serial")

    def table(*options):
        monkeypatch.setattr(sys, "argv", ["warned.py", str(file), *options])
        runpy.run_path(str(SCRIPT), run_name="__main__")
        last = capsys.readouterr().out.splitlines()[-1]
        return [int(part) for part in last.strip("| ").split("|")[1:]]

    again, warned, rejected, both, moved = table()
    assert again == rejected > both == warned > 0
    assert moved == 0
    again, warned, all_rejected, both_again, moved = table("--first", "40")
    assert (again, all_rejected, both_again, moved) == (40, rejected, both, 0)
    assert warned > both
    assert table("--first", "40", "--matching", "few rows")[1] == both
