"""Tuning: the planted optimum, resuming, seeds apart, and failures that do not stop it."""

from __future__ import annotations

import json
import sqlite3
import sys
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from spectralcit import BaseCITest, NullDistribution, Outcome, get_test, register
from spectralcit.benchmark import Store
from spectralcit.benchmark.reproduce import EXPERIMENTS
from spectralcit.benchmark.suite import canonical
from spectralcit.benchmark.trial import replicate_seed
from spectralcit.cli import app
from spectralcit.errors import MissingExtraError, ParameterError, StoreError, SuiteError
from spectralcit.registry import unregister
from spectralcit.tuning import GRIDS, TUNING_SEED, Choice, LogUniform, Task, Uniform, tune

pytest.importorskip("optuna")

SPACE = {"shift": Uniform(0.0, 1.0), "mode": Choice(("good", "blind", "broken"))}
CALLS: list[tuple] = []
STOP: list[int] = []  # the call that is interrupted, if any


@pytest.fixture(autouse=True)
def planted():
    """A test that sees the truth in the size of X and Y; it rejects nulls unless `shift` is small."""

    @register("planted")
    class Planted(BaseCITest):
        def __init__(self, *, shift=0.0, mode="good", random_state=None, missing="raise"):
            super().__init__(random_state=random_state, missing=missing)
            self.shift = shift
            self.mode = mode

        def _run(self, data, seed):
            CALLS.append((self.shift, self.mode, seed))
            if STOP and len(CALLS) == STOP[0]:
                raise KeyboardInterrupt
            if self.mode == "broken":
                raise ArithmeticError("planted failure")
            # Power is 1 in mode "good" and 0 in mode "blind"; type I error is 1 above shift = 0.3.
            dependent = (data.x.values[:, 0] * data.y.values[:, 0]).mean() > 3.0
            rejects = (dependent and self.mode == "good") or (not dependent and self.shift > 0.3)
            return Outcome(1.0, 0.001 if rejects else 0.9, NullDistribution("normal"))

    CALLS.clear()
    STOP.clear()
    yield
    unregister("planted")


@pytest.fixture
def strong():
    """Data whose hypotheses are told apart without error."""
    from spectralcit.datasets import register_dataset, unregister_dataset

    @register_dataset("marked")
    def marked(n, rng, *, dependent, d_z=1):
        "X and Y are large under the alternative."
        z = rng.standard_normal((n, d_z))
        x, y = rng.standard_normal((2, n))
        return x + 3.0 * dependent, y + 3.0 * dependent, z

    yield Task(dataset="marked", d_z=(1, 2), n=40, replicates=2)
    unregister_dataset("marked")


def test_the_planted_optimum_is_found(strong, tmp_path):
    found = tune("planted", tmp_path / "t.db", trials=12, space=SPACE, task=strong, backend="serial")
    assert found.score == -1.0
    assert found.params["mode"] == "good"
    assert found.params["shift"] <= 0.3
    assert len(found.trials) == 12
    # Every score is what the planted rule says.
    for trial in found.trials:
        if trial.params["mode"] == "broken":
            assert trial.score is None
            assert "planted failure" in trial.reason
        else:
            error = float(trial.params["shift"] > 0.3)
            assert trial.score == error - float(trial.params["mode"] == "good")
    assert any(trial.score is None for trial in found.trials)  # the failures were met, and did not stop it


def test_an_interrupted_study_goes_on_as_if_it_had_not_been(strong, tmp_path):
    whole = tune("planted", tmp_path / "whole.db", trials=6, space=SPACE, task=strong, backend="serial")
    calls = list(CALLS)
    CALLS.clear()
    STOP.append(21)  # within the third trial
    with pytest.raises(KeyboardInterrupt):
        tune("planted", tmp_path / "cut.db", trials=6, space=SPACE, task=strong, backend="serial")
    STOP.clear()
    stopped = CALLS.pop()
    resumed = tune("planted", tmp_path / "cut.db", trials=6, space=SPACE, task=strong, backend="serial")
    assert resumed.trials == whole.trials
    assert resumed.params == whole.params
    assert calls == CALLS  # nothing was run twice, nothing left out
    assert stopped in CALLS
    before = len(CALLS)
    tune("planted", tmp_path / "cut.db", trials=6, space=SPACE, task=strong, backend="serial")
    assert len(CALLS) == before


