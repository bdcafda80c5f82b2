"""Replicates that run together: tests that share their work, samples that train together."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit.benchmark import Store, Suite, run_suite
from spectralcit.benchmark.bundle import bundled, jobs_of, run_bundle, work_of
from spectralcit.benchmark.trial import execute
from spectralcit.paper import groups
from spectralcit.paper.test import PaperSpectralCIT

SMALL = {"output_dim": 3, "n_epochs": 3, "n_warmup": 5} | {f"layer_size_{net}": 8 for net in "uvw"}


def suite(replicates=3, **more):
    tests = {
        "all": {"method": "spectral-paper", **SMALL},
        "pruned": {"method": "spectral-paper", **SMALL, "perc_dim_prune": 0.7},
        "fisher-z": {"method": "fisher-z"},
        **more,
    }
    datasets = [{"name": "sin-cos", "d_z": 2, "hypotheses": ["null"]}]
    return Suite.define(name="small", tests=tests, datasets=datasets, n=150, replicates=replicates, seed=3)


def todo(of):
    return [(cell, of.key(cell, r), 0) for r in range(of.cells[0].replicates) for cell in of.cells]


def sizes(groups):
    return sorted(len(group) for group in groups)


def test_what_is_put_together(monkeypatch):
    small = suite()
    # Three replicates, each with two prunings of the same networks, and fisher-z alone.
    assert sizes(bundled(todo(small), batches=False)) == [1, 1, 1, 2, 2, 2]
    assert sizes(bundled(todo(small), batches=True)) == [1, 1, 1, 6]
    monkeypatch.setattr(groups, "_GROUP_SIZE", 2)
    assert sizes(bundled(todo(small), batches=True)) == [1, 1, 1, 2, 4]
    other = suite(wider={"method": "spectral-paper", **SMALL, "output_dim": 4})
    assert len({work_of(cell) for cell in other.cells}) == 3


def test_every_replicate_of_a_bundle_is_what_it_is_alone(monkeypatch):
    trained = []
    original = PaperSpectralCIT._finish
    monkeypatch.setattr(
        PaperSpectralCIT, "_finish", lambda self, *rest: trained.append(1) or original(self, *rest)
    )
    jobs = jobs_of(bundled(todo(suite(1)), batches=False)[0])
    together = run_bundle(jobs)
    assert len(trained) == 1  # for two tests
    for job, found in zip(jobs, together, strict=True):
        alone = execute(job)
        assert found.key == job.key
        assert found.pvalue == pytest.approx(alone.pvalue, rel=1e-12)
        assert found.statistic == pytest.approx(alone.statistic, rel=1e-12)
        assert found.effect == pytest.approx(alone.effect, rel=1e-12)
        assert found.warnings == alone.warnings
    assert together[0].pvalue != together[1].pvalue


def test_batches_agree_with_one_by_one_up_to_rounding(tmp_path):
    pvalues = []
    for batches in (True, False):
        store = tmp_path / f"{batches}.sqlite"
        assert run_suite(suite(), store, backend="serial", batches=batches).added == 9
        with Store(store, read_only=True) as opened:
            pvalues.append([record.pvalue for record in opened.records()])
    np.testing.assert_allclose(*pvalues, rtol=1e-3)


def test_a_sample_that_fails_does_not_spoil_its_batch(monkeypatch):
    small = suite()
    jobs = jobs_of(next(group for group in bundled(todo(small), batches=True) if len(group) > 1))
    unlucky = jobs[0].seed
    original = PaperSpectralCIT._begin

    def begin(self, data, seed, label=""):
        if seed == unlucky:
            raise ValueError("unlucky")
        return original(self, data, seed, label)

    monkeypatch.setattr(PaperSpectralCIT, "_begin", begin)
    errors = {record.key.replicate: record.error for record in run_bundle(jobs)}
    assert errors == {0: "ValueError: unlucky", 1: "", 2: ""}


def test_limits_hold_for_single_replicates(tmp_path):
    done = run_suite(suite(2), tmp_path / "s.sqlite", time_limit=300.0)
    assert (done.added, done.failures) == (6, 0)
