"""The runner: identical p-values everywhere, nothing repeated, nothing lost, failures recorded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from spectralcit import BaseCITest, NullDistribution, Outcome, ci_test, register
from spectralcit.benchmark import Store, Suite, load_suite, run_suite, write_report
from spectralcit.benchmark.record import TrialKey
from spectralcit.benchmark.suite import canonical
from spectralcit.benchmark.trial import replicate_seed
from spectralcit.datasets import get_dataset
from spectralcit.errors import ParameterError
from spectralcit.registry import unregister

SUITE = Suite.define(
    name="small",
    tests=["fisher-z", "rcot"],
    datasets=[{"name": "sin-cos", "d_z": [1, 3]}, {"name": "nonsmooth", "d_z": 2}],
    n=120,
    replicates=3,
    seed=5,
)


def pvalues(path):
    with Store(path, read_only=True) as store:
        return {
            record.key: (record.seed, record.pvalue, record.statistic, record.error)
            for record in store.records()
        }


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The oracle: each replicate by hand, without the runner."""
    found = {}
    for cell in SUITE.cells:
        for replicate in range(3):
            params = canonical(cell.dataset_params)
            seed = replicate_seed(5, cell.dataset, params, cell.n, cell.dependent, replicate)
            rng = np.random.default_rng([seed, replicate])
            x, y, z = get_dataset(cell.dataset, **cell.dataset_params).draw(cell.n, rng, cell.dependent)
            result = ci_test(x, y, z, method=cell.method, random_state=seed)
            found[TrialKey(*cell.key(), 5, replicate)] = (seed, result.pvalue, result.statistic, "")
    return found


@pytest.mark.parametrize(
    "options", [{"backend": "serial"}, {"n_jobs": 1}, {"n_jobs": 2}, {"time_limit": 100.0}]
)
def test_identical_pvalues(options, expected, tmp_path):
    run_suite(SUITE, tmp_path / "s.sqlite", **options)
    assert pvalues(tmp_path / "s.sqlite") == expected