def test_the_seeds_are_apart_from_all_reported_ones(strong, tmp_path):
    tune(
        "planted", tmp_path / "t.db", trials=1, space={"shift": Choice((0.0,))}, task=strong, backend="serial"
    )
    with Store(tmp_path / "t.db.runs", read_only=True) as store:
        assert {record.suite_seed for record in store.records()} == {TUNING_SEED}
    reported = set()
    for experiment in EXPERIMENTS.values():
        drawn = {
            (c.dataset, canonical(c.dataset_params), c.n, c.dependent, c.replicates)
            for c in experiment.suite("full").cells
        }
        for *data, replicates in drawn:
            reported |= {replicate_seed(experiment.seed, *data, r) for r in range(replicates)}
    paper = Task()
    used = {
        replicate_seed(paper.seed, paper.dataset, canonical({"d_z": d}), paper.n, dependent, r)
        for d in paper.d_z
        for dependent in (False, True)
        for r in range(paper.replicates)
    }
    assert len(used) == 240
    assert not used & reported
    with pytest.raises(ParameterError, match="reported experiment 'sachs'"):
        tune("rcit", tmp_path / "s.db", task=Task(seed=EXPERIMENTS["sachs"].seed))


def test_other_settings_need_another_file(strong, tmp_path):
    space = {"shift": Choice((0.0,))}
    tune("planted", tmp_path / "t.db", trials=1, space=space, task=strong, backend="serial")
    with pytest.raises(ParameterError, match="other settings"):
        tune("planted", tmp_path / "t.db", trials=1, space=SPACE, task=strong, backend="serial")


def test_a_misspelt_parameter_stops_at_once(strong, tmp_path):
    with pytest.raises(SuiteError, match="shift"):
        tune("planted", tmp_path / "t.db", space={"shfit": Uniform(0.0, 1.0)}, task=strong, backend="serial")


def test_a_mistake_leaves_no_trace_in_the_study(strong, tmp_path):
    space = {"shift": Choice((0.0,))}
    with pytest.raises(SuiteError, match="Did you mean 'marked'"):
        tune("planted", tmp_path / "t.db", space=space, task=replace(strong, dataset="market"))
    with pytest.raises(ParameterError, match="n_jobs"):
        tune("planted", tmp_path / "t.db", space=space, task=strong, n_jobs=0)
    with pytest.raises(ParameterError, match="'nonsmooth' lacks"):
        tune("planted", tmp_path / "t.db", space=space, task=replace(strong, dataset="nonsmooth"))
    found = tune("planted", tmp_path / "t.db", trials=1, space=space, task=strong, backend="serial")
    assert [trial.score for trial in found.trials] == [-1.0]


def test_a_study_that_cannot_be_written_is_a_clear_error(strong, tmp_path, monkeypatch):
    import optuna

    def full(*args, **kwargs):
        raise optuna.exceptions.StorageInternalError("disk is full")

    space = {"shift": Choice((0.0,))}
    monkeypatch.setattr(optuna.Study, "tell", full)
    with pytest.raises(StoreError, match=r"t\.db: cannot be written: disk is full.*kept"):
        tune("planted", tmp_path / "t.db", trials=1, space=space, task=strong, backend="serial")
    monkeypatch.undo()
    calls = len(CALLS)
    tune("planted", tmp_path / "t.db", trials=1, space=space, task=strong, backend="serial")
    assert len(CALLS) == calls  # the replicates of the trial that could not be told


def test_all_trials_failed(strong, tmp_path):
    with pytest.raises(ParameterError, match=r"all 2 trials failed.*planted failure"):
        tune(
            "planted",
            tmp_path / "t.db",
            trials=2,
            space={"mode": Choice(("broken",))},
            task=strong,
            backend="serial",
        )


def test_without_optuna(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"spectralcit\[tune\]"):
        tune("rcit", tmp_path / "t.db")


@pytest.mark.parametrize("method", GRIDS)
def test_the_grids_are_made_of_valid_parameters(method):
    known = get_test(method)._get_param_names()
    assert set(GRIDS[method]) <= set(known)


def test_the_grid_of_the_published_test_is_that_of_the_paper():
    grid = GRIDS["spectral-paper"]
    assert grid["output_dim"] == Choice((2, 4, 6, 8, 10))
    assert grid["lr_inner"] == grid["lr_outer"] == LogUniform(3e-5, 1e-2)
    assert grid["reg_str_inner"] == grid["reg_str_outer"] == LogUniform(1.0, 100.0)
    assert len(grid) == 13


def test_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["tune", "rcit", "--trials", "2", "--replicates", "1", "--n", "60", "--d-z", "2"]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 0, done.output
    best = json.loads((tmp_path / "best.json").read_text())
    assert best["method"] == "rcit"
    assert set(best["params"]) == set(GRIDS["rcit"])
    assert len(best["trials"]) == 2
    with sqlite3.connect(tmp_path / "tune.db") as study:
        assert study.execute("SELECT count(*) FROM trials").fetchone() == (2,)
