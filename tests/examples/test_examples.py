from __future__ import annotations

import contextlib
import io
import runpy

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from ..docs.pages import ROOT, assert_same, figures, words_drawn

FOLDER = ROOT / "examples"


@pytest.fixture
def run(tmp_path):
    """Run an example; the gallery's picture and text are what it draws and prints now."""

    def run_example(name):
        gallery, printed = figures(), io.StringIO()
        with mpl.rc_context(gallery.STYLE), contextlib.redirect_stdout(printed):
            found = runpy.run_path(str(FOLDER / name), run_name="example")
            if "figure" in found:
                drawing = (tmp_path / name).with_suffix(".svg")
                found["figure"].savefig(drawing)
                kept = gallery.FIGURES / drawing.name
                assert words_drawn(drawing) == words_drawn(kept)
                assert_same(kept.with_suffix(".txt").read_text(encoding="utf-8"), printed.getvalue())
        plt.close("all")
        return found

    return run_example


def test_every_example_is_run_here():
    names = {path.stem for path in FOLDER.glob("*.py")}
    assert names == {name.removeprefix("test_") for name in globals() if name.startswith("test_")} - {
        "every_example_is_run_here"
    }


def test_make_study(run, tmp_path):
    run("make_study.py")["write"](tmp_path / "study.csv")
    assert (tmp_path / "study.csv").read_text() == (FOLDER / "study.csv").read_text()


def test_quick_start(run):
    found = run("quick_start.py")
    assert found["gene"].pvalue < 0.001
    assert found["alone"].pvalue < 0.001
    assert found["marker"].pvalue > 0.05


def test_mixed_data(run):
    found = run("mixed_data.py")
    assert found["school"].n == 488
    assert found["school"].pvalue > 0.05
    assert found["smoker"].pvalue < 0.001


def test_high_dimensional_z(run):
    found = run("high_dimensional_z.py")
    assert found["linear"].pvalue < 0.001
    assert found["default"].pvalue > 0.05


def test_feature_screening(run):
    found = run("feature_screening.py")
    assert {0, 1} <= set(found["kept"].tolist())
    # The adjustment by hand: p times the number of questions over the rank, made monotone from the top.
    pvalues = np.array([result.pvalue for result in found["results"]])
    order = np.argsort(pvalues)
    steps = (pvalues[order] * 6 / np.arange(1, 7))[::-1]
    np.testing.assert_allclose(found["adjusted"][order], np.minimum.accumulate(steps)[::-1].clip(max=1.0))


def test_comparing_tests(run):
    found = run("comparing_tests.py")["pvalues"]
    assert found["spectral"] < 0.01
    assert found["wgcm"] < 0.01
    assert found["gcm"] > 0.05


def test_sachs(run):
    found = run("sachs.py")
    for (_, dependent), row in found["answers"].items():
        assert (row["spectral"] < 0.001) == dependent
    consensus, edges = found["consensus"], found["found"]["spectral"]
    assert len(consensus) == 18
    # By chance, ten of the 55 pairs would hold three of the 18; seven or more has probability 0.01.
    assert len(edges & consensus) >= 7
    assert frozenset(("raf", "mek")) in edges


def test_breast_cancer(run):
    pytest.importorskip("sksurv")
    found = run("breast_cancer.py")
    assert len(found["patients"]) == 189
    assert found["within"].pvalue < 0.05
    assert found["whole"].pvalue < 0.05
    # No outcome that knows nothing of the genes is redrawn from the genes.
    assert all(copy["metagene_1"].equals(found["first"]["metagene_1"]) for copy in found["copies"])
