"""`test` and `method` mean the same everywhere: a name, a class or an instance; giving both is one error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from spectralcit import screen
from spectralcit.benchmark import Suite
from spectralcit.cli import app
from spectralcit.discovery import QueryTester, pc
from spectralcit.discovery.arrays import ArrayTester
from spectralcit.errors import ParameterError, SuiteError
from spectralcit.methods.gcm import GCM

RNG = np.random.default_rng(0)
A, B, C = RNG.normal(size=(3, 80))
FRAME = pd.DataFrame({"a": A, "b": A + B, "c": B + C})

# Each returns p-values.
CALLS = {
    "pc": lambda **how: pc(FRAME, progress=False, **how).pvalues,
    "QueryTester": lambda **how: QueryTester(FRAME, **how).pvalue("a", "b", ["c"]),
    "ArrayTester": lambda **how: ArrayTester(**how).result(A, B, C).pvalue,
    "screen": lambda **how: screen(FRAME, y="b", z="c", **how).pvalues.tolist(),
}


@pytest.mark.parametrize("name", CALLS)
def test_any_name_and_any_form(name):
    call = CALLS[name]
    expected = call(test="gcm")
    for how in ({"method": "gcm"}, {"test": GCM}, {"method": GCM}, {"test": GCM()}, {"method": GCM()}):
        assert call(**how) == expected
    assert call(method=GCM(n_folds=3)) != expected
    with pytest.raises(ParameterError, match=r"two names: give one of them"):
        call(test="gcm", method="gcm")


def suite(tests):
    return Suite.define(name="s", tests=tests, datasets=[{"name": "sin-cos", "d_z": 2}], n=50, replicates=1)


def test_suites_take_classes_and_instances_too():
    named = suite({"gcm": {"method": "gcm", "n_folds": 3}})
    for tests in (
        {"gcm": {"test": "gcm", "n_folds": 3}},
        {"gcm": GCM(n_folds=3, random_state=9)},
        {"gcm": {"method": GCM, "n_folds": 3}},
        {"gcm": {"test": GCM(n_folds=4), "n_folds": 3}},
        [GCM(n_folds=3)],
    ):
        assert suite(tests) == named
    assert suite(["gcm"]) == suite([GCM]) == suite("gcm")
    with pytest.raises(SuiteError, match="'test' and 'method' mean the same"):
        suite({"gcm": {"test": "gcm", "method": "gcm"}})
    with pytest.raises(SuiteError, match="must be text, or a test, got 3"):
        suite([3])


def test_the_command_line_has_both_names(tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    command = ["test", str(tmp_path / "t.csv"), "--x", "a", "--y", "b", "--json"]
    first, second = (CliRunner().invoke(app, [*command, name, "gcm"]) for name in ("--method", "--test"))
    assert first.exit_code == second.exit_code == 0
    assert first.stdout.partition('"seconds"')[0] == second.stdout.partition('"seconds"')[0]


def test_a_generator_seeds_searches():
    first = QueryTester(FRAME, test="gcm", random_state=np.random.default_rng(3)).random_state
    assert first == np.random.default_rng(3).integers(2**32)
    assert pc(FRAME, "gcm", random_state=np.random.default_rng(3), progress=False).random_state == first
