"""Draws under the null: exactness of early stopping, independence of the number of workers, Ctrl-C."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from spectralcit.base import BaseCITest
from spectralcit.errors import ParameterError
from spectralcit.null import permutation_pvalue
from spectralcit.null.resampling import (
    ResamplingOptions,
    draw_generator,
    draws_option,
    draws_to_stop,
    repeat,
    resample,
    resampled_outcome,
)


def replay(values):
    """A `draw` that returns the given values in order."""
    stream = iter(values)
    return lambda rng: next(stream)


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2, 0.29, 1 / 3, 0.5, 0.7, 0.9])
def test_decision_is_that_of_all_draws_on_every_sequence(alpha):
    # Only the pattern of large and small draws matters: all of them, for every number of draws up to 9.
    for n_draws in range(1, 10):
        for pattern in itertools.product([0.0, 1.0], repeat=n_draws):
            early = resample(1.0, replay(pattern), n_draws=n_draws, seed=0, early_stop=alpha)
            full = permutation_pvalue(1.0, pattern)
            assert (early.pvalue <= alpha) == (full <= alpha)
            assert early.draws.tolist() == list(pattern[: early.n_used])
            if not early.stopped and early.n_used == n_draws and sum(pattern) < draws_to_stop(alpha, n_draws):
                assert early.pvalue == full


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.25, 0.5])
@pytest.mark.parametrize("n_draws", [5, 19, 40])
def test_pvalue_is_valid_at_every_level_exactly(alpha, n_draws):
    # The observed value has a uniform rank among the first L draws, so the number of large draws among them
    # is uniform on 0, ..., L. Walk through all the patterns with exact weights (Polya's urn).
    h = draws_to_stop(alpha, n_draws)
    mass = {0: Fraction(1)}
    law: dict[Fraction, Fraction] = {}
    for used in range(1, n_draws + 1):
        after: dict[int, Fraction] = {}
        for large, weight in mass.items():
            up = weight * Fraction(large + 1, used + 1)
            after[large + 1] = after.get(large + 1, Fraction(0)) + up
            after[large] = after.get(large, Fraction(0)) + weight - up
        if h in after:
            law[Fraction(h, used)] = law.get(Fraction(h, used), Fraction(0)) + after.pop(h)
        mass = after
    for large, weight in mass.items():
        p = Fraction(1 + large, 1 + n_draws)
        law[p] = law.get(p, Fraction(0)) + weight
    assert sum(law.values()) == 1
    for level in law:  # exact, not only valid: every attained value is attained with its own probability
        assert sum(weight for p, weight in law.items() if p <= level) == level


def test_no_smaller_number_of_large_draws_settles_the_decision():
    for n_draws in (19, 99, 100, 999, 1000):
        for alpha in (0.01, 0.05, 0.07, 0.1, 0.29):
            h = draws_to_stop(alpha, n_draws)
            assert h / n_draws > alpha
            assert h == 1 or (h - 1) / n_draws <= alpha


def test_without_early_stop_all_draws_are_made():
    found = resample(0.0, lambda rng: rng.normal(), n_draws=99, seed=3, early_stop=None)
    assert (found.n_used, found.stopped, found.draws.size) == (99, False, 99)
    assert found.pvalue == permutation_pvalue(0.0, found.draws)


def test_each_draw_has_its_own_stream():
    first = [draw_generator(5, i).random() for i in range(50)]
    assert len({*first, *(draw_generator(6, i).random() for i in range(50))}) == 100
    found = resample(9.0, lambda rng: rng.random(), n_draws=50, seed=5)
    assert found.draws.tolist() == first


@pytest.mark.parametrize("early_stop", [0.05, None])
def test_same_result_for_any_number_of_workers(early_stop):
    table = np.random.default_rng(0).normal(size=200)

    def draw(rng):
        return float(rng.permutation(table)[:20].sum())

    one, two = (
        resample(4.0, draw, n_draws=150, seed=1, early_stop=early_stop, n_jobs=jobs) for jobs in (1, 2)
    )
    assert one.pvalue == two.pvalue
    assert one.n_used == two.n_used
    assert one.draws.tolist() == two.draws.tolist()


def test_an_error_of_the_statistic_is_the_users_to_see():
    def draw(rng):
        raise ZeroDivisionError("statistic of no use")

    for jobs in (1, 2):
        with pytest.raises(ZeroDivisionError, match="of no use"):
            resample(1.0, draw, n_draws=40, seed=0, n_jobs=jobs)


@pytest.mark.parametrize("bad", [{"n_draws": 0}, {"n_draws": 2.5}, {"early_stop": 1.0}, {"n_jobs": 0}])
def test_bad_arguments(bad):
    with pytest.raises(ParameterError):
        resample(1.0, lambda rng: 0.0, **({"n_draws": 9, "seed": 0} | bad))


def test_no_bar_when_nobody_watches(capfd):
    resample(1.0, lambda rng: rng.normal(), n_draws=20, seed=0, progress=True, label="draws")
    assert capfd.readouterr() == ("", "")


def children(pid: int) -> set[int]:
    """All living descendants of a process."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found |= {child} | children(child)
    return found


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for child processes in /proc")
def test_ctrl_c_leaves_no_worker_behind():
    program = """
        import time
        from spectralcit.null.resampling import resample
        print("ready", flush=True)
        try:
            resample(1.0, lambda rng: time.sleep(0.2) or 0.0, n_draws=10**6, seed=0, n_jobs=2)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            time.sleep(60)  # the workers must be gone while the caller lives on
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        deadline = time.monotonic() + 60
        while len(workers := children(process.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.0)
        workers |= children(process.pid)
        assert len(workers) >= 2
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        time.sleep(0.5)
        # The tracker of semaphores, not a worker, ends with its owner.
        left = {pid for pid in workers | children(process.pid) if alive(pid) and not is_tracker(pid)}
        assert left == set()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def is_tracker(pid: int) -> bool:
    return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.parametrize("call", [resample, repeat])
def test_a_function_is_told_how_far_the_draws_are(call):
    seen = []
    observed = (9.0,) if call is resample else ()
    call(*observed, lambda rng: 0.0, n_draws=3, seed=0, progress=lambda *at: seen.append(at))
    assert seen == [(1, 3), (2, 3), (3, 3)]


class Example(ResamplingOptions, BaseCITest):
    """A test that inherits the options of resampling."""

    n_draws: int = draws_option(99, "Draws.")

    def _run(self, data, seed):
        found = self._resample(0.0, lambda rng: rng.normal(), n_draws=self.n_draws, seed=seed, label="draws")
        return resampled_outcome(0.0, found, data.n, "example", {})


def test_options_are_inherited_with_their_checks():
    x, y = np.arange(30.0), np.arange(30.0) ** 2
    assert set(Example().get_params()) == {
        "random_state",
        "missing",
        "n_draws",
        "early_stop",
        "n_jobs",
        "progress",
    }
    null = Example(early_stop=None, n_jobs=np.int64(1), random_state=0).test(x, y).null.parameters
    assert (null["n_draws"], len(null["draws"])) == (99, 99)
    for bad in ({"n_jobs": 0}, {"n_jobs": 10**30}, {"n_jobs": True}, {"early_stop": 0}, {"n_draws": 10**30}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            Example(**bad).test(x, y)