@pytest.mark.adapters
@pytest.mark.filterwarnings("ignore")  # of the host library
def test_identical_pvalues_on_a_dask_cluster(expected, tmp_path):
    distributed = pytest.importorskip("distributed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster:
        run_suite(SUITE, tmp_path / "s.sqlite", backend="dask", address=cluster.scheduler_address)
    assert pvalues(tmp_path / "s.sqlite") == expected


@pytest.mark.adapters
@pytest.mark.filterwarnings("ignore")  # of the host library
def test_identical_pvalues_on_ray(expected, tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    # Ray gives way to everybody else unless told otherwise, and then starves on a busy machine.
    monkeypatch.setenv("RAY_worker_niceness", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        run_suite(SUITE, tmp_path / "s.sqlite", backend="ray")
        assert ray.is_initialized()  # what the user started stays
    finally:
        ray.shutdown()
    assert pvalues(tmp_path / "s.sqlite") == expected


def test_all_tests_meet_the_same_data_and_replicates_differ(expected):
    seeds = {}
    for key, (seed, *_) in expected.items():
        drawn = (key.dataset, key.dataset_params, key.n, key.dependent, key.replicate)
        seeds.setdefault(drawn, set()).add(seed)
    assert all(len(found) == 1 for found in seeds.values())
    assert len(set.union(*seeds.values())) == len(seeds)


def test_more_replicates_keep_the_first_ones(expected, tmp_path):
    longer = Suite.define(
        name="longer",
        tests=["fisher-z"],
        datasets=[{"name": "sin-cos", "d_z": 1}],
        n=120,
        replicates=5,
        seed=5,
    )
    run_suite(SUITE, tmp_path / "s.sqlite", backend="serial")
    done = run_suite(longer, tmp_path / "s.sqlite", backend="serial")
    assert (done.kept, done.added) == (6, 4)
    assert expected.items() <= pvalues(tmp_path / "s.sqlite").items()


KILLED = """
import time
from spectralcit import get_test, register
from spectralcit.benchmark import Suite

@register("slow-fisher-z")
class SlowFisherZ(get_test("fisher-z")):
    def _run(self, data, seed):
        time.sleep({pause})
        return super()._run(data, seed)

suite = Suite.define(
    name="killed", tests=["slow-fisher-z"], datasets=[{{"name": "linear-gaussian", "d_z": [1, 2]}}],
    n=[30, 60], replicates=10,
)
"""


def test_kill_minus_nine_then_the_same_command(tmp_path):
    suite_file, store, whole = tmp_path / "killed.py", tmp_path / "k.sqlite", tmp_path / "whole.sqlite"
    suite_file.write_text(KILLED.format(pause=0.05))

    def command(where):
        return [
            sys.executable,
            "-c",
            "from spectralcit.cli import app; app()",
            "bench",
            "run",
            str(suite_file),
            "--store",
            str(where),
            "-j",
            "2",
        ]

    def rows(where):
        if not where.exists():
            return 0
        try:
            return len(pvalues(where))
        except Exception:  # the store is being made at this moment
            return 0

    process = subprocess.Popen(
        command(store), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 120
        while rows(store) < 8 and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        os.killpg(process.pid, signal.SIGKILL)  # its workers would leave by themselves, a second later
    before = pvalues(store)
    assert 8 <= len(before) < 80
    second = subprocess.run(command(store), capture_output=True, text=True, check=True)
    assert f"{80 - len(before)} replicates added, {len(before)} were there" in second.stdout
    after = pvalues(store)
    assert before.items() <= after.items()
    assert len(after) == 80

    suite_file.write_text(KILLED.format(pause=0.0))
    try:
        suite = load_suite(suite_file)
        assert run_suite(suite, store, backend="serial").added == 0
        run_suite(suite, whole, backend="serial")
    finally:
        unregister("slow-fisher-z")
    assert pvalues(whole) == after
    for name in (store, whole):
        write_report(name, tmp_path / name.stem)
    for file in ("rates.csv", "type1.svg", "power.svg", "qq.svg"):
        assert (tmp_path / "k" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


@pytest.fixture
def troubled():
    """A test that fails in the way it is told to."""

    @register("troubled")
    class Troubled(BaseCITest):
        def __init__(self, *, how="raise", random_state=None, missing="raise"):
            super().__init__(random_state=random_state, missing=missing)
            self.how = how

        def _run(self, data, seed):
            if self.how == "raise":
                raise RuntimeError("on purpose")
            if self.how == "exit":
                raise SystemExit(3)
            if self.how == "interrupt":
                raise KeyboardInterrupt
            if self.how == "crash":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.how == "sleep":
                # One long call into compiled code, which no signal handler of Python interrupts.
                np.linalg.svd(np.random.default_rng(0).standard_normal((6000, 6000)))
            if self.how == "memory":
                keep = [np.ones(10_000_000) for _ in range(60)]
                time.sleep(60)
                del keep
            os.write(1, b"noise on standard output")
            return Outcome(0.0, 0.5, NullDistribution("normal"))

    yield Troubled
    unregister("troubled")


def suite_of(*hows):
    tests = {"fine": {"method": "fisher-z"}, **{how: {"method": "troubled", "how": how} for how in hows}}
    datasets = [{"name": "linear-gaussian", "hypotheses": "null"}]
    return Suite.define(name="t", tests=tests, datasets=datasets, n=30, replicates=1)


def errors(path):
    with Store(path, read_only=True) as store:
        return {record.test: record.error for record in store.records()}


def test_a_failure_is_recorded_and_never_stops_the_run(troubled, tmp_path):
    done = run_suite(suite_of("raise", "exit"), tmp_path / "s.sqlite", backend="serial")
    assert (done.added, done.failures) == (3, 2)
    assert errors(tmp_path / "s.sqlite") == {
        "fine": "",
        "raise": "RuntimeError: on purpose",
        "exit": "SystemExit: 3",
    }


def test_limits_kill_and_record(troubled, tmp_path):
    path = tmp_path / "s.sqlite"
    run_suite(suite_of("print", "sleep"), path, backend="serial", time_limit=5.0)
    run_suite(suite_of("crash", "memory"), path, backend="serial", memory_limit=600.0)
    assert errors(path) == {
        "fine": "",
        "print": "",
        "sleep": "TimeLimit: more than 5 seconds",
        "memory": "MemoryLimit: more than 600 MB",
        "crash": "WorkerError: the process died (killed by signal 9)",
    }


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_test_that_kills_its_process_is_recorded_without_limits_too(troubled, tmp_path, n_jobs):
    path = tmp_path / "s.sqlite"
    done = run_suite(suite_of("crash", "raise", "print"), path, n_jobs=n_jobs)
    assert (done.added, done.failures) == (4, 2)
    assert errors(path) == {
        "fine": "",
        "crash": "WorkerError: the process died (killed by signal 9)",
        "raise": "RuntimeError: on purpose",
        "print": "",
    }


def test_an_interrupt_keeps_what_is_done(troubled, tmp_path):
    done = run_suite(suite_of("interrupt", "print"), tmp_path / "s.sqlite", backend="serial")
    assert done.interrupted
    assert errors(tmp_path / "s.sqlite") == {"fine": ""}


def test_progress_counts_to_the_end(tmp_path):
    steps = []
    run_suite(SUITE, tmp_path / "s.sqlite", backend="serial", progress=steps.append)
    assert [step.done for step in steps] == list(range(SUITE.size + 1))
    assert steps[-1].left == {"fisher-z": 0, "rcot": 0}
    assert steps[0].left == {"fisher-z": 15, "rcot": 15}


def test_bad_options(tmp_path):
    path = tmp_path / "s.sqlite"
    with pytest.raises(ParameterError, match="Did you mean 'joblib'"):
        run_suite(SUITE, path, backend="joblip")
    with pytest.raises(ParameterError, match="n_jobs"):
        run_suite(SUITE, path, n_jobs=0)
    with pytest.raises(ParameterError, match="time_limit"):
        run_suite(SUITE, path, time_limit=0.0)
    with pytest.raises(ParameterError, match="no address"):
        run_suite(SUITE, path, address="tcp://localhost:1")
