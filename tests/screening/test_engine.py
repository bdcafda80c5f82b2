"""Where batches run does not matter, and a worker that dies costs nothing but time."""

import math
import os
import shutil
import signal
import sys
from pathlib import Path

import cloudpickle
import pytest

from spectralcit import BaseCITest, NullDistribution, Outcome, screen
from spectralcit import test_many as many
from spectralcit.discovery import pc
from spectralcit.errors import ParameterError
from spectralcit.parameters import anything
from spectralcit.screening import run as running
from spectralcit.workers import done


class DiesOnce(BaseCITest):
    """Kills the first worker that runs it, and never the process of the caller."""

    marker: str = anything("", "A file, made by the one who dies.", words="a path", accepts=bool)
    caller: int = anything(0, "Process that must live.", words="a number", accepts=bool)

    def _run(self, data, seed):
        if os.getpid() != self.caller and not Path(self.marker).exists():
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Outcome(statistic=0.0, pvalue=0.5, null=NullDistribution("none"))


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(running, "_BATCH_COLUMNS", (2, 2))


@pytest.fixture
def sent_by_value():
    # Workers cannot import the modules of the tests unless they happen to start in the project's folder.
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)


def test_a_killed_worker_loses_nothing(study, tmp_path, small_batches, sent_by_value):
    marker = tmp_path / "died"
    test = DiesOnce(marker=str(marker), caller=os.getpid())
    found = screen(study, x="g0:g9", y="relapse", z="age", test=test, n_jobs=2)
    assert marker.exists()
    assert sorted(row.x for row in found.rows) == [f"g{k}" for k in range(10)]
    assert found.n_computed == 10


def test_dask_gives_the_same_rows(study, small_batches):
    distributed = pytest.importorskip("distributed")
    settings = {"x": "g0:g5", "y": "relapse", "z": "age", "mode": "full"}
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", processes=True
    ) as cluster:
        found = screen(study, **settings, backend="dask", address=cluster.scheduler_address)
    assert found.rows == screen(study, **settings).rows


@pytest.mark.adapters
@pytest.mark.filterwarnings("ignore")  # of the host library
def test_ray_gives_the_same_rows(study, small_batches, monkeypatch):
    ray = pytest.importorskip("ray")
    package = str(Path(running.__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", package)
    # Ray gives way to everybody else unless told otherwise, and then starves on a busy machine.
    monkeypatch.setenv("RAY_worker_niceness", "0")
    settings = {"x": "g0:g3", "y": "relapse", "z": "age", "test": "fisher-z"}
    found = screen(study, **settings, backend="ray", n_jobs=2)
    assert not ray.is_initialized()
    assert found.rows == screen(study, **settings).rows


@pytest.mark.adapters
@pytest.mark.filterwarnings("ignore")  # of the host library
def test_spark_gives_the_same_rows_and_a_killed_worker_loses_nothing(
    study, small_batches, monkeypatch, tmp_path, sent_by_value
):
    pyspark = pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    monkeypatch.setenv("PYTHONPATH", str(Path(running.__file__).parents[2]))
    settings = {"x": "g0:g3", "y": "relapse", "z": "age", "mode": "full"}
    found = screen(study, **settings, backend="spark", n_jobs=2)
    assert pyspark.SparkContext._active_spark_context is None
    assert found.rows == screen(study, **settings).rows
    test = DiesOnce(marker=str(tmp_path / "died"), caller=os.getpid())
    rows = screen(study, **{**settings, "test": test}, backend="spark", n_jobs=2).rows
    assert (tmp_path / "died").exists()
    assert sorted(row.x for row in rows) == ["g0", "g1", "g2", "g3"]


@pytest.mark.parametrize("backend", ["joblib", pytest.param("dask", marks=pytest.mark.adapters)])
def test_many_and_pc_run_anywhere(study, backend):
    if backend == "dask":
        pytest.importorskip("distributed")
    where = {"backend": backend, "n_jobs": 2}
    table = study[["g0", "g1", "g2", "relapse"]]
    found, here = (pc(table, "fisher-z", progress=False, **each) for each in (where, {}))
    assert (found.pvalues, found.edges) == (here.pvalues, here.edges)
    problems = [(study["g0"], study[f"g{k}"]) for k in range(1, 6)]
    several, alone = (many(problems, test="gcm", random_state=1, **each) for each in (where, {}))
    assert [one.pvalue for one in several] == [one.pvalue for one in alone]


@pytest.mark.adapters
def test_what_a_test_raises_elsewhere_is_raised_here(study):
    pytest.importorskip("distributed")
    problems = [(study["g0"], study["g1"])] * 3
    with pytest.raises(ParameterError, match="no backend is called"):
        many(problems, backend="dusk")
    with pytest.raises(ValueError, match="math domain error"):
        list(done(math.log, [1, 0, 2], n_jobs=2, backend="dask"))


def test_unknown_backends_and_needless_addresses(study):
    with pytest.raises(ParameterError, match="Did you mean 'dask'"):
        screen(study, y="relapse", backend="dusk")
    with pytest.raises(ParameterError, match="has no address"):
        screen(study, y="relapse", address="tcp://somewhere:1")
