"""Suites: what a file means, and what is said about a bad one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spectralcit.benchmark import Suite, list_suites, load_suite
from spectralcit.errors import SuiteError

GOOD = {
    "name": "s",
    "tests": ["fisher-z"],
    "datasets": [{"name": "linear-gaussian", "d_z": [1, 2], "n": [30, 40]}],
    "replicates": 3,
}


def test_a_list_is_a_grid():
    suite = Suite.define(**GOOD)
    found = {(c.dataset_params["d_z"], c.n, c.dependent) for c in suite.cells}
    assert found == {(d, n, h) for d in (1, 2) for n in (30, 40) for h in (False, True)}
    assert suite.size == 8 * 3


def test_toml_and_python_files_mean_the_same(tmp_path):
    toml, python = tmp_path / "s.toml", tmp_path / "s.py"
    toml.write_text(
        'name = "s"\nreplicates = 3\n[tests.linear]\nmethod = "fisher-z"\n'
        '[[datasets]]\nname = "linear-gaussian"\nd_z = [1, 2]\nn = [30, 40]\n'
    )
    python.write_text(
        "from spectralcit.benchmark import Suite\n"
        "suite = Suite.define(name='s', replicates=3, tests={'linear': {'method': 'fisher-z'}},\n"
        "    datasets=[{'name': 'linear-gaussian', 'd_z': [1, 2], 'n': [30, 40]}])\n"
    )
    assert load_suite(toml) == load_suite(python)
    assert load_suite(toml).cells[0].method == "fisher-z"


def test_no_cells_for_hypotheses_a_data_set_does_not_have():
    suite = Suite.define(**{**GOOD, "datasets": [{"name": "sachs", "query": [1, 3], "d_z": 2}]})
    assert {(c.dataset_params["query"], c.dependent) for c in suite.cells} == {
        (1, False),
        (1, True),
        (3, False),
    }


def test_the_suite_of_the_documentation_is_valid(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "benchmarks.md"
    (block,) = re.findall(r"^```toml\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    (tmp_path / "doc.toml").write_text(block)
    suite = load_suite(tmp_path / "doc.toml")
    assert suite.tests == ["default", "GCM, forest"]
    assert suite.size == (2 * 3 * 2 * 2 + 1) * 100


def test_a_data_set_may_choose_among_tests_and_change_replicates():
    datasets = [{"name": "sin-cos", "tests": "gcm", "replicates": 7, "hypotheses": "null"}]
    suite = Suite.define(**{**GOOD, "tests": ["fisher-z", "gcm"], "datasets": datasets})
    assert [(c.test, c.replicates, c.dependent) for c in suite.cells] == [("gcm", 7, False)]


def test_groups_usual_tests_labels_and_replicates_of_a_test():
    suite = Suite.define(
        name="s",
        tests={"fisher-z": {}, "gcm": {"replicates": 2}, "kcit": {}},
        groups={"rivals": ["gcm", "kcit"]},
        usual=["fisher-z"],
        datasets=[
            {"name": "sin-cos", "d_z": [2, 3], "label": "wave {d_z} of {n}", "hypotheses": "null"},
            {"name": "linear-gaussian", "tests": ["rivals", "gcm"], "hypotheses": "null"},
        ],
        n=50,
        replicates=7,
    )
    assert [(c.test, c.label, c.replicates) for c in suite.cells] == [
        ("fisher-z", "wave 2 of 50", 7),
        ("fisher-z", "wave 3 of 50", 7),
        ("gcm", "linear-gaussian", 2),
        ("kcit", "linear-gaussian", 7),
    ]


def test_a_test_is_stored_under_its_registered_name_however_it_is_spelt():
    (method,) = {cell.method for cell in Suite.define(**{**GOOD, "tests": ["Fisher_Z"]}).cells}
    assert method == "fisher-z"


def test_a_part_of_a_suite_and_other_seeds():
    suite = Suite.define(**{**GOOD, "tests": ["fisher-z", "gcm"], "seed": 4})
    part = suite.only(tests=["gcm"], labels=["gauss"], nulls=True, seed=9, replicates=5)
    assert (part.seed, part.tests, {c.dependent for c in part.cells}) == (9, ["gcm"], {False})
    assert part.size == 4 * 5
    assert suite.only() == suite
    with pytest.raises(SuiteError, match=r"no test 'gmc'\. Did you mean 'gcm'"):
        suite.only(tests=["gmc"])
    with pytest.raises(SuiteError, match="no cell that is asked for"):
        suite.only(labels=["sin"])


@pytest.mark.parametrize("name", list_suites())
def test_shipped_suites_are_valid(name):
    suite = load_suite(name)
    assert suite.name == name
    assert suite.description


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"replikates": 3}, "where: replikates: unknown key. Did you mean 'replicates'"),
        (
            {"tests": ["fischer-z"]},
            "where: tests.fischer-z: no test is called 'fischer-z'. Did you mean 'fisher-z'",
        ),
        (
            {"tests": {"a": {"method": "gcm", "regresor": 1}}},
            "where: tests.a.regresor: 'gcm' has no such parameter",
        ),
        ({"tests": {"a": {"method": "gcm", "random_state": 1}}}, "where: tests.a.random_state"),
        ({"tests": {"a": 3}}, "where: tests.a: must be a table"),
        ({"tests": []}, "where: tests: is missing or empty"),
        (
            {"datasets": [{"name": "sincos"}]},
            "where: datasets[0].name: no data set is called 'sincos'. Did you mean",
        ),
        (
            {"datasets": [{"name": "sin-cos", "dz": 3}]},
            "where: datasets[0]: data set 'sin-cos' has no parameter 'dz'",
        ),
        (
            {"datasets": [{"name": "sin-cos", "d_z": 0}]},
            "where: datasets[0]: d_z must be an integer from 1 to",
        ),
        ({"datasets": [{"n": 3}]}, "where: datasets[0]: must be a table with at least a 'name'"),
        ({"datasets": {"name": "sin-cos"}}, "where: datasets: must be a list"),
        ({"datasets": [{"name": "sin-cos", "tests": "gmc"}]}, "where: datasets[0].tests: 'gmc' is not among"),
        ({"datasets": [{"name": "sin-cos"}] * 2}, "where: datasets: 2 entries give the same cell"),
        ({"hypotheses": ["nul"]}, "where: datasets[0].hypotheses: unknown 'nul'. Did you mean 'null'"),
        ({"replicates": 0}, "where: datasets[0].replicates: must be an integer of at least 1, got 0"),
        ({"n": 2.5, "datasets": [{"name": "sin-cos"}]}, "where: datasets[0].n: must be an integer"),
        ({"seed": -1}, "where: seed: must be an integer of at least 0"),
        ({"name": "a/b"}, "where: name: must be text without a slash"),
        ({"imports": ["no_such_module_at_all"]}, "where: imports: cannot import 'no_such_module_at_all'"),
        ({"seed": 2**63}, "where: seed: must be an integer of at least 0 and at most 9223372036854775807"),
        ({"description": 3}, "where: description: must be text, got 3"),
        ({"tests": [["gcm"]]}, "where: tests: must be text, or a test, got ['gcm']"),
        ({"tests": {"a": {"method": ["gcm"]}}}, "where: tests.a.method: must be text, got ['gcm']"),
        ({"hypotheses": [["null"]]}, "where: datasets[0].hypotheses: must be text, got ['null']"),
        ({"hypotheses": []}, "where: datasets[0].hypotheses: is an empty list, so nothing would be run"),
        ({"n": [], "datasets": [{"name": "sin-cos"}]}, "where: datasets[0].n: is an empty list"),
        ({"datasets": [{"name": "sin-cos", "d_z": []}]}, "where: datasets[0].d_z: is an empty list"),
        ({"datasets": [{"name": ["sin-cos"]}]}, "where: datasets[0].name: must be text, got ['sin-cos']"),
        (
            {"datasets": [{"name": "nonsmooth"}], "hypotheses": "alternative"},
            "where: datasets[0]: 'nonsmooth' has none of the hypotheses that are asked for",
        ),
        ({"datasets": [{"name": "sin-cos", "b": [object()]}]}, "where: datasets[0]: parameters must be text"),
        ({"groups": {"fisher-z": ["fisher-z"]}}, "where: groups.fisher-z: is the name of a test too"),
        ({"groups": {"g": ["fisher"]}}, "where: groups.g: 'fisher' is not among the tests. Did you mean"),
        ({"groups": ["fisher-z"]}, "where: groups: must be a table of lists of tests"),
        ({"usual": ["gcm"]}, "where: datasets[0].tests: 'gcm' is not among the tests"),
        (
            {"tests": {"gcm": {"replicates": 0}}},
            "where: tests.gcm.replicates: must be an integer of at least",
        ),
        (
            {"datasets": [{"name": "sin-cos", "d_z": 3, "label": "wave {b}"}]},
            "where: datasets[0].label: 'wave {b}' cannot be filled in; it may hold {d_z}, {n}",
        ),
    ],
)
def test_errors_name_source_key_and_the_nearest_name(change, message):
    with pytest.raises(SuiteError, match=re.escape(message)):
        Suite.define(source="where", **{**GOOD, **change})


def test_bad_files(tmp_path):
    def wrong(name: str, content: str) -> str:
        path = tmp_path / name
        path.write_text(content)
        with pytest.raises(SuiteError) as caught:
            load_suite(path)
        assert str(path) in str(caught.value)
        return str(caught.value)

    assert "not valid TOML" in wrong("a.toml", "name = ")
    assert "source: unknown key" in wrong("b.toml", 'source = "x"')
    assert "must define 'suite'" in wrong("a.py", "x = 1")
    assert "ZeroDivisionError" in wrong("b.py", "1 / 0")
    with pytest.raises(SuiteError, match="No such file"):
        load_suite(tmp_path / "missing.toml")
    with pytest.raises(SuiteError, match="Did you mean 'demo'"):
        load_suite("demmo")
