from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[2] / "examples"


def run(name):
    return runpy.run_path(str(FOLDER / name), run_name="example")


def test_every_example_is_run_here():
    names = {path.stem for path in FOLDER.glob("*.py")}
    assert names == {name.removeprefix("test_") for name in globals() if name.startswith("test_")} - {
        "every_example_is_run_here"
    }


def test_make_study(tmp_path):
    run("make_study.py")["write"](tmp_path / "study.csv")
    assert (tmp_path / "study.csv").read_text() == (FOLDER / "study.csv").read_text()


def test_quick_start(capsys):
    found = run("quick_start.py")
    assert found["gene"].pvalue < 0.001
    assert found["alone"].pvalue < 0.001
    assert found["marker"].pvalue > 0.05
    assert "Evidence that X and Y depend on each other given Z." in capsys.readouterr().out


def test_mixed_data():
    found = run("mixed_data.py")
    assert found["school"].n == 488
    assert found["school"].pvalue > 0.05
    assert found["smoker"].pvalue < 0.001


def test_high_dimensional_z(capsys):
    found = run("high_dimensional_z.py")
    assert found["linear"].pvalue < 0.001
    assert found["default"].pvalue > 0.05
    assert "a real tie" in capsys.readouterr().out


def test_feature_screening():
    found = run("feature_screening.py")
    assert {0, 1} <= set(found["kept"].tolist())
    # The adjustment by hand: p times the number of questions over the rank, made monotone from the top.
    pvalues = np.array([result.pvalue for result in found["results"]])
    order = np.argsort(pvalues)
    steps = (pvalues[order] * 6 / np.arange(1, 7))[::-1]
    np.testing.assert_allclose(found["adjusted"][order], np.minimum.accumulate(steps)[::-1].clip(max=1.0))


def test_comparing_tests():
    found = run("comparing_tests.py")["pvalues"]
    assert found["spectral"] < 0.01
    assert found["wgcm"] < 0.01
    assert found["gcm"] > 0.05


def test_sachs():
    found = run("sachs.py")
    for (_, dependent), row in found["answers"].items():
        assert (row["spectral"] < 0.001) == dependent
    consensus, edges = found["consensus"], found["found"]["spectral"]
    assert len(consensus) == 18
    # By chance, ten of the 55 pairs would hold three of the 18; seven or more has probability 0.01.
    assert len(edges & consensus) >= 7
    assert frozenset(("raf", "mek")) in edges
